#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/error_code.hpp>
#include <cerrno>
#include <string>
#include <utility>

#include "sitter/core/limits.hpp"
#include "sitter/io/stream_writer.hpp"

namespace sitter {

using boost::asio::posix::stream_descriptor;
using boost::system::error_code;

namespace {

/// Copying a smaller piece costs less than a write of its own.
constexpr std::size_t kWrittenDirectly = 64 * limits::kKiB;

/// A larger queue is given back when it is empty.
constexpr std::size_t kQueueKept = limits::kMiB;

}  // namespace

/// Shared with the wait that is under way, which may outlast the writer.
struct StreamWriter::State : std::enable_shared_from_this<State> {
  State(boost::asio::io_context& io, FileDescriptor target, Events told)
      : descriptor(io, target.release()), events(std::move(told)) {}

  std::size_t queued() const { return queue.size() - written; }

  /// How much of the piece was taken.
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

  void append(std::string_view piece) {
    if (is_broken || !descriptor.is_open()) return;
    if (piece.size() >= kWrittenDirectly && !is_waiting) {
      flush();
      if (queued() == 0) piece.remove_prefix(write(piece));
      if (is_broken) return;
    }
    if (queue.capacity() < queue.size() + piece.size()) compact(piece.size());
    queue.append(piece);
  }

  /// Makes room by dropping what was written, before the queue grows.
  void compact(std::size_t wanted) {
    if (written > 0) {
      queue.erase(0, written);
      written = 0;
    }
    queue.reserve(queue.size() + wanted);
  }

  void flush() {
    if (is_waiting) return;
    written += write(std::string_view(queue).substr(written));
    if (queued() > 0 && !is_broken) {
      wait();
      return;
    }
    written = 0;
    queue.clear();
    if (queue.capacity() > kQueueKept) queue.shrink_to_fit();
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
    // A reader that goes away shows as an error condition. Files and some systems have no such
    // thing; there the next write tells.
    descriptor.async_wait(stream_descriptor::wait_error,
                          [self = shared_from_this()](error_code error) {
                            if (!error && !self->is_over) self->become_broken();
                          });
  }

  void become_broken() {
    if (std::exchange(is_broken, true)) return;
    queue = {};
    written = 0;
    boost::asio::post(descriptor.get_executor(), [self = shared_from_this()] {
      if (!self->is_over) self->events.on_broken();
    });
  }

  stream_descriptor descriptor;
  Events events;
  std::string queue;
  std::size_t written = 0;  // of the queue
  bool is_waiting = false;
  bool is_broken = false;
  bool is_over = false;
};

StreamWriter::StreamWriter(boost::asio::io_context& io, FileDescriptor target, Events events)
    : state_(std::make_shared<State>(io, std::move(target), std::move(events))) {}

StreamWriter::~StreamWriter() {
  state_->is_over = true;
  close();
}

void StreamWriter::append(std::string_view piece) { state_->append(piece); }
void StreamWriter::flush() { state_->flush(); }
std::size_t StreamWriter::queued() const { return state_->queued(); }
void StreamWriter::watch() { state_->watch(); }

void StreamWriter::close() {
  if (!state_->descriptor.is_open()) return;
  state_->write(std::string_view(state_->queue).substr(state_->written));
  state_->queue = {};
  state_->written = 0;
  error_code ignored;  // the descriptor is gone in any case
  state_->descriptor.close(ignored);
}

}  // namespace sitter
