#include "io/stream/timer.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <utility>

namespace sitter {

/// A wait that has ended already shares this object, and may outlast the timer.
struct Timer::State {
  State(EventLoop& of, std::function<void()> told)
      : loop(of), on_due(std::move(told)), timer(of.executor()) {}

  EventLoop& loop;
  std::function<void()> on_due;
  boost::asio::steady_timer timer;
  /// Counts the times that were set. A wait for another than the last one has no effect.
  std::uint64_t set_count = 0;
};

Timer::Timer(EventLoop& loop, std::function<void()> on_due)
    : state_(std::make_shared<State>(loop, std::move(on_due))) {}

Timer::~Timer() { cancel(); }

void Timer::set(Instant when) {
  const std::uint64_t number = ++state_->set_count;
  state_->timer.expires_at(when);
  state_->timer.async_wait([state = state_, number](boost::system::error_code) {
    if (state->set_count != number) return;
    state->loop.call_due([&] {
      if (state->set_count == number) state->on_due();
    });
  });
}

void Timer::cancel() {
  ++state_->set_count;
  state_->timer.cancel();
}

}  // namespace sitter
