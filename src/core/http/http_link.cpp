#include "core/http/http_link.hpp"

#include <fmt/format.h>

#include "core/http/http_link_limits.hpp"

namespace sitter {

using Of = fact::ChildLost::Of;

HttpLink::HttpLink(Options options)
    : options_(std::move(options)),
      output_(secret_headers(options_.headers, options_.url.target)),
      life_(options_.url.is_loopback()),
      process_(options_.startup_timeout),
      session_(options_.url, options_.headers, options_.sitter_version),
      exchanges_(session_),
      responses_({options_.may_start, options_.wait_for_server, options_.has_room}, life_, process_,
                 session_, probe_, exchanges_, outbox_, output_) {}

void HttpLink::handle(const order::StartChild& order, Now now) {
  become_idle();
  output_.set_generation(order.gen);
  life_.enter(State::connecting);
  if (process_.take_over(order.gen, now)) {
    life_.enter(State::launching);
    output_.tell(fact::ChildStarted{order.gen, process_.pid()});
  }
  connect(now);
}

void HttpLink::handle(const order::SendToChild& order, Now now) {
  if (order.gen != output_.gen()) return;
  std::string text;
  text.reserve(order.line.size() + limits::kLinePadding);
  text.append(order.line.head).append(order.line.middle).append(order.line.tail);
  OwnedLine line(std::move(text));
  const Message* const message = order.message ? order.message : output_.read(line);
  const bool is_over = life_.is(State::idle) || life_.is(State::leaving);
  if (message != nullptr && !is_over) {
    // What comes while the child is being lost is refused with the rest.
    take_line(std::move(line), *message, now);
  } else if (message != nullptr && message->kind == Message::Kind::request) {
    output_.refuse_late(std::move(line));
  }
  advance(now);
}

void HttpLink::handle(const order::CloseChildInput& order, Now now) {
  if (order.gen != output_.gen()) return;
  if (process_.has_exited()) tell_exit(now);
  const bool leaves_process = !process_.runs() || (order.is_at_end && !options_.ends_daemon);
  if (!leaves_process) process_.push(order);
  if (!life_.is_up() && !life_.is(State::losing) && !life_.is(State::launching)) return;
  const bool ends_session = life_.is_up() && session_.has_id() && !options_.keeps_session;
  process_.on_taken_down(leaves_process);
  outbox_.refuse_all(output_, "it was not sent");
  exchanges_.abort_all();
  life_.enter(State::leaving);
  if (ends_session) exchanges_.send(session_.new_exchange(Kind::end), now);
  // Otherwise the process now ends as any other.
  if (!leaves_process) return;
  if (ends_session) {
    life_.set_deadline(now.steady + limits::kHttpEndWait);
  } else {
    finish_losing(now);
  }
}

void HttpLink::handle(const order::SignalUnit& order, Now) {
  if (order.gen != output_.gen()) return;
  if (process_.belongs_to(order.gen)) return process_.push(order);
  output_.tell(fact::UnitSignalled{order.gen, {}});
}

void HttpLink::handle(const order::ReleaseChild& order, Now) {
  if (order.gen != output_.gen()) return;
  become_idle();
  if (process_.belongs_to(order.gen)) process_.release();
}

void HttpLink::handle(HttpFact&& fact, Now now) {
  std::visit([&](auto& one) { on(one, now); }, fact);
  advance(now);
}

void HttpLink::handle(const fact::ChildStarted& fact, Now now) {
  if (fact.gen != output_.gen()) return;
  const bool listens = process_.is_seeking();
  process_.on_started(fact.pid, now);
  if (listens) return come_up();
  life_.enter(State::launching);
  output_.tell(fact);
  connect(now);
}

void HttpLink::handle(const fact::ChildStartFailed& fact, Now) {
  if (fact.gen != output_.gen()) return;
  const bool listens = process_.is_seeking();
  process_.on_start_failed();
  // Somebody else has started it.
  if (listens) return come_up();
  become_idle();
  output_.tell(fact);
}

/// The daemon listens, and it is known whose process it is.
void HttpLink::come_up() {
  output_.tell(fact::ChildStarted{output_.gen(), process_.pid()});
  life_.enter(State::up);
}

/// The answers that the process wrote last may still be on their way.
void HttpLink::handle(const fact::ChildExited& fact, Now now) {
  if (fact.gen != process_.gen()) return;
  if (process_.is_kept()) output_.tell(fact);
  // No child is up whose end this could be.
  if (process_.is_kept() || life_.is(State::connecting)) return process_.release();
  process_.on_exited(fact);
  if (life_.is(State::launching) || (life_.is_up() && session_.listener() != kNoListener)) {
    // Perhaps another process listens. What was found out before says nothing.
    exchanges_.abort_all(Kind::connect);
    connect(now);
  } else {
    tell_exit(now);
  }
}

void HttpLink::handle_timeout(Now now) {
  const bool is_over = life_.on_timeout(now);
  if (is_over && life_.is(State::launching)) connect(now);
  if (is_over && !life_.is(State::launching)) finish_losing(now);
  exchanges_.send_due(now);
  if (exchanges_.is_judgement_due(now)) responses_.judge(now);
  responses_.give_up_late(now);
  advance(now);
}

std::optional<Instant> HttpLink::next_timeout() const {
  std::optional<Instant> first = life_.next_timeout();
  earlier(first, exchanges_.next_timeout());
  return first;
}

void HttpLink::connect(Now now) {
  life_.set_deadline({});
  exchanges_.send(session_.new_exchange(Kind::connect), now);
}

void HttpLink::on(fact::HttpConnected& fact, Now now) {
  if (!exchanges_.take(fact.exchange)) return;
  if (process_.has_exited()) {
    // The process cannot listen any more, so this is another one.
    const bool is_served = life_.is(State::launching) || fact.listener == session_.listener();
    if (!is_served || life_.is(State::losing)) return tell_exit(now);
    process_.leave_server();
    life_.enter(State::up);
    responses_.judge(now);
    responses_.begin_losing(Of::connection,
                            "the start command has ended, and another process listens", now);
    return;
  }
  session_.set_listener(fact.listener);
  if (life_.is(State::launching)) life_.enter(State::up);
  if (!life_.is(State::connecting)) return;
  if (options_.may_start && process_.is_none()) return process_.find(output_.gen());
  come_up();
}

void HttpLink::on(fact::HttpFailed& fact, Now now) {
  fact.reason = output_.secrets().masked(fact.reason);
  const HttpExchange* const exchange = exchanges_.find(fact.exchange);
  if (exchange == nullptr || exchange->kind != Kind::connect) return responses_.on(fact, now);
  exchanges_.take(fact.exchange);
  const bool is_launching = life_.is(State::launching);
  if (process_.has_exited() && is_launching && process_.has_served()) {
    // The process has exited without another session for this child, as a daemon does that shuts
    // down. So the exit is no failed start of the child.
    const fact::ChildExited exit = process_.take_exit();
    const std::string why = "its process has ended";
    process_.release();
    outbox_.refuse_all(output_, why);
    become_idle();
    output_.tell(fact::ChildLost{output_.gen(), Of::connection, why});
    output_.tell(exit);
  } else if (process_.has_exited() && !(is_launching && process_.may_come_to_listen(now))) {
    tell_exit(now);
  } else if (is_launching) {
    // Meanwhile the requests that wait are told why.
    if (process_.has_run_for(limits::kHttpLaunchPatience, now)) {
      outbox_.refuse_requests(output_, fact.reason, limits::kHttpConnectWaitMin);
    }
    life_.set_deadline(now.steady + limits::kHttpLaunchedWait);
  } else if (life_.is(State::connecting) && options_.may_start &&
             fact.kind != fact::HttpFailed::Kind::no_descriptor) {
    process_.start(output_.gen());
  } else if (life_.is(State::connecting)) {
    output_.tell(fact::ChildStartFailed{
        .gen = output_.gen(), .reason = fact.reason, .again_after = life_.next_wait(now)});
  }
}

/// The exit is the end of the child.
void HttpLink::tell_exit(Now now) {
  responses_.end_refused(now);
  output_.tell(process_.take_exit());
  // The end of the child answers what waits for this exit.
  exchanges_.take_unjudged();
  exchanges_.forget_later();
  if (life_.is(State::idle)) return output_.tell(fact::ChildOutputEnded{output_.gen()});
  life_.enter(State::dying);
  advance(now);
}

void HttpLink::take_line(OwnedLine line, const Message& message, Now now) {
  if (message.method == Method::cancelled && message.kind == Message::Kind::notification) {
    return cancel(message, std::move(line), now);
  }
  // It must not overtake what has been refused before it.
  if (message.kind == Message::Kind::request && output_.refuse_like_last(line)) return;
  // A ping asks whether the daemon lives, and not whether it is busy. Progress of the client
  // belongs to a question of the server, as its answer does.
  const bool is_urgent =
      message.is_answer() || message.method == Method::progress || message.method == Method::ping;
  ExchangePtr exchange = session_.as_exchange(message, std::move(line));
  if (exchange->is_stateless) probe_.note_envelope(message.params);
  if (outbox_.size() + exchange->line.size() <= limits::kHttpOutboxMax) {
    return outbox_.push_back(std::move(exchange), is_urgent);
  }
  output_.answer_error(*exchange, fmt::format("{} bytes already wait for their turn at the server, "
                                              "so this was not accepted; try again later",
                                              outbox_.size()));
}

void HttpLink::cancel(const Message& message, OwnedLine line, Now now) {
  // A request that has not been sent needs no cancellation.
  const std::string id(message.params.request_id);
  if (outbox_.erase(id) || exchanges_.cancel(id, now)) return;
  // The session is that of an earlier revision, or the request has its answer already.
  if (!session_.is_open()) return;
  ExchangePtr exchange = session_.new_exchange(Kind::notification);
  exchange->line = std::move(line);
  outbox_.push_back(std::move(exchange), true);
}

void HttpLink::send_what_may(Now now) {
  while (!outbox_.is_empty() && !exchanges_.holds()) {
    if (outbox_.begins_with_request() && probe_.is_due()) {
      const OwnedLine line = probe_.start();
      const Message* const message = output_.read(line);
      if (message == nullptr) return;
      ExchangePtr exchange = session_.as_exchange(*message, OwnedLine(line.text()));
      exchange->kind = Kind::probe;
      exchanges_.send(std::move(exchange), now);
      return;
    }
    ExchangePtr next = outbox_.pop_front(exchanges_.request_count());
    if (!next) return;
    if (next->has_new_headers) {
      // The tools were listed again since the request was refused.
      const OwnedLine line(next->line.text());
      const Message* const message = output_.read(line);
      if (message != nullptr) next->mirrored = session_.as_exchange(*message, {})->mirrored;
    }
    exchanges_.send(std::move(next), now);
  }
}

void HttpLink::finish_losing(Now now) {
  responses_.end_refused(now);
  if (process_.has_exited()) return tell_exit(now);
  fact::ChildLost lost = life_.take_lost();
  lost.gen = output_.gen();
  process_.keep();
  become_idle();
  output_.tell(std::move(lost));
}

void HttpLink::become_idle() {
  outbox_.clear();
  exchanges_.abort_all();
  exchanges_.take_unjudged();
  session_.clear();
  probe_.clear();
  life_.enter(State::idle);
  if (process_.has_exited()) process_.take_exit();
}

/// What holds whatever has happened: the lines that may be sent are sent, and a child that is being
/// lost is over as soon as nothing is awaited any more.
void HttpLink::advance(Now now) {
  exchanges_.limit_unfinished(now);
  if (life_.is_up()) send_what_may(now);
  const bool ends_process = process_.runs() && process_.belongs_to(output_.gen());
  if (life_.is(State::left) && ends_process) become_idle();
  if (life_.is(State::left)) finish_losing(now);
  if (!life_.is(State::losing) && !life_.is(State::dying)) return;
  // Nothing that was not sent had an effect.
  outbox_.refuse_all(output_, life_.why_lost());
  if (exchanges_.request_count() > 0 || life_.awaits_exit()) return;
  if (life_.is(State::losing)) return finish_losing(now);
  become_idle();
  output_.tell(fact::ChildOutputEnded{output_.gen()});
}

}  // namespace sitter
