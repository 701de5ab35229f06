#pragma once

#include <chrono>

#include "io/stream/event_loop.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// Both clocks for the price of one: the system's wall clock is read once a second, and in between
/// the wall time advances with the steady clock.
class Clock {
 public:
  explicit Clock(const EventLoop& loop) : loop_(loop) {}

  Now now() {
    const Instant steady = loop_.now();
    if (steady - seen_.steady >= std::chrono::seconds(1)) {
      seen_ = {steady, std::chrono::system_clock::now()};
    }
    return {steady,
            seen_.wall + std::chrono::duration_cast<WallTime::duration>(steady - seen_.steady)};
  }

 private:
  const EventLoop& loop_;
  Now seen_{};
};

}  // namespace sitter
