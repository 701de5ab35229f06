#pragma once

#include <chrono>
#include <optional>

namespace sitter {

/// All deadlines use this clock.
using Instant = std::chrono::steady_clock::time_point;

/// All times that a person reads use this clock.
using WallTime = std::chrono::system_clock::time_point;

using Milliseconds = std::chrono::milliseconds;

/// The time of one fact. The shell reads it once and passes it to the core with the fact.
struct Now {
  Instant steady;
  WallTime wall;
};

/// Sets `first` to the earlier of two deadlines. Either of them, or both, may be unset.
inline void earlier(std::optional<Instant>& first, const std::optional<Instant>& other) {
  if (other && (!first || *other < *first)) first = other;
}

inline bool is_due(const std::optional<Instant>& deadline, Now now) {
  return deadline && *deadline <= now.steady;
}

}  // namespace sitter
