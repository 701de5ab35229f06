#include <unistd.h>

#include <algorithm>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/error_code.hpp>
#include <cerrno>
#include <list>
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

/// The queue is a chain of blocks, so that it grows without a copy of what it holds. A block takes
/// what comes of one read, which then goes out in one write.
constexpr std::size_t kBlock = 256 * limits::kKiB;

}  // namespace

/// Shared with the wait that is under way, which may outlast the writer.
struct StreamWriter::State : std::enable_shared_from_this<State> {
  State(boost::asio::io_context& io, FileDescriptor target, Events told)
      : descriptor(io, target.release()), events(std::move(told)) {}

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
      if (queued == 0) piece.remove_prefix(write(piece));
      if (is_broken) return;
    }
    if (blocks.empty() || blocks.back().capacity() - blocks.back().size() < piece.size()) {
      has_grown = !blocks.empty() || piece.size() > kBlock;
      blocks.emplace_back().reserve(std::max(kBlock, piece.size()));
    }
    blocks.back().append(piece);
    queued += piece.size();
  }

  /// Writes what is taken without waiting.
  void write_queue() {
    while (queued > 0) {
      const std::string_view first = std::string_view(blocks.front()).substr(written);
      const std::size_t count = write(first);
      if (is_broken) return;
      written += count;
      queued -= count;
      if (count < first.size()) return;
      written = 0;
      if (blocks.size() > 1) blocks.pop_front();
    }
    if (blocks.empty()) return;
    // One is kept, since there is always a next line; but not the last one of a long chain, which
    // would stand in the way of giving the rest back.
    blocks.front().clear();
    if (std::exchange(has_grown, false)) blocks.clear();
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
    // A reader that goes away shows as an error condition. Files and some systems have no such
    // thing; there the next write tells.
    descriptor.async_wait(stream_descriptor::wait_error,
                          [self = shared_from_this()](error_code error) {
                            if (!error && !self->is_over) self->become_broken();
                          });
  }

  void become_broken() {
    if (std::exchange(is_broken, true)) return;
    drop_queue();
    boost::asio::post(descriptor.get_executor(), [self = shared_from_this()] {
      if (!self->is_over) self->events.on_broken();
    });
  }

  void drop_queue() {
    blocks.clear();
    written = 0;
    queued = 0;
  }

  stream_descriptor descriptor;
  Events events;
  std::list<std::string> blocks;
  std::size_t written = 0;  // of the first block
  std::size_t queued = 0;
  bool has_grown = false;  // beyond its first block
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
std::size_t StreamWriter::queued() const { return state_->queued; }
void StreamWriter::watch() { state_->watch(); }

void StreamWriter::close() {
  if (!state_->descriptor.is_open()) return;
  state_->write_queue();
  state_->drop_queue();
  error_code ignored;  // the descriptor is gone in any case
  state_->descriptor.close(ignored);
}

}  // namespace sitter
