#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/orders.hpp"
#include "core/child/child_end.hpp"
#include "core/child/kill_report.hpp"
#include "sitter/end_words.hpp"
#include "sitter/fact.hpp"
#include "sitter/generation.hpp"
#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// A grandchild may hold the pipes of a child that has exited, so the bridge waits no longer than
/// this for their end, or for more from them. The shell reads what is in a pipe before it tells of
/// a deadline, so that nothing of what the child itself wrote is lost, however busy the machine is.
inline constexpr Milliseconds kDrain{300};

/// A grandchild that goes on writing holds up the next start no longer than this.
inline constexpr Milliseconds kDrainMax{2000};

/// The last process that a build or run started may still be between fork(2) and setsid(2). That
/// takes microseconds, and some scheduler ticks on a busy machine.
inline constexpr Milliseconds kBuildLeavesWait{100};

/// After SIGKILL, a process in uninterruptible sleep or of another user may not end at all.
inline constexpr Milliseconds kGiveUpAfterKill{2000};

/// A program that is still being written cannot be started (ETXTBSY, execve(2)). A linker finishes
/// writing it soon.
inline constexpr Milliseconds kBusyFileWait{2000};
inline constexpr Milliseconds kBusyFileInterval{100};

}  // namespace limits

/// One child, build or run, from its start to the moment when nothing can come from it any more.
///
/// Over means exit *and* end of both outputs, because the last answer may still be in the pipe. A
/// grandchild may hold the pipes, so the wait for their end is bounded.
///
/// A start that fails because the program file is still being written is repeated for a while. The
/// start of a daemon whose process is not ours is repeated for as long as it cannot be reached, and
/// such a child may be lost in any state after its start.
///
///     starting --> up --take_down--> closing --> terminating --> killing
///         |         |                   |             |             | |
///      (failed)     +------exit---------+-------------+-------------+ (given up)
///         |                             v                             |
///         |                          draining                         |
///         v                             v                             v
///        over                          over                          over
class ChildLifecycle {
 public:
  enum class State {
    starting,     ///< the start is ordered
    up,           ///< the process runs
    closing,      ///< stdin is closed, and the child has time to end
    terminating,  ///< SIGTERM was sent to the unit
    killing,      ///< SIGKILL was sent to the unit
    draining,     ///< the child has exited; its output and the rest of its unit may not have ended
    over,         ///< nothing can come from the child any more
  };

  /// How long each rung of the ladder lasts: from the closing of stdin to SIGTERM, and from SIGTERM
  /// to SIGKILL.
  struct Ladder {
    Milliseconds close{};
    Milliseconds terminate{};
    /// The second rung for a program that must end something on another machine or in a daemon.
    Milliseconds terminate_remote{};
  };

  /// The words must outlive this object.
  ChildLifecycle(Generation gen, Now now, const EndWords& words = kSignalWords)
      : gen_(gen), started_(now), words_(&words) {}

  /// The start takes its time. If the child is taken down before, `CloseChildInput` ends the start.
  void expect_slow_start() { is_start_slow_ = true; }
  void on_started(const fact::ChildStarted& fact, Now now, Orders& out);
  /// The process of a child that is up is that of this child from now on.
  void go_on_from(const ChildLifecycle& former, Now now);
  void on_start_failed(const fact::ChildStartFailed& fact, Now now);
  void on_input_broken(Ladder ladder, Now now, Orders& out);
  void on_output_ended(Ladder ladder, Now now, Orders& out);
  void on_error_ended(Orders& out);
  void on_exited(ExitStatus status, Now now, Orders& out);
  /// Bytes have come from a child that has exited.
  void on_output_moved(Now now);
  /// The child is over without an exit that anybody could see.
  void on_lost(const fact::ChildLost& fact, Now now, Orders& out);
  void on_unit_signalled(const fact::UnitSignalled& fact, Now now, Orders& out);
  void on_orphan_ended(Orders& out);
  void on_timeout(Now now, Orders& out);

  /// Takes the child down because of `reason`. If the child is already being taken down, this only
  /// hurries the ladder. The first reason stays, except that a kill takes the place of a closed
  /// stream.
  void take_down(EndReason reason, std::string why, Ladder ladder, Now now, Orders& out);

  Generation gen() const { return gen_; }
  State state() const { return state_; }
  /// 0 for a daemon whose process is not ours, and before the start.
  std::int64_t pid() const { return pid_; }
  /// Whether the start has succeeded.
  bool has_run() const { return has_run_; }
  Now started() const { return started_; }
  bool is_over() const { return state_ == State::over; }
  /// The child runs, and nobody wants it to end.
  bool is_up() const { return state_ == State::up; }
  /// Why the bridge has asked the child to end; empty if it has not.
  std::optional<EndReason> taken_down_for() const { return reason_; }
  /// The words for this reason; empty if it needs none.
  const std::string& why() const { return why_; }
  std::optional<Instant> deadline() const { return deadline_; }

  /// Why and how the child ended. The child must be over. `was_opened`: whether its opening was
  /// finished.
  ChildEnd end(bool was_opened) const;
  /// The time from the start to the exit, to the order to end, or to now.
  Milliseconds lifetime(Now now) const;
  /// The processes that the ladder has ended, and how.
  const std::vector<KillReport::Killed>& killed() const { return processes_; }

 private:
  /// What was done with the processes of the unit that are left after the exit of the leader.
  enum class Rest {
    spared,      ///< a build or a run may have just started them: they have a moment to reach a
                 ///< session of their own, where they are left alone
    terminated,  ///< SIGTERM was sent to them
    killed,      ///< SIGKILL was sent to them
  };

  /// What has ended besides the leader.
  struct Ended {
    bool output = false;
    bool error = false;
    bool unit = false;
  };

  bool has_closed_a_stream() const {
    return reason_ == EndReason::closed_stdout || reason_ == EndReason::closed_stdin;
  }
  Milliseconds terminate_rung() const;
  void climb(Now now, Orders& out);
  void settle(Orders& out);
  void give_up(std::string why, Now now, Orders& out);
  void become_over(Orders& out);

  Generation gen_;
  State state_ = State::starting;
  Now started_;
  const EndWords* words_;
  std::int64_t pid_ = 0;
  bool is_start_slow_ = false;
  bool is_remote_runner_ = false;
  bool is_command_missing_ = false;
  bool has_run_ = false;
  bool is_lost_ = false;

  std::optional<EndReason> reason_;
  std::string why_;
  Ladder ladder_;
  std::optional<Instant> deadline_;
  std::vector<KillReport::Killed> processes_;

  std::optional<ExitStatus> exit_;
  /// While draining: until when the output is awaited, and what is done with the rest of the unit.
  Instant drained_at_, drained_at_latest_;
  Rest rest_ = Rest::terminated;
  Milliseconds lifetime_{};
  Ended ended_;
};

}  // namespace sitter
