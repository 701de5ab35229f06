#pragma once

#include <chrono>
#include <optional>

namespace sitter {

/// Deadlines are made of this clock only.
using Instant = std::chrono::steady_clock::time_point;

/// Times that a person reads are made of this clock only.
using WallTime = std::chrono::system_clock::time_point;

using Milliseconds = std::chrono::milliseconds;

/// The time of one input, read once by the shell and handed to the core with it.
struct Now {
  Instant steady;
  WallTime wall;
};

/// Makes `first` the earlier one of two deadlines, of which none may be set.
inline void earlier(std::optional<Instant>& first, const std::optional<Instant>& other) {
  if (other && (!first || *other < *first)) first = other;
}

inline bool is_due(const std::optional<Instant>& deadline, Now now) {
  return deadline && *deadline <= now.steady;
}

}  // namespace sitter
