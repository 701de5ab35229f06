#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "core/child/restart_policy.hpp"
#include "sitter/bridge_config.hpp"
#include "sitter/time.hpp"
#include "support/simulation_said.hpp"

namespace sitter::sim {

/// Checks the restarts that happen without a request. They follow the policy, do not come too
/// early, and do not go on without end. A server that has crashed does come back. Throws `Broken`.
class Restarts {
 public:
  using Policy = BridgeConfig::Restarts;

  explicit Restarts(const BridgeConfig& config) : config_(config) {}

  /// The last child has ended. `is_in_order`: the end is no crash for the policy `on_crash`.
  void on_end(Instant now, bool is_in_order) {
    last_end_ = now;
    was_in_order_ = is_in_order;
  }
  /// A child has ended after its successor. Nobody outside can tell whether it has served until
  /// then.
  void on_end_after_successor(Instant now) {
    if (config_.restarts == Policy::on_crash && was_in_order_) on_end(now, false);
  }
  void on_good_running() { count_ = 0; }

  /// The server is killed on purpose. It may not come back by itself until `on_wanted()`.
  void on_kill() { is_killed_ = true; }
  void on_wanted() { is_killed_ = false; }
  bool is_killed() const { return is_killed_; }

  /// What is wrong with a start that nobody has asked for; empty if the policy allows it.
  std::string fault(Instant now, bool is_ending) const {
    if (config_.restarts == Policy::lazy || !last_end_) return "a start that nobody needs";
    if (is_ending) return "a server comes back by itself at the end";
    if (is_killed_) return "a server that was killed comes back by itself";
    if (config_.restarts == Policy::on_crash && was_in_order_) {
      return "a server that has not crashed comes back by itself";
    }
    if (now < *last_end_ + wait(count_)) return "a server comes back by itself too early";
    if (count_ >= config_.restarts_max) {
      return "a server comes back by itself more often than it may";
    }
    return "";
  }

  /// When server number `number`, which has just crashed, must be back. Empty if it may stay down.
  std::optional<Instant> due(Instant now, int number) const {
    if (config_.restarts == Policy::lazy || number > config_.restarts_max) return std::nullopt;
    return now + wait(number - 1);
  }

  void on_restart(Instant now, bool is_ending) {
    if (const std::string wrong = fault(now, is_ending); !wrong.empty()) throw Broken(wrong);
    ++count_;
  }

 private:
  /// The time from the end of the server to its restart, after so many restarts in a row.
  static Milliseconds wait(int count) {
    Milliseconds wait = limits::kRestartWaitMin;
    for (int i = 0; i < count && wait < limits::kRestartWaitMax; ++i) wait *= 2;
    return std::min(wait, limits::kRestartWaitMax);
  }

  const BridgeConfig& config_;
  /// The number of restarts since the last child that ran for long.
  int count_ = 0;
  std::optional<Instant> last_end_;
  bool was_in_order_ = false;
  bool is_killed_ = false;
};

}  // namespace sitter::sim
