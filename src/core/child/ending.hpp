#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "core/child/child_lifecycle.hpp"
#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// docker, podman, kubectl and ssh must first end something on another machine or in a daemon.
inline constexpr Milliseconds kRemoteTermGrace{5000};

/// Clients send SIGTERM 2 s after they have closed our stdin, so at the end of the session a longer
/// --kill-grace is cut to this length: two such steps end a stubborn child in time.
inline constexpr Milliseconds kShutdownRungMax{500};

/// After a signal there is little time: Claude Code kills 0.5 s after its first signal.
inline constexpr Milliseconds kSignalKillAfter{200};
inline constexpr Milliseconds kSignalExitAfter{280};

/// How long the bridge waits for owed answers after the client has closed our stdin: `printf ... |
/// mcp-sitter` should print them all. Official clients send SIGTERM long before.
inline constexpr Milliseconds kOwedWait{10000};

}  // namespace limits

/// How far the end of the session has come: answers may still be owed, then all children and builds
/// are taken down. Keeps the exit code, and the time after which the bridge waits for nothing more.
///
///     none --> owed --> stopping --> over
///       \---------------^
class Ending {
 public:
  enum class State {
    none,
    owed,      ///< the client has closed our stdin; what is owed is waited for
    stopping,  ///< the children are taken down
    over,
  };

  State state() const { return state_; }
  bool is_none() const { return state_ == State::none; }
  bool is_stopping() const { return state_ == State::stopping; }
  bool is_over() const { return state_ == State::over; }
  /// Nothing is started any more.
  bool has_stopped() const { return is_stopping() || is_over(); }

  /// The client has closed our stdin. False if the end had begun before.
  bool on_input_closed(Now now) {
    if (!is_none()) return false;
    state_ = State::owed;
    deadline_ = now.steady + limits::kOwedWait;
    return true;
  }
  /// The children are taken down, which takes as long as their ladders.
  void stop() {
    state_ = State::stopping;
    deadline_.reset();
  }
  /// A signal came, or nobody reads our output. False if this was so before.
  bool hurry(int exit_code) {
    if (std::exchange(is_hurried_, true)) return false;
    exit_code_ = exit_code;
    return true;
  }
  /// From then on the children are not waited for.
  void abandon_at(Instant instant) { deadline_ = instant; }
  void end() { state_ = State::over; }

  std::optional<Instant> deadline() const { return deadline_; }
  void on_timeout() { deadline_.reset(); }

  bool is_hurried() const { return is_hurried_; }
  int exit_code() const { return exit_code_; }

  /// The ladder for a child that is taken down now. `rung` is the user's length of each rung, which
  /// is cut at the end of the session.
  ChildLifecycle::Ladder ladder(Milliseconds rung) const {
    if (is_none()) return {rung, rung, std::max(rung, limits::kRemoteTermGrace)};
    const Milliseconds cut = std::min(rung, limits::kShutdownRungMax);
    return {cut, cut, cut};
  }

 private:
  State state_ = State::none;
  bool is_hurried_ = false;
  int exit_code_ = 0;
  std::optional<Instant> deadline_;
};

}  // namespace sitter
