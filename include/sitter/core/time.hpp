#pragma once

#include <chrono>

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

}  // namespace sitter
