#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/rebuild/rebuild.hpp"
#include "sitter/generation.hpp"
#include "sitter/request_handle.hpp"
#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// How long a request waits for a build. Most clients give up after 60 s, and then the model never
/// learns the reason.
inline constexpr Milliseconds kBuildPatience{45000};

/// How long a call of the client waits for a rebuild. Claude Code 2.1.212 and later move a call to
/// the background after 120 s and drop its progress. The result may still wait for the client to
/// list the tools.
inline constexpr Milliseconds kRebuildCallPatience{100'000};

}  // namespace limits

/// A reload that is wanted: why, and how.
struct Reload {
  /// The cause in a few words: "SIGHUP", "src/a.c changed".
  std::string cause;
  RebuildArguments how = {};
};

/// A request that waits for the result of a rebuild.
struct RebuildCaller {
  RequestHandle request{};
  /// Whether the request is a call of the client. Otherwise it came over the socket of `mcp-sitter
  /// ctl`.
  bool is_client = true;
  /// How long the request waits for a build.
  Milliseconds timeout{};
  /// The mode that the request has asked for.
  RebuildMode mode = RebuildMode::swap;
  /// When a call of the client is answered although the rebuild goes on.
  std::optional<Instant> answer_by = {};
  /// Until when the request waits, while a build runs for it.
  std::optional<Instant> deadline = {};
  /// How long the build had already run when the request joined it.
  std::optional<Milliseconds> joined_after = {};
  /// What a call of sitter_kill also answers: the report of the kill.
  std::string kill_report = {};
};

/// Removes the callers for which this holds, and returns them.
template <class Condition>
std::vector<RebuildCaller> take_if(std::vector<RebuildCaller>& callers, Condition is_meant) {
  const auto meant = std::stable_partition(callers.begin(), callers.end(), std::not_fn(is_meant));
  std::vector<RebuildCaller> taken(meant, callers.end());
  callers.erase(meant, callers.end());
  return taken;
}

/// A rebuild on its way: first the build, if there is a build command, and then a new child. Calls
/// of sitter_rebuild that come meanwhile join it.
struct PendingRebuild {
  /// What must happen before the rebuild goes on, and the function of Rebuilder to call then.
  enum class State {
    quiet,        ///< kill-first: the end of the child's open requests, `on_quiet`
    no_children,  ///< kill-first: the end of all children, `on_no_children`
    build,        ///< the end of the build, `on_build_over`
    cancelled,    ///< the end of a build that nobody wanted any more, `on_build_over`. A call that
                  ///< comes now begins the rebuild anew
    room,         ///< no child is left except a child that serves, `on_started`
    new_child,    ///< the new child serves, `on_served`
    look,         ///< the look at the file of the new child for the notice, `take`
  };

  /// A rebuild that was asked for after this rebuild had begun, and therefore can't be part of it.
  struct Next {
    Reload wanted;
    bool is_unattended = false;
    std::vector<RebuildCaller> callers;
  };

  explicit PendingRebuild(Instant start) : begun(start) {}

  /// When this rebuild began. If it follows another rebuild directly: when the first rebuild of the
  /// row began.
  Instant begun;
  State state = State::build;
  /// False for a restart, which starts what is built already.
  bool builds = true;
  RebuildMode mode = RebuildMode::swap;
  std::vector<RebuildCaller> callers;
  /// SIGHUP or a save has asked for the rebuild, or a call that was answered before its end. Nobody
  /// waits for it, and the client is told in its next result.
  bool is_unattended = false;
  /// Requests of the client have asked for the rebuild, because the command of the server is
  /// missing.
  bool is_for_requests = false;
  /// How long a rebuild without a caller waits for the build, and until when.
  Milliseconds timeout{};
  std::optional<Instant> unattended_until;
  /// What first caused the rebuild, if it was not the client.
  std::string cause;
  std::optional<Next> next;
  /// The end of the state `quiet`.
  std::optional<Instant> quiet_until;
  /// The debugger that is attached to a child which would have to end, so that the rebuild waits;
  /// empty if it waits for none.
  std::string held_by;
  /// It was told that a debugger holds the rebuild.
  bool is_hold_told = false;
  /// The generation of the new child, once its start is ordered.
  Generation gen = kNoGeneration;

  bool is_wanted_without_caller() const { return is_unattended || is_for_requests; }
  bool is_wanted() const { return is_wanted_without_caller() || !callers.empty(); }
  /// The first call of the client that waits for this rebuild.
  std::optional<RequestHandle> clients_call() const;
  /// Until when the build is waited for, by the caller that leaves first or without a caller.
  std::optional<Instant> build_deadline() const;
  void clear_deadlines();
  void join(const Next& other);
  /// The request waits no more, neither for this rebuild nor for the next. A rebuild that has still
  /// to begin gets the mode of the oldest call that is left. Returns true if that request was the
  /// last that wanted this rebuild.
  bool leave(RequestHandle request);
  /// When the first call of the client has waited for long enough.
  std::optional<Instant> answer_due() const;
  /// Removes the calls that have waited for long enough, and returns them. What they have asked for
  /// stays wanted without a caller.
  std::vector<RebuildCaller> leave_late(Now now);
  /// Asks for another rebuild after this one. A mode that a call of the client has chosen stays.
  Next& follow_with(const Reload& wanted);
  /// Removes everything but the calls of the client, from this rebuild and from the next. Returns
  /// the callers that were removed.
  std::vector<RebuildCaller> leave_to_client();
  /// Does the same for the next rebuild only, because the callers of this rebuild may have been
  /// answered.
  std::vector<RebuildCaller> leave_next_to_client();
};

}  // namespace sitter
