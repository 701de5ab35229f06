#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "sitter/generation.hpp"

namespace sitter::sim {

/// A child or a build, together with the processes that it has started itself.
struct Unit {
  struct Process {
    std::int64_t pid = 0;
    bool is_leader = false;
    bool lives = true;
    bool holds_pipes = true;
    bool ignores_terminate = false;
    bool ignores_kill = false;
  };

  explicit Unit(Generation generation) : gen(generation) {}

  bool lives() const { return processes.front().lives; }
  bool are_pipes_held() const {
    return std::any_of(processes.begin(), processes.end(),
                       [](const Process& process) { return process.lives && process.holds_pipes; });
  }

  /// A child that has restarted itself gets another number.
  Generation gen;
  std::vector<Process> processes;
  bool is_remote_runner = false;
  bool ignores_closed_input = false;
  bool refuses_signals = false;
  /// The lines in the pipe of its stderr.
  std::deque<std::string> errors;
  bool has_output_ended = false;
  bool has_error_ended = false;
};

}  // namespace sitter::sim
