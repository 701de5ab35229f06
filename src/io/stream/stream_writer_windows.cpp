#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "io/stream/stream_writer.hpp"
#include "io/stream/transfer_windows.hpp"
#include "io/stream/write_queue.hpp"

namespace sitter {

/// A write that is under way shares this object, which may outlast the writer, and with it the
/// bytes of the queue.
struct StreamWriter::State : std::enable_shared_from_this<State> {
  State(EventLoop& of, FileDescriptor target, Events told)
      : loop(of),
        transfer(std::make_unique<Transfer>(of, windows::take_handle(std::move(target)))),
        events(std::move(told)) {}

  bool is_open() const { return transfer && !is_closing; }

  void append(std::string_view piece, const std::shared_ptr<const void>& holder) {
    if (is_open()) queue.append(piece, holder);
  }

  void append_line(std::string_view piece, const std::shared_ptr<const void>& holder) {
    if (!is_open() || queue.append_line(piece)) return;
    append(piece, holder);
    append("\n", {});
  }

  void flush() {
    if (!transfer) return;
    if (is_writing) take(transfer->written());
    while (!is_writing) {
      while (queue.size() > 0 && queue.front().empty()) queue.take(0);
      if (queue.size() == 0) return;
      is_writing = true;
      const std::string_view next = queue.front();
      const bool is_last = next.size() == queue.size() && !is_closing;
      take(transfer->write(next, is_last,
                           [self = shared_from_this()](bool is_open, std::size_t count) {
                             self->is_writing = false;
                             self->on_written(is_open, count);
                           }));
    }
  }

  /// So much was written, if the write is over.
  void take(std::optional<std::size_t> count) {
    if (!count) return;
    is_writing = false;
    queue.take(*count);
  }

  void on_written(bool is_open, std::size_t count) {
    if (!transfer) return;
    queue.take(count);
    if (is_open) {
      flush();
      if (!is_closing) return events.on_moved();
      if (queue.size() == 0) transfer.reset();
      return;
    }
    // Whatever the error was, nothing more will be taken.
    become_broken();
  }

  void watch() {
    transfer->watch([self = shared_from_this()] { self->become_broken(); });
  }

  void become_broken() {
    transfer.reset();
    queue.clear();
    if (!is_closing) events.on_broken();
  }

  /// What waits is still written: no write without waiting could be tried once more.
  void close() {
    is_closing = true;
    flush();
    if (queue.size() == 0) transfer.reset();
  }

  EventLoop& loop;
  std::unique_ptr<Transfer> transfer;  // null when nothing is written any more
  Events events;
  WriteQueue queue;
  bool is_writing = false;
  bool is_closing = false;
};

StreamWriter::StreamWriter(EventLoop& loop, FileDescriptor target, Events events)
    : state_(std::make_shared<State>(loop, std::move(target), std::move(events))) {}

StreamWriter::~StreamWriter() {
  state_->is_closing = true;
  state_->transfer.reset();
}

void StreamWriter::append(std::string_view piece, const std::shared_ptr<const void>& holder) {
  state_->append(piece, holder);
}

void StreamWriter::append_line(std::string_view piece, const std::shared_ptr<const void>& holder) {
  state_->append_line(piece, holder);
}

void StreamWriter::flush() { state_->flush(); }
std::size_t StreamWriter::queued() const { return state_->is_open() ? state_->queue.size() : 0; }

void StreamWriter::watch() { state_->watch(); }

void StreamWriter::close() {
  if (state_->is_open()) state_->close();
}

}  // namespace sitter
