#pragma once

#include <chrono>

#include "sitter/time.hpp"

namespace sitter {

/// Both clocks for the price of one: the system's wall clock is read once a second, and in between
/// the wall time advances with the steady clock.
class Clock {
 public:
  Now now() {
    const Instant steady = std::chrono::steady_clock::now();
    if (steady - seen_.steady >= std::chrono::seconds(1)) {
      seen_ = {steady, std::chrono::system_clock::now()};
    }
    return {steady,
            seen_.wall + std::chrono::duration_cast<WallTime::duration>(steady - seen_.steady)};
  }

 private:
  Now seen_{};
};

}  // namespace sitter
