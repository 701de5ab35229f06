#include "core/child/child_lifecycle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

namespace sitter {

using order::CloseChildInput;
using order::ReleaseChild;
using order::SignalUnit;

void ChildLifecycle::on_started(const fact::ChildStarted& fact, Now now, Orders& out) {
  if (state_ != State::starting) return;
  pid_ = fact.pid;
  started_ = now;
  state_ = State::up;
  has_run_ = true;
  if (reason_) climb(now, out);
}

void ChildLifecycle::go_on_from(const ChildLifecycle& former, Now now) {
  pid_ = former.pid_;
  ended_.error = former.ended_.error;
  has_run_ = true;
  started_ = now;
  state_ = State::up;
}

void ChildLifecycle::on_start_failed(const fact::ChildStartFailed& fact, Now now) {
  if (state_ != State::starting) return;
  const bool is_early = now.steady - started_.steady < limits::kBusyFileWait;
  if (!reason_ && fact.is_file_busy && is_early) {
    deadline_ = now.steady + limits::kBusyFileInterval;
    return;
  }
  if (fact.again_after) {
    if (reason_) {
      state_ = State::over;
    } else {
      deadline_ = now.steady + *fact.again_after;
    }
    return;
  }
  reason_ = EndReason::not_executed;
  why_ = fact.reason;
  is_command_missing_ = fact.is_missing;
  state_ = State::over;
}

// A child that can't be asked or can't answer is of no use, but an errand needs to do neither. A
// closed stream is often just the beginning of the exit, and then the first rung of the ladder does
// no harm.

void ChildLifecycle::on_input_broken(Ladder ladder, Now now, Orders& out) {
  if (state_ != State::up || is_errand(gen_)) return;
  take_down(EndReason::closed_stdin, {}, ladder, now, out);
}

void ChildLifecycle::on_output_ended(Ladder ladder, Now now, Orders& out) {
  ended_.output = true;
  if (state_ == State::up && !is_errand(gen_)) {
    take_down(EndReason::closed_stdout, {}, ladder, now, out);
  }
  settle(out);
}

void ChildLifecycle::on_error_ended(Orders& out) {
  ended_.error = true;
  settle(out);
}

void ChildLifecycle::on_exited(ExitStatus status, Now now, Orders& out) {
  if (exit_ || state_ == State::starting || is_over()) return;
  exit_ = std::move(status);
  // The time that a child had for its answer does not include the time to take it down.
  if (reason_ != EndReason::opening_timed_out && reason_ != EndReason::said_nothing) {
    lifetime_ = std::chrono::duration_cast<Milliseconds>(now.steady - started_.steady);
  }
  // The child closed its streams on its way out, and nothing stronger has asked it to end.
  if (has_closed_a_stream() && state_ == State::closing) reason_.reset();
  const State before = std::exchange(state_, State::draining);
  rest_ = before == State::killing ? Rest::killed : Rest::terminated;
  drained_at_ = now.steady + limits::kDrain;
  drained_at_latest_ = now.steady + limits::kDrainMax;
  // A wrapper may die of the first signal. The server behind it still gets its full time.
  if (!reason_ || before == State::killing) {
    deadline_ = drained_at_;
  } else if (before == State::closing) {
    deadline_ = now.steady + terminate_rung();
  }
  // The processes that a child leaves behind have lost their purpose. But a daemon that an errand
  // has just started may not have begun its own session yet.
  if (is_errand(gen_) && !reason_) {
    rest_ = Rest::spared;
    deadline_ = now.steady + limits::kBuildLeavesWait;
    out.push(SignalUnit{gen_, SignalUnit::How::look});
  } else {
    out.push(SignalUnit{
        gen_, rest_ == Rest::killed ? SignalUnit::How::kill : SignalUnit::How::terminate});
  }
  settle(out);
}

void ChildLifecycle::on_output_moved(Now now) {
  if (state_ != State::draining) return;
  const Instant next = std::min(now.steady + limits::kDrain, drained_at_latest_);
  if (next <= drained_at_) return;
  if (deadline_ == drained_at_) deadline_ = next;
  drained_at_ = next;
}

void ChildLifecycle::on_lost(const fact::ChildLost& fact, Now now, Orders& out) {
  if (is_over() || state_ == State::starting) return;
  is_lost_ = true;
  if (!reason_) {
    reason_ = fact.of == fact::ChildLost::Of::session ? EndReason::session_lost
                                                      : EndReason::connection_lost;
    why_ = fact.why;
    lifetime_ = std::chrono::duration_cast<Milliseconds>(now.steady - started_.steady);
  }
  become_over(out);
}

void ChildLifecycle::on_unit_signalled(const fact::UnitSignalled& fact, Now now, Orders& out) {
  if (is_over()) return;
  const bool was_remote_runner = is_remote_runner_;
  for (const auto& process : fact.processes) {
    auto known = std::find_if(processes_.begin(), processes_.end(),
                              [&](const auto& one) { return one.pid == process.pid; });
    if (known == processes_.end()) {
      processes_.push_back({process.pid, process.is_leader ? "child" : "descendant",
                            process.command, "stdin closed"});
      known = processes_.end() - 1;
    }
    is_remote_runner_ = is_remote_runner_ || process.is_remote_runner;
    if (state_ == State::terminating || (state_ == State::draining && reason_)) {
      known->how = words_->asked;
    }
    if (state_ == State::killing || rest_ == Rest::killed) known->how = words_->killed;
    if (!process.refused.empty() && process.is_leader && state_ == State::killing) {
      give_up(process.refused, now, out);
      return;
    }
  }
  ended_.unit = fact.processes.empty();
  // Without a first rung, SIGTERM was sent before it was known what runs in the unit.
  if (is_remote_runner_ && !was_remote_runner && state_ == State::terminating) {
    deadline_ = now.steady + terminate_rung();
  }
  // What the last process wrote may still be in the pipe.
  if (state_ == State::draining && ended_.unit) {
    drained_at_ = std::max(drained_at_, now.steady + limits::kDrain);
    deadline_ = drained_at_;
  }
  settle(out);
}

void ChildLifecycle::on_orphan_ended(Orders& out) {
  if (state_ == State::draining && !ended_.unit) out.push(SignalUnit{gen_, SignalUnit::How::look});
}

void ChildLifecycle::on_timeout(Now now, Orders& out) {
  if (!deadline_ || now.steady < *deadline_) return;
  deadline_.reset();
  switch (state_) {
    case State::closing:
    case State::terminating:
      climb(now, out);
      break;
    case State::killing:
      give_up(fmt::format("it did not end within {} s after {}",
                          limits::kGiveUpAfterKill.count() / 1000, words_->kill),
              now, out);
      break;
    case State::draining:
      if (rest_ == Rest::spared && !ended_.unit) {
        rest_ = Rest::terminated;
        out.push(SignalUnit{gen_, SignalUnit::How::terminate});
        deadline_ = drained_at_;
      } else if (reason_ && !ended_.unit && rest_ != Rest::killed) {
        rest_ = Rest::killed;
        out.push(SignalUnit{gen_, SignalUnit::How::kill});
        drained_at_ = std::max(drained_at_, now.steady + limits::kDrain);
        deadline_ = drained_at_;
      } else {
        become_over(out);
      }
      break;
    case State::starting:
      out.push(order::StartChild{gen_});
      break;
    case State::up:
    case State::over:
      break;
  }
}

void ChildLifecycle::take_down(EndReason reason, std::string why, Ladder ladder, Now now,
                               Orders& out) {
  if (is_over() || (state_ == State::draining && !reason_)) return;
  const bool first = !reason_;
  if (first) {
    reason_ = reason;
    why_ = std::move(why);
    ladder_ = ladder;
    lifetime_ = std::chrono::duration_cast<Milliseconds>(now.steady - started_.steady);
  }
  if (state_ == State::starting) {
    // Nothing runs while the start waits for a busy program file.
    if (deadline_) state_ = State::over;
    deadline_.reset();
    if (is_start_slow_ && first) out.push(CloseChildInput{gen_});
    return;
  }
  if (first) {
    climb(now, out);
    return;
  }
  if (reason == EndReason::killed_by_sitter && has_closed_a_stream()) {
    reason_ = reason;
    why_ = std::move(why);
  }
  // A later order may only hurry the ladder.
  ladder_.close = std::min(ladder_.close, ladder.close);
  ladder_.terminate = std::min(ladder_.terminate, ladder.terminate);
  ladder_.terminate_remote = std::min(ladder_.terminate_remote, ladder.terminate_remote);
  const auto rung = state_ == State::closing   ? ladder_.close
                    : state_ == State::killing ? limits::kGiveUpAfterKill
                                               : terminate_rung();
  // A child that is draining with an empty or killed unit waits only for its output.
  const bool is_hurried = state_ != State::draining || (!ended_.unit && rest_ != Rest::killed);
  if (deadline_ && is_hurried) deadline_ = std::min(*deadline_, now.steady + rung);
  on_timeout(now, out);
}

Milliseconds ChildLifecycle::terminate_rung() const {
  return is_remote_runner_ ? ladder_.terminate_remote : ladder_.terminate;
}

/// Goes to the next rung of the ladder.
void ChildLifecycle::climb(Now now, Orders& out) {
  if (state_ == State::up) {
    state_ = State::closing;
    out.push(SignalUnit{gen_, SignalUnit::How::look});
    out.push(CloseChildInput{gen_, reason_ == EndReason::shut_down});
    deadline_ = now.steady + ladder_.close;
    if (ladder_.close == Milliseconds::zero()) climb(now, out);
  } else if (state_ == State::closing) {
    state_ = State::terminating;
    out.push(SignalUnit{gen_, SignalUnit::How::terminate});
    deadline_ = now.steady + terminate_rung();
  } else if (state_ == State::terminating) {
    state_ = State::killing;
    out.push(SignalUnit{gen_, SignalUnit::How::kill});
    deadline_ = now.steady + limits::kGiveUpAfterKill;
  }
}

void ChildLifecycle::settle(Orders& out) {
  if (state_ == State::draining && ended_.output && ended_.error && ended_.unit) become_over(out);
}

void ChildLifecycle::give_up(std::string why, Now now, Orders& out) {
  reason_ = EndReason::given_up;
  why_ = std::move(why);
  lifetime_ = std::chrono::duration_cast<Milliseconds>(now.steady - started_.steady);
  become_over(out);
}

void ChildLifecycle::become_over(Orders& out) {
  state_ = State::over;
  deadline_.reset();
  out.push(ReleaseChild{gen_});
}

ChildEnd ChildLifecycle::end(bool was_opened) const {
  assert(is_over());
  ChildEnd end;
  end.status = exit_.value_or(ExitStatus{});
  end.lifetime = lifetime_;
  end.why = why_;
  end.is_command_missing = is_command_missing_;
  end.is_unseen = !exit_ && !is_lost_;
  end.had_no_child = !has_run_;
  end.is_foreign = has_run_ && (pid_ == 0 || is_lost_);
  if (reason_) {
    end.reason = *reason_;
  } else {
    end.reason = was_opened ? unasked_end(end.status) : EndReason::ended_in_opening;
  }
  return end;
}

Milliseconds ChildLifecycle::lifetime(Now now) const {
  if (exit_ || reason_) return lifetime_;
  return std::chrono::duration_cast<Milliseconds>(now.steady - started_.steady);
}

}  // namespace sitter
