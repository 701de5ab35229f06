#include <utility>

#include "core/http/http_link.hpp"
#include "core/http/http_link_limits.hpp"

namespace sitter {

using Of = fact::ChildLost::Of;

namespace {

bool has_succeeded(const fact::ChildExited& exit) {
  return !exit.status.by_signal() && exit.status.code == 0;
}

}  // namespace

void HttpLink::connect() {
  connect_at_.reset();
  ExchangePtr exchange = new_exchange(Kind::connect);
  exchange->number = ExchangeId{++last_exchange_};
  orders_.push_back({.exchange = exchange->number});
  exchanges_.push_back(std::move(exchange));
}

void HttpLink::begin_launching() {
  state_ = State::launching;
  launched_ = now_.steady;
}

void HttpLink::on_connected(ListenerId listener) {
  if (exit_) {
    // The process cannot listen any more, so this is another one.
    const bool is_served = state_ == State::launching || listener == listener_;
    if (is_served && state_ != State::losing) {
      leave_process();
    } else {
      tell_exit();
    }
    return;
  }
  listener_ = listener;
  if (state_ == State::connecting) tell(fact::ChildStarted{gen_, pid_});
  if (state_ == State::connecting || state_ == State::launching) state_ = State::up;
}

void HttpLink::on_not_connected(std::string reason) {
  const Milliseconds most = options_.startup_timeout;
  const bool is_late = most > Milliseconds::zero() && now_.steady >= launched_ + most;
  const bool may_come =
      state_ == State::launching && (!exit_ || (has_succeeded(*exit_) && !is_late));
  if (exit_ && has_served_ && state_ == State::launching) {
    lose_process();
  } else if (exit_ && !may_come) {
    tell_exit();
  } else if (state_ == State::launching) {
    // Meanwhile the requests that wait are told why.
    if (now_.steady >= launched_ + limits::kHttpLaunchPatience) {
      refuse_waiting(reason, limits::kHttpConnectWaitMin);
    }
    connect_at_ = now_.steady + limits::kHttpLaunchedWait;
  } else if (state_ == State::connecting && options_.may_start) {
    // What an earlier start command has left behind does not serve any more.
    if (process_gen_ != kNoGeneration) {
      process_orders_.push_back(order::ReleaseChild{process_gen_});
    }
    process_gen_ = gen_;
    keeps_process_ = false;
    has_served_ = false;
    process_orders_.push_back(order::StartChild{gen_});
  } else if (state_ == State::connecting) {
    tell(fact::ChildStartFailed{
        .gen = gen_, .reason = std::move(reason), .again_after = next_wait()});
  }
}

void HttpLink::handle(const fact::ChildStarted& fact, Now now) {
  now_ = now;
  if (fact.gen != gen_) return;
  pid_ = fact.pid;
  begin_launching();
  tell(fact);
  connect();
}

void HttpLink::handle(const fact::ChildStartFailed& fact, Now now) {
  now_ = now;
  if (fact.gen != gen_) return;
  process_gen_ = kNoGeneration;
  become_idle();
  tell(fact);
}

/// The answers that the process wrote last may still be on their way.
void HttpLink::handle(const fact::ChildExited& fact, Now now) {
  now_ = now;
  if (fact.gen != process_gen_) return;
  pid_ = 0;
  if (keeps_process_) tell(fact);
  // No child is up whose end this could be.
  if (keeps_process_ || state_ == State::connecting) {
    process_orders_.push_back(order::ReleaseChild{process_gen_});
    process_gen_ = kNoGeneration;
    keeps_process_ = false;
    return;
  }
  exit_ = fact;
  const bool may_be_another =
      state_ == State::launching || (state_ == State::up && listener_ != kNoListener);
  if (may_be_another) {
    connect_anew();
  } else {
    tell_exit();
  }
}

/// The process has exited, and perhaps another one listens. What was found out before says nothing.
void HttpLink::connect_anew() {
  abort_all_of(Kind::connect);
  connect();
}

/// The exit is the end of the child.
void HttpLink::tell_exit() {
  end_refused();
  tell(*std::exchange(exit_, {}));
  // The end of the child answers what waits for this exit.
  unjudged_.clear();
  judge_at_.reset();
  exit_by_.reset();
  connect_at_.reset();
  later_.clear();
  if (state_ == State::idle) {
    tell(fact::ChildOutputEnded{gen_});
  } else {
    state_ = State::dying;
    advance();
  }
}

/// Another process listens, so the exit is not the end of the server. The process may have found
/// the address in use, or it may have left the server in the background.
void HttpLink::leave_process() {
  if (has_succeeded(*exit_)) {
    keeps_process_ = true;
  } else {
    process_orders_.push_back(order::ReleaseChild{process_gen_});
    process_gen_ = kNoGeneration;
  }
  exit_.reset();
  state_ = State::up;
  judge();
  begin_losing(Of::connection, "the start command has ended, and another process listens");
}

/// A process has lost its session and has exited before it gave another one, as a daemon does that
/// shuts down. The exit is no failed start of the child that was to get the session.
void HttpLink::lose_process() {
  process_orders_.push_back(order::ReleaseChild{process_gen_});
  process_gen_ = kNoGeneration;
  const fact::ChildExited exit = *std::exchange(exit_, {});
  refuse_unsent("its process has ended");
  become_idle();
  tell(fact::ChildLost{gen_, Of::connection, "its process has ended"});
  tell(exit);
}

/// The session of a child that is being taken down has ended.
void HttpLink::on_left() {
  if (deadline_) {
    finish_losing();
  } else {
    become_idle();
  }
}

/// The answer of a request is lost. If the process of the daemon has exited, its end says more. An
/// exit may be known already while it is found out whether another process listens.
void HttpLink::judge_later(ExchangePtr exchange, std::string why) {
  if (state_ == State::dying) return;
  const bool may_have_exited = has_process() || exit_;
  if (!may_have_exited || state_ != State::up) {
    lose(std::move(exchange), std::move(why));
    return;
  }
  unjudged_.emplace_back(std::move(exchange), std::move(why));
  if (!judge_at_) judge_at_ = now_.steady + limits::kHttpExitWait;
}

void HttpLink::judge() {
  judge_at_.reset();
  for (auto& [exchange, why] : std::exchange(unjudged_, {})) {
    lose(std::move(exchange), std::move(why));
  }
}

}  // namespace sitter
