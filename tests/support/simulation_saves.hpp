#pragma once

#include <optional>

#include "core/build/watched_changes.hpp"
#include "sitter/bridge_config.hpp"
#include "sitter/fact.hpp"
#include "sitter/time.hpp"
#include "support/simulation_said.hpp"

namespace sitter::sim {

/// Checks the reloads for watched files. Each of them has a changed file as its reason. None comes
/// before the files have settled. Changes that the reloads make themselves do not cause reloads
/// without end. If somebody saves a file while nothing is in progress, a reload follows. Throws
/// `Broken`.
class Saves {
 public:
  explicit Saves(const BridgeConfig& config) : config_(config) {}

  /// Returns whether the change may be a save that asks for a reload. The output of a build is no
  /// such save. Nor is a change that follows another one so soon that it may be taken for the work
  /// of a reload.
  bool on_changed(const fact::FilesChanged& fact, Instant now, bool is_building) {
    has_settled_ = have_settled(now);
    const bool is_quiet = now >= changed_at_ + config_.debounce;
    bool is_usable = false;
    for (const auto& file : fact.files) {
      // A build writes the binary, so a change of the binary counts only while no build runs.
      const bool may_be_built = file.is_binary && !config_.build_command.empty();
      if (may_be_built && is_building) continue;
      if (!may_be_built || !has_changed_) changed_at_ = now;
      has_changed_ |= file.is_usable;
      is_usable |= file.is_usable && !may_be_built;
    }
    return is_usable && is_quiet;
  }

  /// Whether files have changed since the last build, or since the last start if there is no build
  /// command.
  bool has_changed() const { return has_changed_; }
  bool have_settled(Instant now) const {
    return has_changed_ && (has_settled_ || now >= changed_at_ + config_.debounce);
  }

  /// Somebody has done something, so a new series of reloads may follow.
  void on_somebody() { following_ = 0; }

  /// A reload begins. It covers everything that has changed so far.
  void on_reload_begun() { has_changed_ = has_settled_ = false; }

  /// Checks the reason of a reload that nobody has asked for.
  void check_reason(Instant now, bool is_killed, std::optional<Instant> closed_at) {
    if (!has_changed_) throw Broken("a reload that nobody has asked for");
    if (!have_settled(now)) throw Broken("a reload before the files have settled");
    if (is_killed) throw Broken("a changed file brings back a server that was killed");
    if (closed_at && !has_settled_ && changed_at_ + config_.debounce > *closed_at) {
      throw Broken("a changed file brings a reload at the end");
    }
    // One more reload may have begun before the bridge took the changes for the work of reloads.
    if (++following_ > limits::kFollowingReloadsMax + 1) throw Broken("reloads without end");
  }

 private:
  const BridgeConfig& config_;
  bool has_changed_ = false, has_settled_ = false;
  Instant changed_at_;
  /// The number of reloads since somebody last did something.
  int following_ = 0;
};

}  // namespace sitter::sim
