#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sitter/exit_status.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// Why a child is over.
enum class EndReason {
  /// The child could not be started at all; `why` names the reason that the system gave.
  not_executed,
  /// The child ended by itself before it had answered its opening.
  ended_in_opening,
  /// The child was taken down because its opening took longer than --startup-timeout.
  opening_timed_out,
  /// The child needs no opening. It was taken down because it said nothing within
  /// --startup-timeout.
  said_nothing,
  /// The child answered its opening with an error or with something unusable; `why` says what.
  opening_refused,
  /// The child ended by itself with exit code 0.
  exited,
  /// The child ended by itself with another exit code, or by a signal such as SIGSEGV.
  crashed,
  /// Somebody else sent the child a signal that asks it to end, such as SIGTERM.
  ended_from_outside,
  /// The server was started anew behind the process of the child, on the same pipes, and the next
  /// generation is this new server. Its exit was not seen.
  restarted_itself,
  /// sitter_kill ended the child.
  killed_by_sitter,
  /// The child made way for its successor.
  replaced,
  /// The child closed its stdout while it lived, and was taken down.
  closed_stdout,
  /// The child closed its stdin while it lived, and was taken down.
  closed_stdin,
  /// The child is a daemon whose process is not ours, and it cannot be reached any more; `why` says
  /// how that was seen. Also before the first connection.
  connection_lost,
  /// The child is such a daemon, and it has forgotten the session.
  session_lost,
  /// The child wrote something that made it unusable, and was taken down; `why` says what.
  wrote_rubbish,
  /// The child could not be ended, so the bridge let it go; `why` names the obstacle.
  given_up,
  /// The bridge itself ends.
  shut_down,
};

/// How and why a child ended.
struct ChildEnd {
  EndReason reason = EndReason::exited;
  ExitStatus status{};
  /// The time from its start to its exit.
  Milliseconds lifetime{};
  /// A few words for the reasons that need them, without a full stop; otherwise empty. For a child
  /// that was killed: the name of the tool, or "ctl kill". For a child that was replaced: the
  /// cause, if it was not a tool.
  std::string why = {};
  /// What the bridge made the child do when it ended, as a clause: "connect was called again";
  /// otherwise empty.
  std::string during = {};
  /// What is likely to be behind a failed start, as a clause; otherwise empty.
  std::string hint = {};
  /// The child ended by itself before it had shown that it speaks the client's revision, which is
  /// the stateless revision.
  bool may_be_of_other_era = false;
  /// The child could not be started because no file has the name of the command.
  bool is_command_missing = false;
  /// The build that was to bring the command has ended without it, and `why` says how.
  bool is_unbuilt = false;
  /// Nobody has seen the end: it was ordered and the child is still there, or there was no child.
  bool is_unseen = false;
  /// There was no process, so there is no lifetime.
  bool had_no_child = false;
  /// Only the session with the child has ended. The child is a daemon whose process is not ours, or
  /// lives on.
  bool is_foreign = false;
  /// The child was a description of a command-line tool, which has a process for each call only.
  bool has_no_process = false;

  friend bool operator==(const ChildEnd&, const ChildEnd&) = default;
};

/// Whether the exit of the child was seen. A child that never ran or was let go has no exit.
inline bool has_exited(const ChildEnd& end) {
  return !end.is_unseen && !end.is_foreign && !end.has_no_process &&
         end.reason != EndReason::not_executed && end.reason != EndReason::given_up;
}

/// The reason of an end that the bridge did not ask for, after a finished opening: exited, crashed
/// or ended_from_outside.
EndReason unasked_end(const ExitStatus& status);

/// "exit 3", "SIGSEGV" or "exit 0xC0000005, access violation". For SIGKILL the text says what is
/// known: "SIGKILL, from outside or out of memory".
std::string status_words(const ExitStatus& status);

/// The exit code in a text: "3", "0xC0000005".
std::string exit_code_text(const ExitStatus& status);

/// The exit code in JSON: a number of Windows has no sign.
std::int64_t exit_code_of(const ExitStatus& status);

/// What a number of Windows means, in a few words. Empty for other exit codes, and for a number
/// that few developers know.
std::string_view system_code_words(const ExitStatus& status);

/// Whether the end means that something went wrong.
bool is_failure(EndReason reason);

/// A short name for a list of ends: "crashed", "killed by sitter_kill".
std::string reason_words(const ChildEnd& end);

/// What the notice says after "previous: ": "exit 0 after 45s", "⚠ crashed (exit 3) after 2.1s".
std::string previous_words(const ChildEnd& end);

/// A whole clause with the child as its subject, without a full stop:
/// "the server crashed (SIGSEGV) after 2.1s", "the server could not be started: no such file".
std::string end_clause(const ChildEnd& end);

/// What lastKillReason says: "sitter_kill", "exited by itself (exit 0)", "crashed (exit 3)".
std::string kill_reason_words(const ChildEnd& end);

}  // namespace sitter
