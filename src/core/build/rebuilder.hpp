#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/build/build.hpp"
#include "core/build/pending_rebuild.hpp"
#include "core/build/rebuild.hpp"
#include "core/child/child_lifecycle.hpp"
#include "core/client/turn.hpp"
#include "sitter/fact.hpp"
#include "sitter/generation.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// The rebuild that is on its way, and the build that it runs, or the last one. It says what it
/// waits for, and is told when that is there:
///
///     (off) --> quiet --> no_children --> build --> room --> new_child --> look --> (off)
///       \-- swap -----------------------^    ^--|
///                                            cancelled, and wanted again
class Rebuilder {
 public:
  /// What must happen before it goes on.
  enum class WaitsFor {
    nothing,      ///< there is no rebuild
    quiet,        ///< kill-first: the end of what the child was asked, `on_quiet`
    no_children,  ///< kill-first: the end of all children, `on_no_children`
    build,        ///< the end of the build, `on_build_over`
    room,         ///< nobody is there but a child that serves, `on_started`
    new_child,    ///< the new child serves, `on_served`
    look,         ///< its file was looked at for the notice, `take`
  };

  struct Options {
    bool has_build = false;
    /// How long a child may finish what it was asked.
    Milliseconds busy_wait{};
    /// From SIGTERM for the build to SIGKILL.
    Milliseconds kill_grace{};
  };

  explicit Rebuilder(Options options) : options_(options) {}

  WaitsFor waits_for() const;
  bool is_on() const { return rebuild_.has_value(); }
  /// Only while it is on.
  const PendingRebuild& rebuild() const { return *rebuild_; }

  /// A call of sitter_rebuild: joins what is on its way, or begins.
  void call(RebuildCaller caller, const RebuildArguments& arguments, const Turn& turn);
  /// Somebody else wants a server from what there is now. Without a caller nobody waits for it.
  /// `may_replace`: what is started already need not come to serve first.
  void reload(const Reload& wanted, const std::optional<RebuildCaller>& caller, bool may_replace,
              const Turn& turn);
  /// What was asked for while another was on its way, whose end was taken.
  void follow(const PendingRebuild& before, const Turn& turn);

  void on_quiet();
  void on_no_children(const Turn& turn);
  void on_started(Generation gen);
  void on_served();
  bool is_new_child(Generation gen) const { return rebuild_ && rebuild_->gen == gen; }

  /// Whether the request was the last that wanted it.
  bool leave(RequestHandle request);
  /// Nobody but calls of the client is left. Returns the others, who are to be answered.
  std::vector<RebuildCaller> leave_to_client();
  bool is_unwanted() const;
  /// Stops a build that nobody wants any more. False if there is none to be stopped.
  bool cancel_build(const Turn& turn);
  /// Its end, whatever it waits for.
  PendingRebuild take();

  /// A line of the build.
  void on_line(const fact::ChildErrorLine& fact);
  struct Progress {
    std::string line;
    std::int64_t count = 0;
  };
  /// The newest line, if those who wait for the build may be told of one now.
  std::optional<Progress> take_progress(Now now);

  /// What follows from the end of the build.
  enum class Next {
    goes_on,
    is_given_up,  ///< nobody wants it: `take`
    has_failed,   ///< it is to be reported: `take`
  };
  bool is_build_over() const;
  Next on_build_over(bool is_ending, const Turn& turn);

  /// Returns the callers whose time is over, and who are to be answered, while others wait on.
  std::vector<RebuildCaller> on_timeout(const Turn& turn);
  std::optional<Instant> deadline() const;
  /// Of the process of the build.
  void on_build_timeout(const Turn& turn);
  std::optional<Instant> build_deadline() const;

  /// The session ends: no time limit counts any more, and the build is stopped.
  void stop(ChildLifecycle::Ladder ladder, const Turn& turn);
  /// And it is not waited for any longer.
  void abandon_build(Orders& out);

  bool is_building() const { return build_ && build_->is_running(); }
  /// The process of the build with this generation, while it runs. Null if there is none.
  ChildLifecycle* life(Generation gen);
  void on_orphan_ended(Orders& out);
  /// The one that runs, or the last one. Null if there is none.
  const Build* build() const { return build_ ? &*build_ : nullptr; }
  const std::optional<BuildResult>& last_result() const { return last_result_; }
  /// Whether a build was started since this was last asked.
  bool take_started() { return std::exchange(has_started_, false); }

 private:
  bool has_begun() const;
  bool is_build_timed_out() const;
  void restart(const Turn& turn);
  void start_build(const Turn& turn);
  void stop_build(BuildResult::Outcome outcome, const Turn& turn);

  const Options options_;
  std::optional<PendingRebuild> rebuild_;
  std::optional<Build> build_;
  Generation last_gen_ = kNoGeneration;
  std::optional<BuildResult> last_result_;
  bool has_started_ = false;
  /// When the next line may be told of, and whether there is one.
  Instant next_progress_{};
  bool has_progress_ = false;
};

}  // namespace sitter
