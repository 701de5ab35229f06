#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "core/build/build.hpp"
#include "core/child/child_end.hpp"
#include "sitter/limits.hpp"

namespace sitter {

/// What becomes of the running child while its successor is made.
enum class RebuildMode {
  /// It serves until the new one does, and stays if that fails.
  swap,
  /// It is taken down before the build, for a binary that is locked or a port that is held.
  kill_first,
};

/// Of sitter_rebuild.
struct RebuildArguments {
  RebuildMode mode = RebuildMode::swap;
  Milliseconds timeout = std::chrono::seconds(limits::kBuildSecondsDefault);

  friend bool operator==(const RebuildArguments&, const RebuildArguments&) = default;
};

/// What sitter_rebuild answers.
struct RebuildReport {
  enum class Server {
    restarted,   ///< the new one serves
    kept,        ///< the old one serves on
    down,        ///< there is none
    not_wanted,  ///< there is none, and no session that it would be started for
  };

  /// Why it was done, if the reader has not asked for it; else empty.
  std::string cause;
  /// The reader has called when the build had run for so long.
  std::optional<Milliseconds> joined_after;
  /// Empty if there was no build.
  std::optional<BuildResult> build;
  /// As build_excerpt gives it.
  std::string output;
  Server server = Server::restarted;
  /// The text of the notice; empty if there is nothing to tell.
  std::string notice;
  /// The new child did not come to serve.
  std::optional<ChildEnd> start_failure;
  std::string stderr_tail;

  std::string rebuild_tool = "sitter_rebuild";
  std::string kill_tool = "sitter_kill";
  std::string log_tool = "sitter_build_log";
  std::string stderr_tool = "sitter_child_stderr";
};

/// Whether the new child does not serve.
bool is_failure(const RebuildReport& report);

std::string rebuild_text(const RebuildReport& report);

}  // namespace sitter
