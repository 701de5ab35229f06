#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "core/child/child_end.hpp"
#include "core/rebuild/build.hpp"
#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// How long a build may take by default, and at most. Ten minutes is also the limit of Claude Code
/// for a command that it runs itself.
inline constexpr int kBuildSecondsDefault = 600;
inline constexpr int kBuildSecondsMax = 24 * 60 * 60;

}  // namespace limits

/// What happens to the running child while its successor is made.
enum class RebuildMode {
  /// The running child serves until the new child does, and stays if the rebuild fails.
  swap,
  /// The running child is taken down before the build, in case its binary is locked or it holds a
  /// port.
  kill_first,
};

/// The arguments of sitter_rebuild.
struct RebuildArguments {
  RebuildMode mode = RebuildMode::swap;
  Milliseconds timeout = std::chrono::seconds(limits::kBuildSecondsDefault);

  friend bool operator==(const RebuildArguments&, const RebuildArguments&) = default;
};

/// What sitter_rebuild answers.
struct RebuildReport {
  enum class Server {
    restarted,   ///< the new server serves
    kept,        ///< the old server still serves
    starting,    ///< the old server is still on its way
    down,        ///< no server runs
    not_wanted,  ///< no server runs, and there is no session to start it for
    absent,      ///< the daemon cannot be reached, and is tried again
    not_ours,    ///< the old server still serves, and only whoever started it can end it
  };

  /// The cause of the rebuild, if the reader has not asked for it; otherwise empty.
  std::string cause;
  /// How long the build had already run when the reader called, if the reader joined it.
  std::optional<Milliseconds> joined_after;
  /// Empty if there was no build.
  std::optional<BuildResult> build;
  /// The excerpt of the build's output.
  std::string output;
  Server server = Server::restarted;
  /// sitter_kill has asked to start what is built already.
  bool is_restart = false;
  /// The text of the notice; empty if there is nothing to tell.
  std::string notice;
  /// How the new child ended, if it did not come to serve.
  std::optional<ChildEnd> start_failure;
  std::string stderr_tail;

  /// A person reads it, who has the commands of `mcp-sitter ctl` and no tools.
  bool is_for_person = false;
  /// Empty for a tool that is not offered. For a person, these are commands.
  std::string rebuild_tool = "sitter_rebuild";
  std::string kill_tool = "sitter_kill";
  std::string log_tool = "sitter_build_log";
  std::string stderr_tool = "sitter_child_stderr";
};

/// Whether the build or the new child has failed.
bool is_failure(const RebuildReport& report);

std::string rebuild_text(const RebuildReport& report);

/// The same report for a person.
RebuildReport for_person(RebuildReport report);

/// Says what is on its way: a build that has run for `build_age`, or, without one, a new server.
/// `cause` is what has caused the rebuild.
std::string progress_clause(std::string_view cause, std::optional<Milliseconds> build_age);

}  // namespace sitter
