#pragma once

#include <map>
#include <optional>
#include <string>

#include "sitter/bridge_config.hpp"
#include "sitter/generation.hpp"
#include "sitter/time.hpp"
#include "support/simulation_said.hpp"

namespace sitter::sim {

/// The time that a few late timers may add to any wait.
inline constexpr Milliseconds kLate{150};

/// A child or a build, from its start to its release.
struct Life {
  bool is_up = false, is_over = false;
  /// The file was busy, and the start may be tried again. Until then the child counts as over.
  bool is_postponed = false;
  bool is_input_closed = false, is_full = false;
  Instant started;
  /// When its input was closed, or when it has exited. Its end may take only a bounded time.
  std::optional<Instant> ends_since;
  /// When its successor began to serve.
  std::optional<Instant> retired_at;
  std::string opening_id;
  bool is_open = false;  ///< it has answered its opening
  int initialized_count = 0;
  /// The newest line of the client that it has got, and its newest line that the client has got.
  int last_mark = 0, passed_order = 0;

  bool listens() const { return is_up && !is_input_closed && !is_full; }
};

/// Checks the lives of children and builds. At most one child serves, and at most one other stands
/// beside it. At most one build runs, and no child is started meanwhile. Everything that was
/// started is released once, in a bounded time. The number of starts is bounded by what was asked
/// for. Throws `Broken`.
class Lives {
 public:
  Lives(const BridgeConfig& config, const Scene& scene, const Instant& now)
      : config_(config), scene_(scene), now_(now) {}

  // What the bridge does.
  void on_start(Generation gen) { is_build(gen) ? on_start_build(gen) : on_start_child(gen); }
  void on_close_input(Generation gen);
  void on_release(Generation gen);
  /// The server of the child was started anew behind its process. It is another child from now on.
  void on_renumber(Generation from, Generation gen);
  /// The child gets a request of the client, or takes the place of the child that serves.
  void on_serves(Generation gen);

  // What happens to it.
  void on_started(Generation gen) { at(gen).is_up = true; }
  void on_start_failed(Generation gen, bool may_be_tried_again);
  void on_exited(Generation gen);
  void on_full(Generation gen, bool is_full) { at(gen).is_full = is_full; }
  /// Somebody has asked for something that may need a start.
  void on_asked() { ++asked_; }
  /// Somebody waits for a build, or for a reload that may need one, for so long.
  void on_build_asked(Milliseconds timeout);
  /// Something has happened after which every wait begins anew.
  void goes_on() { moved_at_ = now_; }
  Instant moved_at() const { return moved_at_; }

  Life& at(Generation gen);
  /// Whether the generation is over, or was never there.
  bool is_over(Generation gen) const;
  bool has_running_build() const { return !is_over(last_build_); }
  /// Since when a build runs that the bridge has not given up.
  std::optional<Instant> builds_since() {
    if (!has_running_build() || !at(last_build_).listens()) return std::nullopt;
    return at(last_build_).started;
  }
  /// The child that serves, or has served last.
  Generation serving() const { return serving_; }
  /// The longest time that the end of a child or a build may take.
  Milliseconds end_max() const;
  /// A new child serves alone after `settles_in`, unless it is empty.
  void check(std::optional<Milliseconds> settles_in) const;
  void check_all_released() const;

 private:
  void on_start_child(Generation gen);
  void on_start_build(Generation gen);

  const BridgeConfig& config_;
  const Scene& scene_;
  const Instant& now_;
  std::map<Generation, Life> lives_;
  Generation last_gen_ = kNoGeneration, last_build_ = kNoGeneration, serving_ = kNoGeneration;
  Instant moved_at_;
  int starts_ = 0, asked_ = 0;
  /// How many children have run for so long that the bridge counts its restarts anew.
  int good_runs_ = 0;
  Instant build_asked_at_;
  Milliseconds build_timeout_max_{};
};

}  // namespace sitter::sim
