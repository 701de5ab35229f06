#include <sys/epoll.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <cerrno>
#include <deque>
#include <functional>
#include <iterator>
#include <list>
#include <system_error>
#include <utility>

#include "io/stream/asio_epoll.hpp"
#include "io/stream/event_loop.hpp"
#include "io/system/file_descriptor.hpp"

namespace sitter {
namespace {

bool is_pipe_or_socket(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

}  // namespace

struct EventLoop::Watched {
  Reader* reader;  // null after `forget`
  int descriptor;
  /// Whether epoll reports each arrival only once (EPOLLET). After a read that returned less than
  /// there was room for, a pipe or a socket is empty (epoll(7)). For a terminal this is not
  /// certain.
  bool is_edge;
  /// A regular file, which epoll does not accept (EPERM).
  bool never_waits = false;
  bool is_ready = false;
  /// The hang-up was reported already, so no further event will report the end.
  bool has_hung_up = false;
  bool is_paused = false;

  /// After a hang-up, a pause has no effect: the remaining bytes are bounded, and the end must be
  /// noticed.
  bool may_read() const { return reader != nullptr && is_ready && (!is_paused || has_hung_up); }
};

struct EventLoop::System {
  explicit System(boost::asio::io_context& io) : epoll(epoll_create1(EPOLL_CLOEXEC)) {
    epoll_event event{EPOLLIN, {.ptr = nullptr}};
    if (epoll_ctl(epoll.number(), EPOLL_CTL_ADD, asio_epoll(io), &event) != 0) {
      throw std::system_error(errno, std::system_category(), "epoll_ctl");
    }
  }

  /// Notes which descriptors are ready; waits for one if it may. Returns whether Asio is ready.
  bool look(bool waits) {
    std::array<epoll_event, 16> events;
    const int count =
        epoll_wait(epoll.number(), events.data(), static_cast<int>(events.size()), waits ? -1 : 0);
    has_just_looked = count >= 0 && static_cast<std::size_t>(count) < events.size();
    bool is_asio_ready = false;
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      if (auto* const from = static_cast<Watched*>(event.data.ptr)) {
        from->is_ready = true;
        if ((event.events & (EPOLLHUP | EPOLLRDHUP | EPOLLERR)) != 0) from->has_hung_up = true;
      } else {
        is_asio_ready = true;
      }
    }
    return is_asio_ready;
  }

  bool has_ready() const {
    return std::any_of(watched.begin(), watched.end(),
                       [](const Watched& w) { return w.may_read(); });
  }

  void read(EventLoop& loop, Watched& from) {
    const Reader::Seen seen = loop.call(*from.reader);
    has_just_looked = false;
    if (!from.is_edge) {
      from.is_ready = from.never_waits;
      return;
    }
    if (seen == Reader::Seen::nothing) from.has_hung_up = false;
    from.is_ready = seen == Reader::Seen::filled || from.has_hung_up;
  }

  void read_ready(EventLoop& loop) {
    for (auto from = watched.begin(); from != watched.end();) {
      if (from->may_read()) read(loop, *from);
      from = from->reader == nullptr ? watched.erase(from) : std::next(from);
    }
  }

  bool add(Watched& added) {
    epoll_event event{EPOLLIN | EPOLLRDHUP | (added.is_edge ? EPOLLET : 0U), {.ptr = &added}};
    return epoll_ctl(epoll.number(), EPOLL_CTL_ADD, added.descriptor, &event) == 0;
  }
  void remove(const Watched& gone) {
    epoll_ctl(epoll.number(), EPOLL_CTL_DEL, gone.descriptor, nullptr);
  }

  /// What the functions post is called in the next round of the loop.
  void call_posted(const boost::asio::io_context& io) {
    for (std::size_t count = posted.size(); count > 0 && !io.stopped(); --count) {
      const auto function = std::move(posted.front());
      posted.pop_front();
      function();
    }
  }

  FileDescriptor epoll;
  std::list<Watched> watched;
  std::deque<std::function<void()>> posted;
  /// What is ready is known, and nothing was called since.
  bool has_just_looked = false;
};

// There is only one thread, so no locks are needed.
EventLoop::EventLoop()
    : context_(std::make_unique<boost::asio::io_context>(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE)) {
  system_ = std::make_unique<System>(io_);
}
// A function that was never called may own a reader, which looks for itself in the loop.
EventLoop::~EventLoop() { system_->posted.clear(); }

EventLoop::Watched* EventLoop::find(const Reader& reader) {
  const auto found = std::find_if(system_->watched.begin(), system_->watched.end(),
                                  [&](const Watched& w) { return w.reader == &reader; });
  return found == system_->watched.end() ? nullptr : &*found;
}

void EventLoop::watch(int descriptor, Reader& reader) {
  Watched& added =
      system_->watched.emplace_back(Watched{&reader, descriptor, is_pipe_or_socket(descriptor)});
  if (system_->add(added)) return;
  // A regular file, or a descriptor that cannot be read. A read shows which.
  added.is_edge = false;
  added.never_waits = added.is_ready = true;
}

void EventLoop::forget(Reader& reader) {
  Watched* const gone = find(reader);
  if (gone == nullptr) return;
  system_->remove(*gone);
  gone->reader = nullptr;
  gone->is_ready = false;
}

void EventLoop::set_paused(Reader& reader, bool paused) {
  Watched* const watched = find(reader);
  if (watched == nullptr || std::exchange(watched->is_paused, paused) == paused) return;
  if (watched->is_edge || watched->never_waits) return;
  // Without EPOLLET, epoll would report the descriptor again and again during the pause.
  if (paused) {
    system_->remove(*watched);
  } else {
    system_->add(*watched);
  }
}

bool EventLoop::knows_as_quiet(const Reader& reader) {
  if (!system_->has_just_looked) return false;
  const Watched* const watched = find(reader);
  return watched != nullptr && !watched->is_ready;
}

boost::asio::any_io_executor EventLoop::executor() { return io_.get_executor(); }

// Asio would return to this loop only after the last call of a function that posts itself again.
void EventLoop::post(std::function<void()> function) {
  system_->posted.push_back(std::move(function));
}

void EventLoop::read_pending() {
  do {
    system_->look(false);
  } while (!system_->has_just_looked);
  for (Watched& from : system_->watched) {
    for (int reads = 0; from.may_read() && reads < kPendingReadsMax; ++reads) {
      system_->read(*this, from);
    }
  }
}

void EventLoop::run() {
  // Asio stops a context that has nothing to do.
  const auto runs_until_stopped = boost::asio::make_work_guard(io_);
  System& system = *system_;
  bool is_asio_ready = false;
  while (!io_.stopped()) {
    const bool waits = system.posted.empty() && !system.has_ready() && !is_asio_ready;
    if (system.look(waits)) is_asio_ready = true;
    // Asio does not wake the loop for what a posted function leaves to it.
    if (!system.posted.empty()) is_asio_ready = true;
    if (is_asio_ready) system.has_just_looked = false;
    system.call_posted(io_);
    // After one of its handlers, the next may be ready without another event.
    if (is_asio_ready) is_asio_ready = io_.poll_one() > 0;
    system.read_ready(*this);
  }
}

void EventLoop::stop() { io_.stop(); }

}  // namespace sitter
