#pragma once

#include <optional>

#include "sitter/bridge_config.hpp"
#include "sitter/fact.hpp"
#include "sitter/limits.hpp"
#include "sitter/time.hpp"
#include "support/simulation_said.hpp"

namespace sitter::sim {

/// Watched files that change: each reload for them has a change as its reason, none comes before
/// the files have settled, their own work leads to no row of them without end, and what somebody
/// saves while nothing is on its way brings one. Throws `Broken`.
class Saves {
 public:
  explicit Saves(const BridgeConfig& config) : config_(config) {}

  /// Returns whether somebody may mean a reload by it: something else than the outcome of a build,
  /// and not so soon behind another change that it may be taken for the work of a reload.
  bool on_changed(const fact::FilesChanged& fact, Instant now, bool is_building) {
    has_settled_ = have_settled(now);
    const bool is_quiet = now >= changed_at_ + config_.debounce;
    bool is_usable = false;
    for (const auto& file : fact.files) {
      // It is what a build is for, and counts only where none is on its way.
      const bool may_be_built = file.is_binary && !config_.build_command.empty();
      if (may_be_built && is_building) continue;
      if (!may_be_built || !has_changed_) changed_at_ = now;
      has_changed_ |= file.is_usable;
      is_usable |= file.is_usable && !may_be_built;
    }
    return is_usable && is_quiet;
  }

  /// Since the last build, or start where nothing is built.
  bool has_changed() const { return has_changed_; }
  bool have_settled(Instant now) const {
    return has_changed_ && (has_settled_ || now >= changed_at_ + config_.debounce);
  }

  /// Somebody has done something, so that a new row of reloads may follow.
  void on_somebody() { following_ = 0; }

  /// The child that serves is asked something, and nothing is on its way.
  void on_idle(Instant now) {
    if (!idle_since_) idle_since_ = now;
  }
  /// Something is on its way, or no child serves.
  void on_busy() { idle_since_.reset(); }
  bool is_idle(Instant now) const { return idle_since_ && now >= *idle_since_ + config_.debounce; }

  /// Somebody has saved a file, or once more, and a reload must have begun.
  void expect(Instant by) { due_ = by; }
  void expect_none() { due_.reset(); }
  bool is_expected() const { return due_.has_value(); }

  /// It takes in all that has changed.
  void on_reload_begun() {
    has_changed_ = has_settled_ = false;
    idle_since_.reset();
    due_.reset();
  }

  /// A reload begins that nobody has asked for.
  void check_reason(Instant now, bool is_killed, std::optional<Instant> closed_at) {
    if (!has_changed_) throw Broken("a reload that nobody has asked for");
    if (!have_settled(now)) throw Broken("a reload before the files have settled");
    if (is_killed) throw Broken("a changed file brings a server back that was killed");
    if (closed_at && !has_settled_ && changed_at_ + config_.debounce > *closed_at) {
      throw Broken("a changed file brings a reload at the end");
    }
    // The last reload may have begun before the files were taken for its work.
    if (++following_ > limits::kFollowingReloadsMax + 1) throw Broken("reloads without end");
  }

  /// After one input and all that followed from it.
  void check(Instant now) const {
    if (due_ && now > *due_) throw Broken("a saved file brings no reload");
  }

 private:
  const BridgeConfig& config_;
  bool has_changed_ = false, has_settled_ = false;
  Instant changed_at_;
  /// Reloads since the last thing that somebody has done.
  int following_ = 0;
  std::optional<Instant> idle_since_;
  std::optional<Instant> due_;
};

}  // namespace sitter::sim
