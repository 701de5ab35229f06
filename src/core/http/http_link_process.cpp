#include <utility>

#include "core/http/http_link.hpp"
#include "sitter/limits.hpp"

namespace sitter {

void HttpLink::connect() {
  connect_at_.reset();
  HttpExchange exchange;
  exchange.kind = Kind::connect;
  const ExchangeId id{++last_exchange_};
  exchanges_.emplace(id, std::move(exchange));
  orders_.push_back(order::HttpConnect{id});
}

void HttpLink::on_connected(ListenerId listener) {
  listener_ = listener;
  if (state_ == State::connecting) tell(fact::ChildStarted{gen_, pid_});
  if (state_ == State::connecting || state_ == State::launching) state_ = State::up;
}

void HttpLink::on_not_connected(std::string reason) {
  if (state_ == State::launching) {
    connect_at_ = now_.steady + limits::kHttpLaunchedWait;
  } else if (state_ == State::connecting && options_.may_start && !has_process()) {
    process_gen_ = gen_;
    keeps_process_ = false;
    process_orders_.push_back(order::StartChild{gen_});
  } else if (state_ == State::connecting) {
    tell(fact::ChildStartFailed{gen_, std::move(reason), false, false, next_wait()});
  }
}

void HttpLink::handle(const fact::ChildStarted& fact, Now now) {
  now_ = now;
  if (fact.gen != gen_) return;
  pid_ = fact.pid;
  state_ = State::launching;
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
  // No child is up whose end this could be.
  if (keeps_process_ || state_ == State::connecting) {
    process_orders_.push_back(order::ReleaseChild{process_gen_});
    process_gen_ = kNoGeneration;
    keeps_process_ = false;
    return;
  }
  tell(fact);
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

/// The session of a child that is being taken down has ended.
void HttpLink::on_left() {
  if (deadline_) {
    finish_losing();
  } else {
    become_idle();
  }
}

/// The answer of a request is lost. If the process of the daemon has exited, its end says more.
void HttpLink::judge_later(HttpExchange exchange, std::string why) {
  if (state_ == State::dying) return;
  if (!has_process() || state_ != State::up) {
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
