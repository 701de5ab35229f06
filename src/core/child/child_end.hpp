#pragma once

#include <string>
#include <string_view>

#include "sitter/exit_status.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// Why a child is over.
enum class EndReason {
  /// It could not be started at all; `why` names the reason of the system.
  not_executed,
  /// It ended by itself before it had answered its opening.
  ended_in_opening,
  /// It was taken down because its opening took longer than --startup-timeout.
  opening_timed_out,
  /// It was taken down because it, which needs no opening, had not said anything within
  /// --startup-timeout.
  said_nothing,
  /// It answered its opening with an error or with something unusable; `why` says what.
  opening_refused,
  /// It ended by itself with exit code 0.
  exited,
  /// It ended by itself with another exit code or by a signal of its own making.
  crashed,
  /// Somebody else ended it with a signal that asks for it.
  ended_from_outside,
  /// sitter_kill ended it.
  killed_by_sitter,
  /// It made way for a newly built one.
  replaced,
  /// It closed its stdout while it lived, and was taken down.
  closed_stdout,
  /// It closed its stdin while it lived, and was taken down.
  closed_stdin,
  /// It wrote something that made it unusable, and was taken down; `why` says what.
  wrote_rubbish,
  /// It could not be ended, so it was let go; `why` says what stood against it.
  given_up,
  /// The bridge itself ends.
  shut_down,
};

/// How and why a child ended.
struct ChildEnd {
  EndReason reason = EndReason::exited;
  ExitStatus status{};
  /// From its start to its exit.
  Milliseconds lifetime{};
  /// A few words for the reasons that need them, without a full stop; else empty. Of one that was
  /// killed or replaced: by what, if it was not a tool.
  std::string why = {};
  /// What the bridge had it do then, as a clause: "connect was called again"; else empty.
  std::string during = {};
  /// It ended by itself before it had shown that it speaks the client's revision, the stateless
  /// one.
  bool may_be_of_other_era = false;
  /// Nobody has seen it: it is ordered, and the child still there, or there was none.
  bool is_unseen = false;
  /// There was none, and so there is no lifetime.
  bool had_no_child = false;

  friend bool operator==(const ChildEnd&, const ChildEnd&) = default;
};

/// Whether an exit of it was seen. One that was never there or was let go has none.
inline bool has_exited(const ChildEnd& end) {
  return !end.is_unseen && end.reason != EndReason::not_executed &&
         end.reason != EndReason::given_up;
}

/// The reason of an end that nobody in the bridge asked for, after a finished opening: exited,
/// crashed or ended_from_outside.
EndReason unasked_end(const ExitStatus& status);

/// "exit 3" or "SIGSEGV"; what is known of SIGKILL is said: "SIGKILL, from outside or out of
/// memory".
std::string status_words(const ExitStatus& status);

/// A short name for a list of ends: "crashed", "killed by sitter_kill".
std::string_view reason_words(EndReason reason);

/// What has killed it, of one that was killed on purpose: "sitter_kill", "ctl kill".
std::string killer_words(const ChildEnd& end);

/// What the notice says behind "previous: ": "exit 0 after 45s", "⚠ crashed (exit 3) after 2.1s".
std::string previous_words(const ChildEnd& end);

/// A whole clause with the child as its subject, without a full stop:
/// "the server crashed (SIGSEGV) after 2.1s", "the server could not be started: no such file".
std::string end_clause(const ChildEnd& end);

}  // namespace sitter
