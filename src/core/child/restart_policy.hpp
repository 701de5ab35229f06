#pragma once

#include <algorithm>
#include <optional>

#include "core/child/child_end.hpp"
#include "sitter/bridge_config.hpp"
#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// The time from the end of a child to its restart without a request. It doubles with each restart
/// in a row, so that a child that crashes at once does not keep the machine busy. A child that runs
/// for a minute ends the row.
inline constexpr Milliseconds kRestartWaitMin{1000};
inline constexpr Milliseconds kRestartWaitMax{30000};
inline constexpr Milliseconds kGoodRunning{60000};

}  // namespace limits

/// Whether a child that has ended is restarted without a request, and when. The wait grows with
/// each restart in a row, until a child has run well for a while.
class RestartPolicy {
 public:
  using When = BridgeConfig::Restarts;

  /// `max`: the largest number of restarts in a row.
  RestartPolicy(When when, int max) : when_(when), max_(max) {}

  /// A child that served, or was about to serve, has ended. Returns true if only the bound for
  /// restarts in a row prevents a restart.
  bool on_end(const ChildEnd& end, Now now) {
    if (end.lifetime >= limits::kGoodRunning) count_ = 0;
    due_.reset();
    if (!concerns(end.reason)) return false;
    if (is_exhausted()) return true;
    Milliseconds wait = limits::kRestartWaitMin;
    for (int i = 0; i < count_ && wait < limits::kRestartWaitMax; ++i) wait *= 2;
    due_ = now.steady + std::min(wait, limits::kRestartWaitMax);
    return false;
  }

  /// A child is being started, for whatever reason.
  void on_start(Now now) {
    if (is_due(due_, now)) ++count_;
    due_.reset();
  }

  /// Somebody wants the server to stay down, or takes care of its start in another way.
  void cancel() { due_.reset(); }

  When when() const { return when_; }
  /// The number of restarts in a row.
  int count() const { return count_; }
  int max() const { return max_; }
  bool is_exhausted() const { return count_ >= max_; }
  std::optional<Instant> due() const { return due_; }

 private:
  bool concerns(EndReason reason) const {
    switch (reason) {
      case EndReason::killed_by_sitter:
      case EndReason::restarted_itself:
      case EndReason::replaced:
      case EndReason::shut_down:
        return false;
      case EndReason::exited:
      case EndReason::ended_from_outside:
      case EndReason::not_executed:
      case EndReason::opening_refused:
      case EndReason::given_up:
        return when_ == When::eager;
      case EndReason::ended_in_opening:
      case EndReason::opening_timed_out:
      case EndReason::said_nothing:
      case EndReason::crashed:
      case EndReason::closed_stdout:
      case EndReason::closed_stdin:
      case EndReason::connection_lost:
      case EndReason::session_lost:
      case EndReason::wrote_rubbish:
        break;
    }
    return when_ != When::lazy;
  }

  When when_;
  int max_;
  int count_ = 0;
  std::optional<Instant> due_;
};

}  // namespace sitter
