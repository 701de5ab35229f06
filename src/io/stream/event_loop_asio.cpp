#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/error_code.hpp>
#include <list>
#include <memory>
#include <utility>

#include "io/stream/event_loop.hpp"

namespace sitter {

using boost::asio::posix::stream_descriptor;
using boost::system::error_code;

namespace {

/// Whether a read never waits, as that of a file. No event may come for such a descriptor:
/// kqueue(2) tells of a file only as long as bytes are left, and refuses /dev/null.
bool is_always_ready(int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return true;
  if (S_ISCHR(status.st_mode)) return isatty(descriptor) == 0;
  return S_ISREG(status.st_mode) || S_ISDIR(status.st_mode) || S_ISBLK(status.st_mode);
}

}  // namespace

/// A pending wait shares this object and may outlast the reader.
struct EventLoop::Watched : std::enable_shared_from_this<Watched> {
  Watched(EventLoop& of, int watched, Reader& told)
      : loop(of),
        number(watched),
        descriptor(of.io()),
        reader(&told),
        never_waits(is_always_ready(number)) {
    // The read says what is wrong with a descriptor that is not open, which is always ready.
    error_code ignored;
    if (!never_waits) descriptor.assign(number, ignored);
  }

  void wait() {
    if (is_waiting || is_paused || reader == nullptr) return;
    is_waiting = true;
    if (never_waits) {
      boost::asio::post(loop.io(), [self = shared_from_this()] { self->on_ready(); });
      return;
    }
    descriptor.async_wait(stream_descriptor::wait_read,
                          [self = shared_from_this()](error_code) { self->on_ready(); });
  }

  void on_ready() {
    is_waiting = false;
    if (reader == nullptr) return;
    if (!is_paused) loop.call(*reader);
    wait();
  }

  bool has_pending() const {
    pollfd seen{number, POLLIN, 0};
    return reader != nullptr && !is_paused && !never_waits && poll(&seen, 1, 0) > 0;
  }

  EventLoop& loop;
  const int number;
  stream_descriptor descriptor;
  Reader* reader;  // null after `forget`
  const bool never_waits;
  bool is_waiting = false;
  bool is_paused = false;
};

struct EventLoop::System {
  std::list<std::shared_ptr<Watched>> watched;
};

// There is only one thread, so no locks are needed.
EventLoop::EventLoop()
    : system_(std::make_unique<System>()),
      context_(std::make_unique<boost::asio::io_context>(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE)) {}
EventLoop::~EventLoop() = default;

EventLoop::Watched* EventLoop::find(const Reader& reader) {
  const auto found = std::find_if(system_->watched.begin(), system_->watched.end(),
                                  [&](const auto& w) { return w->reader == &reader; });
  return found == system_->watched.end() ? nullptr : found->get();
}

void EventLoop::watch(int descriptor, Reader& reader) {
  system_->watched.push_back(std::make_shared<Watched>(*this, descriptor, reader));
  system_->watched.back()->wait();
}

void EventLoop::forget(Reader& reader) {
  Watched* const gone = find(reader);
  if (gone == nullptr) return;
  gone->reader = nullptr;
  if (!gone->never_waits) gone->descriptor.release();
  system_->watched.remove_if([&](const auto& w) { return w.get() == gone; });
}

void EventLoop::set_paused(Reader& reader, bool paused) {
  Watched* const watched = find(reader);
  if (watched == nullptr) return;
  watched->is_paused = paused;
  watched->wait();
}

bool EventLoop::knows_as_quiet(const Reader&) { return false; }

boost::asio::any_io_executor EventLoop::executor() { return io_.get_executor(); }

void EventLoop::post(std::function<void()> function) {
  boost::asio::post(io_, std::move(function));
}

void EventLoop::read_pending() {
  // A reader may be forgotten by another one.
  for (const auto& from : std::list(system_->watched)) {
    for (int reads = 0; reads < kPendingReadsMax && from->has_pending(); ++reads) {
      call(*from->reader);
    }
  }
}

void EventLoop::run() {
  // Asio stops a context that has nothing to do.
  const auto runs_until_stopped = boost::asio::make_work_guard(io_);
  io_.run();
}

void EventLoop::stop() { io_.stop(); }

}  // namespace sitter
