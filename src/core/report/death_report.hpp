#pragma once

#include <optional>
#include <string>

#include "core/child/child_end.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// Why a request of the client gets no answer from the child, and what to say about it.
struct DeathReport {
  /// How far the request had come when the child failed.
  enum class Reach {
    /// The child had received the request, so the request may have taken effect.
    in_flight,
    /// The child answered the request with an error, because it did not accept the request at all.
    refused,
    /// The request only waited, so it had no effect.
    not_delivered,
  };

  Reach reach = Reach::in_flight;
  /// Empty if the child lives but has stopped reading.
  std::optional<ChildEnd> end;
  /// The last words of that child, as StderrRing::tail returns them.
  std::string stderr_tail;
  /// The time limit of a child that timed out in its opening or said nothing.
  Milliseconds startup_timeout{};
  /// Empty for a tool that is not offered.
  std::string stderr_tool = "sitter_child_stderr";
  /// The tool that restarts a child that hangs.
  std::string restart_tool = "sitter_kill";
  std::string log_tool = "sitter_build_log";
  /// The next server needs no build, or is on its way.
  bool needs_no_build = false;
  /// The same end was reported before, and no start was tried since.
  bool is_repeated = false;
  /// The excerpt of the output of the build that was to bring the command, if it has failed.
  std::string build_output = {};
};

/// The text of the isError result of a tools/call: what happened, whether the call may have taken
/// effect, the last lines of stderr or the output of the build, and what to do next. It begins with
/// "[mcp-sitter] ". It is only for a child that is over.
std::string report_text(const DeathReport& report);

/// The `message` of an error for any other request: the same text on one line, without what
/// the child or the build has written.
std::string error_message(const DeathReport& report);

/// The `data` of that error as JSON text: {"reason", "delivered", "exitCode", "signal",
/// "exitWords", "lifetimeMs", "why", "stderr", "buildOutput"}. Unknown members are left out.
std::string error_data(const DeathReport& report);

}  // namespace sitter
