#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <memory>
#include <utility>

#include "io/stream/event_loop.hpp"

namespace sitter {

// Here a read is begun, and its end is an event of the context. So no reader is watched, and
// `watch` and its companions are not defined.

struct EventLoop::System {};

// There is only one thread that runs it, but others post to it.
EventLoop::EventLoop()
    : system_(std::make_unique<System>()), context_(std::make_unique<boost::asio::io_context>(1)) {}
EventLoop::~EventLoop() = default;

void EventLoop::post(std::function<void()> function) {
  boost::asio::post(io_, std::move(function));
}

void EventLoop::read_pending() {
  for (int reads = 0; reads < kPendingReadsMax && io_.poll_one() > 0; ++reads) {
  }
}

void EventLoop::run() {
  // Asio stops a context that has nothing to do.
  const auto runs_until_stopped = boost::asio::make_work_guard(io_);
  io_.run();
}

void EventLoop::stop() { io_.stop(); }

}  // namespace sitter
