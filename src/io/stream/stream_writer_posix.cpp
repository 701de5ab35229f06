#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/system/error_code.hpp>
#include <cerrno>
#include <utility>

#include "io/stream/stream_writer.hpp"
#include "io/stream/write_queue.hpp"

namespace sitter {

using boost::asio::posix::stream_descriptor;
using boost::system::error_code;

/// A pending wait shares this object and may outlast the writer.
struct StreamWriter::State : std::enable_shared_from_this<State> {
  State(EventLoop& of, FileDescriptor target, Events told)
      : loop(of), descriptor(of.io(), target.release()), events(std::move(told)) {}

  /// Returns how much of the piece was taken.
  std::size_t write(std::string_view piece) {
    std::size_t taken = 0;
    while (taken < piece.size() && descriptor.is_open() && !is_broken) {
      const ssize_t count =
          ::write(descriptor.native_handle(), piece.data() + taken, piece.size() - taken);
      if (count >= 0) {
        taken += static_cast<std::size_t>(count);
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        break;
      } else if (errno != EINTR) {
        become_broken();
      }
    }
    return taken;
  }

  void append(std::string_view piece, const std::shared_ptr<const void>& holder) {
    if (is_broken || !descriptor.is_open()) return;
    if (piece.size() >= WriteQueue::kLarge && !is_waiting) {
      flush();
      if (queue.size() == 0) piece.remove_prefix(write(piece));
      if (is_broken) return;
    }
    queue.append(piece, holder);
  }

  void append_line(std::string_view piece, const std::shared_ptr<const void>& holder) {
    if (is_broken || !queue.append_line(piece)) {
      append(piece, holder);
      append("\n", {});
    }
  }

  /// Writes as much of the queue as is taken without waiting.
  void write_queue() {
    while (queue.size() > 0) {
      const std::size_t size = queue.front().size();
      const std::size_t count = write(queue.front());
      if (is_broken) return;
      queue.take(count);
      if (count < size) return;
    }
  }

  void flush() {
    if (is_waiting) return;
    write_queue();
    if (queue.size() > 0) wait();
  }

  void wait() {
    if (!descriptor.is_open()) return;
    is_waiting = true;
    descriptor.async_wait(stream_descriptor::wait_write,
                          [self = shared_from_this()](error_code error) {
                            self->is_waiting = false;
                            if (error || self->is_over) return;
                            self->flush();
                            if (!self->is_broken) self->events.on_moved();
                          });
  }

  void watch() {
    // A reader that goes away is visible as an error condition. Files and some systems have no such
    // condition; there the next write shows that the reader is gone.
    descriptor.async_wait(stream_descriptor::wait_error,
                          [self = shared_from_this()](error_code error) {
                            if (!error && !self->is_over) self->become_broken();
                          });
  }

  void become_broken() {
    if (std::exchange(is_broken, true)) return;
    queue.clear();
    loop.post([self = shared_from_this()] {
      if (!self->is_over) self->events.on_broken();
    });
  }

  EventLoop& loop;
  stream_descriptor descriptor;
  Events events;
  WriteQueue queue;
  bool is_waiting = false;
  bool is_broken = false;
  bool is_over = false;
};

StreamWriter::StreamWriter(EventLoop& loop, FileDescriptor target, Events events)
    : state_(std::make_shared<State>(loop, std::move(target), std::move(events))) {}

StreamWriter::~StreamWriter() {
  state_->is_over = true;
  close();
}

void StreamWriter::append(std::string_view piece, const std::shared_ptr<const void>& holder) {
  state_->append(piece, holder);
}

void StreamWriter::append_line(std::string_view piece, const std::shared_ptr<const void>& holder) {
  state_->append_line(piece, holder);
}

void StreamWriter::flush() {
  if (state_->queue.size() > 0) state_->flush();
}
std::size_t StreamWriter::queued() const { return state_->queue.size(); }
void StreamWriter::watch() { state_->watch(); }

void StreamWriter::close() {
  if (!state_->descriptor.is_open()) return;
  state_->write_queue();
  state_->queue.clear();
  error_code ignored;  // the descriptor is closed in any case
  state_->descriptor.close(ignored);
}

}  // namespace sitter
