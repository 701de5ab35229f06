#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sitter {

/// What sitter_kill did.
struct KillReport {
  struct Killed {
    std::int64_t pid = 0;
    /// "child", "descendant" or "same-path".
    std::string relation;
    std::string command;
    /// What made the process end: "stdin closed", or one of `EndWords`.
    std::string how;
  };
  /// A process of the server's file that the scope did not reach.
  struct LeftAlone {
    std::int64_t pid = 0;
    std::string command;
    std::string reason;
  };

  std::vector<Killed> killed;
  std::vector<LeftAlone> left_alone = {};
  std::optional<std::string> path;
  /// What else the caller should know, in one sentence; empty if there is nothing.
  std::string note;
};

}  // namespace sitter
