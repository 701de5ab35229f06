#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "sitter/time.hpp"

namespace sitter::sim {

/// What a seed has chosen for a command-line tool.
struct CliScene {
  /// A file describes the tool; otherwise it does so itself.
  bool has_file = false;
  std::size_t calls_max = 8;
  Milliseconds call_timeout{55000};
  /// The chance, in percent, that a run does not just do its work.
  int faults = 0;
};

/// The arguments of calls: `n` is the mark of the call, and `x` must not be larger than this.
inline constexpr int kXMax = 89;

/// What a tool has said about itself.
struct CliDescribed {
  /// 0 if it cannot be used.
  int version = 0;
  /// How long the calls of each tool may take.
  std::map<std::string, Milliseconds> tools = {};
};

}  // namespace sitter::sim
