#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/child/child_lifecycle.hpp"
#include "core/client/turn.hpp"
#include "core/rebuild/build.hpp"
#include "core/rebuild/pending_rebuild.hpp"
#include "core/rebuild/rebuild.hpp"
#include "sitter/fact.hpp"
#include "sitter/generation.hpp"
#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// The time between two progress notifications about a build. A person reads no faster.
inline constexpr Milliseconds kBuildProgressInterval{250};

}  // namespace limits

/// The rebuild that is on its way, and its build or the last build. The state of the rebuild says
/// what it waits for. When that has happened, the caller calls the function that is named at the
/// state:
///
///     (off) --> quiet --> no_children --> build --> room --> new_child --> look --> (off)
///       |                                 ^   |      ^
///       \-- swap ------------------------/   |      | without a build command
///                                             v
///                                         cancelled --> (off)
///
/// A cancelled rebuild that is wanted again begins anew when its build is over. A rebuild in `room`
/// or `new_child` also begins anew if its child may be replaced.
class Rebuilder {
 public:
  using State = PendingRebuild::State;

  struct Options {
    bool has_build = false;
    /// How long a child may take to finish its open requests.
    Milliseconds busy_wait{};
    /// The time from SIGTERM to SIGKILL for the build.
    Milliseconds kill_grace{};
    /// The old child makes way before the new child is started, because both need the same address.
    bool is_exclusive = false;
    EndWords end_words = {};
  };

  explicit Rebuilder(Options options) : options_(std::move(options)) {}

  bool is_on() const { return rebuild_.has_value(); }
  /// Whether a rebuild is on and waits for this.
  bool waits_for(State state) const { return rebuild_ && rebuild_->state == state; }
  /// Whether new requests wait for the next child, because the child that serves makes way first.
  bool holds_requests() const {
    return !is_held() && (waits_for(State::quiet) || waits_for(State::no_children) ||
                          (options_.is_exclusive && waits_for(State::room)));
  }
  /// Whether the rebuild waits until a debugger is detached.
  bool is_held() const { return rebuild_ && !rebuild_->held_by.empty(); }
  /// May be called only while a rebuild is on.
  const PendingRebuild& rebuild() const { return *rebuild_; }

  /// Handles a call of sitter_rebuild. The call joins the rebuild that is on its way, or begins a
  /// rebuild. If the running build is being stopped at its time limit, the call waits for the next.
  void call(RebuildCaller caller, const RebuildArguments& arguments, const Turn& turn);
  /// Handles a reload. Without a caller, nobody waits for its answer. With `may_replace`, a child
  /// that is already starting need not serve before it is replaced.
  void reload(const Reload& wanted, const std::optional<RebuildCaller>& caller, bool may_replace,
              const Turn& turn);
  /// Starts a child without a build, after a kill. The call joins a rebuild that has survived the
  /// kill.
  void restart(RebuildCaller caller, const Turn& turn);
  /// Begins a rebuild for the requests that wait for a missing command. No rebuild may be on.
  void build_for_requests(std::string cause, const Turn& turn);
  /// Begins the rebuild that was asked for while `before` was on its way. `take` has returned
  /// `before`.
  void follow(const PendingRebuild& before, const Turn& turn);

  /// Gives the child that serves the time to finish its requests, before it makes way.
  void expect_quiet(Now now) {
    if (!rebuild_->quiet_until) rebuild_->quiet_until = now.steady + options_.busy_wait;
  }
  /// A debugger is attached to a child that would have to end; none if `debugger` is empty. While
  /// it holds the rebuild, nobody waits for that: returns the callers, which must be answered.
  std::vector<RebuildCaller> hold(const std::string& debugger);
  /// Whether it must be told that a debugger holds the rebuild. That is told once.
  bool take_hold_news() { return is_held() && !std::exchange(rebuild_->is_hold_told, true); }
  void on_quiet();
  /// The child that served makes way.
  void on_way_made() { rebuild_->quiet_until.reset(); }
  void on_no_children(const Turn& turn);
  void on_started(Generation gen);
  void on_served();
  bool is_new_child(Generation gen) const { return rebuild_ && rebuild_->gen == gen; }

  /// Removes the request. Returns true if it was the last that wanted the rebuild.
  bool leave(RequestHandle request);
  /// The requests for which `build_for_requests` has begun the rebuild no longer want it. Returns
  /// true if they were the last that wanted it.
  bool leave_requests();
  /// Removes everything but the calls of the client. Returns the other callers, which must be
  /// answered.
  std::vector<RebuildCaller> leave_to_client();
  bool is_unwanted() const;
  /// Stops a build that nobody wants any more. Returns false if there is no build to stop.
  bool cancel_build(const Turn& turn);
  /// Ends the rebuild, whatever it waits for, and returns it.
  PendingRebuild take();

  /// Handles a line of the build's output.
  void on_line(const fact::ChildErrorLine& fact);
  /// The newest line of the build, which must be running.
  std::string newest_line() const;
  struct Progress {
    std::string line;
    std::int64_t count = 0;
  };
  /// The newest line, if it is time to tell the callers of the build about its progress.
  std::optional<Progress> take_progress(Now now);

  /// What follows from the end of the build.
  enum class Next {
    goes_on,
    is_given_up,  ///< nobody wants the rebuild: `take`
    has_failed,   ///< the failure is to be reported: `take`
  };
  bool is_build_over() const;
  Next on_build_over(bool is_ending, const Turn& turn);

  /// Returns the callers whose time is over while other callers still wait. The returned callers
  /// must be answered.
  std::vector<RebuildCaller> on_timeout(const Turn& turn);
  /// When somebody has waited long enough for the build.
  std::optional<Instant> deadline() const;
  /// The same for calls of the client that have waited for `limits::kRebuildCallPatience`. The
  /// rebuild goes on without them.
  std::vector<RebuildCaller> on_answer_due(Now now) { return rebuild_->leave_late(now); }
  std::optional<Instant> answer_due() const {
    return rebuild_ ? rebuild_->answer_due() : std::nullopt;
  }
  /// When the callers may be told of the progress of the build again.
  std::optional<Instant> progress_deadline() const;
  /// Until when a child may finish its open requests before a build of the mode kill-first, or
  /// before it makes way for a child that needs its address.
  std::optional<Instant> quiet_deadline() const;
  /// The deadline of the build's process has come.
  void on_build_timeout(const Turn& turn);
  std::optional<Instant> build_deadline() const;

  /// The session ends: no time limit counts any more, and the build is stopped.
  void stop(ChildLifecycle::Ladder ladder, const Turn& turn);
  /// Stops waiting for the end of the build.
  void abandon_build(Orders& out);

  bool is_building() const { return build_ && build_->is_running(); }
  /// The build's process if it runs and has this generation, otherwise null.
  ChildLifecycle* life(Generation gen);
  void on_orphan_ended(Orders& out);
  /// The build that runs, or the last build. Null if there is none.
  const Build* build() const { return build_ ? &*build_ : nullptr; }
  const std::optional<BuildResult>& last_result() const { return last_result_; }
  /// Whether a build was started since the last call of this function.
  bool take_started() { return std::exchange(has_started_, false); }

 private:
  bool has_begun() const;
  bool misses_call() const;
  void begin_anew(const Turn& turn);
  void start_build(const Turn& turn);
  void stop_build(BuildResult::Outcome outcome, const Turn& turn);

  const Options options_;
  std::optional<PendingRebuild> rebuild_;
  std::optional<Build> build_;
  Generation last_gen_ = kNoGeneration;
  std::optional<BuildResult> last_result_;
  bool has_started_ = false;
  /// When the next line may be told, and whether there is a new line.
  Instant next_progress_{};
  bool has_progress_ = false;
};

}  // namespace sitter
