#pragma once

#include <chrono>
#include <functional>

#include "io/stream/event_loop.hpp"
#include "support/processes.hpp"

namespace sitter::testing {

/// Runs the loop until the condition holds, which is asked in each round. False if it does not hold
/// in time.
inline bool runs_until(EventLoop& loop, const std::function<bool()>& condition) {
  const auto give_up_at = std::chrono::steady_clock::now() + kPatience;
  bool holds = false;
  std::function<void()> ask = [&] {
    holds = condition();
    if (holds || std::chrono::steady_clock::now() > give_up_at) {
      loop.stop();
    } else {
      loop.post(ask);
    }
  };
  loop.io().restart();
  loop.post(ask);
  loop.run();
  return holds;
}

/// Runs everything that follows from what was done so far, on this machine and without waiting.
inline void run_what_is_due(EventLoop& loop) {
  // Each round handles what the last one has sent. No test has a longer dialogue than this.
  int rounds = 20;
  runs_until(loop, [&] { return --rounds == 0; });
}

}  // namespace sitter::testing
