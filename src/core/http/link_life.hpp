#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "core/http/http_link_limits.hpp"
#include "sitter/fact.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// Where a child over HTTP is between its start and its end, for how long, and when a daemon that
/// is away is tried again.
///
///     idle --StartChild--> connecting --> up --> losing --> idle
///                            |  ^  |       |\--> leaving --> left --> idle
///                            |  |  |       \---> dying --> idle
///                            |  |  \--> launching --> up
///                            \--/ (nothing listens: the start is ordered again)
class LinkLife {
 public:
  enum class State : std::uint8_t {
    idle,        ///< there is no child
    connecting,  ///< a first connection is being opened
    launching,   ///< the process of the daemon was started, and does not listen yet
    up,          ///< the child was started
    dying,       ///< the process of the daemon has exited, and its last answers are read
    losing,      ///< the child is lost, and what it was asked may still be answered for a moment
    leaving,     ///< the child is taken down, and the session is being ended
    left,        ///< the session has been ended
  };

  explicit LinkLife(bool is_loopback)
      : wait_max_(is_loopback ? limits::kHttpLoopbackWaitMax : limits::kHttpConnectWaitMax) {}

  void enter(State state, std::optional<Instant> deadline = {}) {
    if (state == State::leaving) lost_ = {};
    state_ = state;
    deadline_ = deadline;
    exit_by_.reset();
  }
  /// Begins to lose the child. If its process may be about to exit, this exit is awaited.
  void lose(fact::ChildLost lost, bool may_exit, Now now) {
    enter(State::losing, now.steady + limits::kHttpLosingWait);
    lost_ = std::move(lost);
    if (may_exit) exit_by_ = now.steady + limits::kHttpExitWait;
  }
  void set_deadline(std::optional<Instant> deadline) { deadline_ = deadline; }
  /// Returns whether the time of the state is over: of `launching`, it is time for another try.
  bool on_timeout(Now now) {
    if (is_due(exit_by_, now)) exit_by_.reset();
    return is_due(deadline_, now) && std::exchange(deadline_, {});
  }
  std::optional<Instant> next_timeout() const {
    std::optional<Instant> first = deadline_;
    earlier(first, exit_by_);
    return first;
  }

  /// How long to wait after a failure, at least as long as the daemon has asked for. The wait
  /// doubles with each try. Failures before the next try belong to the same try.
  Milliseconds next_wait(Now now, Milliseconds asked = {}) {
    if (now.steady < again_at_ && now.steady + asked <= again_at_) {
      return std::chrono::ceil<Milliseconds>(again_at_ - now.steady);
    }
    Milliseconds wait = limits::kHttpConnectWaitMin;
    for (int i = 0; i < failures_ && wait < wait_max_; ++i) wait *= 2;
    ++failures_;
    wait = std::max(asked, std::min(wait, wait_max_));
    again_at_ = now.steady + wait;
    return wait;
  }
  /// The daemon has sent a message.
  void on_heard() {
    failures_ = 0;
    again_at_ = {};
  }

  bool is(State state) const { return state_ == state; }
  bool is_up() const { return is(State::up); }
  bool awaits_exit() const { return exit_by_.has_value(); }
  /// Why the child is being lost.
  const std::string& why_lost() const { return lost_.why; }
  fact::ChildLost take_lost() {
    // What the daemon has asked for does not concern the next child.
    again_at_ = {};
    return std::exchange(lost_, {});
  }

 private:
  State state_ = State::idle;
  std::optional<Instant> deadline_;
  std::optional<Instant> exit_by_;
  fact::ChildLost lost_;
  const Milliseconds wait_max_;
  int failures_ = 0;
  Instant again_at_{};
};

}  // namespace sitter
