#pragma once

#include <cstdint>
#include <utility>

#include "core/base/polled_queue.hpp"
#include "sitter/fact.hpp"
#include "sitter/http.hpp"
#include "sitter/order.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// The process of a daemon that this or an earlier bridge has started, and the orders for it. It
/// outlives a session that is lost, and the next child takes it over.
///
///     none --find()--> seeking --> running
///       |                 \--> none
///       |
///     none --start()--> starting --> running --keep()--> kept --take_over()--> running
///                         |            |                   \--> none (it exits)
///                         \--> none    \--> exited --take_exit()--> over --release()--> none
///                                              \---leave_server()--> left --start()--> starting
class DaemonProcess {
 public:
  /// `startup_timeout`: see `HttpLink::Options`.
  explicit DaemonProcess(Milliseconds startup_timeout) : startup_timeout_(startup_timeout) {}

  /// Starts the process for this child, in the place of what an earlier command has left behind.
  void start(Generation gen) {
    if (state_ != State::none) release();
    enter(State::starting);
    gen_ = gen;
    has_served_ = false;
    push(order::StartChild{gen});
  }
  /// Asks whether an earlier session has started the daemon that listens.
  void find(Generation gen) {
    enter(State::seeking);
    gen_ = gen;
    has_served_ = true;
    push(order::TakeDaemon{gen});
  }
  /// Nothing is known of a process, not even of one that has left the server behind.
  bool is_none() const { return state_ == State::none; }
  bool is_seeking() const { return state_ == State::seeking; }
  void on_started(std::int64_t pid, Now now) {
    enter(State::running);
    pid_ = pid;
    launched_ = now.steady;
  }
  void on_start_failed() { enter(State::none); }
  /// Makes a process that runs that of this child. Returns false if none runs.
  bool take_over(Generation gen, Now now) {
    if (!runs()) return false;
    if (gen_ != gen) push(order::RenumberChild{gen_, gen});
    gen_ = gen;
    has_served_ = true;
    on_started(pid_, now);
    return true;
  }
  /// The session ends and not the process.
  void keep() {
    if (state_ == State::running) enter(State::kept);
  }
  void on_exited(const fact::ChildExited& fact) {
    enter(State::exited);
    exit_ = fact;
  }
  /// Returns the exit, which is the end of the child.
  fact::ChildExited take_exit() {
    enter(State::over);
    return exit_;
  }
  /// The exit is not the end of the server. A command that has failed may have found the address in
  /// use; otherwise it has left the server in the background.
  void leave_server() {
    if (!has_succeeded()) return release();
    enter(State::left);
  }
  /// The child is taken down, and with it what its process has left behind.
  void on_taken_down(bool leaves_process) {
    if (leaves_process) keep();
    if (state_ == State::left) enter(State::over);
  }
  void release() {
    push(order::ReleaseChild{gen_});
    enter(State::none);
  }
  void push(DaemonOrder order) { orders_.push_back(std::move(order)); }

  /// By which the shell knows the process.
  Generation gen() const { return gen_; }
  /// Whether the end of the process is, or was, the end of this child.
  bool belongs_to(Generation gen) const {
    return gen == gen_ && state_ != State::kept && state_ != State::left;
  }
  std::int64_t pid() const { return pid_; }
  bool runs() const { return pid_ != 0; }
  bool is_kept() const { return state_ == State::kept; }
  bool has_exited() const { return state_ == State::exited; }
  /// Whether an earlier child had its session at this process.
  bool has_served() const { return has_served_; }
  bool has_run_for(Milliseconds time, Now now) const { return now.steady >= launched_ + time; }
  /// Whether the process, or what its command has left behind, may still come to listen.
  bool may_come_to_listen(Now now) const {
    const bool is_late =
        startup_timeout_ > Milliseconds::zero() && has_run_for(startup_timeout_, now);
    return !has_exited() || (has_succeeded() && !is_late);
  }

  const DaemonOrder* poll_order() { return orders_.poll(); }

 private:
  enum class State {
    none,
    seeking,
    starting,
    running,
    kept,    ///< its child is over or about to be, and the process is not
    exited,  ///< it is being found out whether the exit is the end of the server
    left,    ///< the command has ended, and a server that it has left behind listens
    over,    ///< the exit is the end of the child, which is not released yet
  };

  void enter(State state) {
    state_ = state;
    if (state != State::running && state != State::kept) pid_ = 0;
    if (state == State::none) gen_ = kNoGeneration;
  }
  bool has_succeeded() const { return !exit_.status.by_signal() && exit_.status.code == 0; }

  const Milliseconds startup_timeout_;
  State state_ = State::none;
  Generation gen_ = kNoGeneration;
  std::int64_t pid_ = 0;  // 0 if no process runs
  Instant launched_{};    // since when it is waited for a process that listens
  bool has_served_ = false;
  fact::ChildExited exit_;
  PolledQueue<DaemonOrder> orders_;
};

}  // namespace sitter
