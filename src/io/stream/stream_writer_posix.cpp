#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/system/error_code.hpp>
#include <cerrno>
#include <list>
#include <string>
#include <utility>

#include "io/stream/stream_writer.hpp"
#include "sitter/bytes.hpp"

namespace sitter {

using boost::asio::posix::stream_descriptor;
using boost::system::error_code;

namespace {

/// A piece of this size or more is large: copying a smaller piece costs less than a separate write.
constexpr std::size_t kLarge = 64 * limits::kKiB;

/// The output of one read fits into a block, and then leaves in one write.
constexpr std::size_t kBlock = 256 * limits::kKiB;

/// The queue is a chain of blocks, so that it grows without copying its content.
struct Block {
  std::string own;
  /// If it is not null, the block is the piece `held`, which this holder keeps alive, and not
  /// `own`.
  std::shared_ptr<const void> holder;
  std::string_view held{};

  std::string_view text() const { return holder ? held : std::string_view(own); }
  bool has_room(std::size_t size) const { return !holder && own.capacity() - own.size() >= size; }
};

}  // namespace

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
    if (piece.size() >= kLarge && !is_waiting) {
      flush();
      if (queued == 0) piece.remove_prefix(write(piece));
      if (is_broken) return;
    }
    if (piece.size() >= kLarge && holder) {
      blocks.push_back({{}, holder, piece});
    } else {
      if (!has_room(piece.size())) {
        has_grown = !blocks.empty() || piece.size() > kBlock;
        // A line end may follow.
        blocks.emplace_back().own.reserve(std::max(kBlock, piece.size() + 1));
      }
      blocks.back().own.append(piece);
    }
    queued += piece.size();
  }

  void append_line(std::string_view piece, const std::shared_ptr<const void>& holder) {
    if (is_broken || piece.size() >= kLarge || !has_room(piece.size() + 1)) {
      append(piece, holder);
      append("\n", {});
      return;
    }
    blocks.back().own.append(piece).push_back('\n');
    queued += piece.size() + 1;
  }

  bool has_room(std::size_t size) const { return !blocks.empty() && blocks.back().has_room(size); }

  /// Writes as much of the queue as is taken without waiting.
  void write_queue() {
    while (queued > 0) {
      const std::string_view first = blocks.front().text().substr(written);
      const std::size_t count = write(first);
      if (is_broken) return;
      written += count;
      queued -= count;
      if (count < first.size()) return;
      written = 0;
      if (blocks.size() > 1) blocks.pop_front();
    }
    if (blocks.empty()) return;
    // One block is kept, since another line usually follows. The last block of a long chain is not
    // kept, because its place in memory may keep the C library from returning the memory of the
    // others.
    blocks.front().own.clear();
    if (blocks.front().holder || std::exchange(has_grown, false)) blocks.clear();
  }

  void flush() {
    if (is_waiting) return;
    write_queue();
    if (queued > 0) wait();
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
    drop_queue();
    loop.post([self = shared_from_this()] {
      if (!self->is_over) self->events.on_broken();
    });
  }

  void drop_queue() {
    blocks.clear();
    written = 0;
    queued = 0;
  }

  EventLoop& loop;
  stream_descriptor descriptor;
  Events events;
  std::list<Block> blocks;
  std::size_t written = 0;  // bytes of the first block
  std::size_t queued = 0;
  bool has_grown = false;  // beyond its first block
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
  if (state_->queued > 0) state_->flush();
}
std::size_t StreamWriter::queued() const { return state_->queued; }
void StreamWriter::watch() { state_->watch(); }

void StreamWriter::close() {
  if (!state_->descriptor.is_open()) return;
  state_->write_queue();
  state_->drop_queue();
  error_code ignored;  // the descriptor is closed in any case
  state_->descriptor.close(ignored);
}

}  // namespace sitter
