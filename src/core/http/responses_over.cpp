#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.hpp"
#include "core/http/responses.hpp"
#include "core/wire/json_view.hpp"

namespace sitter {

namespace {

/// How often in a row the rest of an answer is asked for in vain. After that the answer is lost.
constexpr int kHttpEmptyResumesMax = 2;

/// Whether a call was refused because of its headers for the first time (2026-07-28, "Custom
/// Headers from Tool Parameters").
bool asks_for_other_headers(const HttpExchange& exchange) {
  if (!exchange.is_stateless || exchange.has_new_headers) return false;
  const auto refusal = rpc_error(exchange.body);
  return refusal && has_code(refusal->error, ErrorCode::header_mismatch);
}

/// Whether the daemon behind the status may come back soon.
bool is_away(const HttpExchange& exchange) {
  const int status = exchange.status;
  if (status == 503) return true;
  if (exchange.is_opening() && status == 404) return true;
  return exchange.has_no_effect() && (status == 502 || status == 504);
}

/// How long to wait for a stream that has brought nothing. The time doubles.
Milliseconds next_wait_of(const HttpExchange& stream) {
  return std::clamp(2 * stream.resume_wait, limits::kHttpStreamWaitMin, limits::kHttpStreamWaitMax);
}

Milliseconds wait_asked_by(const HttpExchange& exchange, Now now) {
  const auto asked = retry_after(header_value(exchange.headers, "retry-after"), now.wall);
  return asked.value_or(Milliseconds{});
}

}  // namespace

/// The response has ended, or nothing more of it is wanted.
void Responses::on_over(ExchangePtr exchange, Now now) {
  // Some servers on Windows write a byte order mark.
  if (exchange->body.starts_with("\xEF\xBB\xBF")) exchange->body.erase(0, 3);
  const Kind kind = exchange->kind;
  const bool has_succeeded = is_success(exchange->status);
  if (exchange->is_redirected()) {
    if (redirect(std::move(exchange), now)) return;
  } else if (kind == Kind::probe) {
    const OwnedLine line(as_wire_line(std::move(exchange->body)));
    const Message* const message = output_.read(line);
    // An answer that is lost shows nothing.
    if (message == nullptr || message->kind != Message::Kind::result) return;
    if (exchange->is_stateless) session_.learn_tools(message->result);
    if (!probe_.on_result(message->result)) return;
    begin_losing(Of::connection, "it lists other tools than before", now);
  } else if (kind == Kind::stream) {
    on_stream_over(std::move(exchange), now);
  } else if (kind == Kind::request && exchange->events) {
    if (!exchange->has_answer) on_broken(std::move(exchange), "its answer did not come", now);
  } else if (kind == Kind::request && exchange->is_resumed) {
    on_resumption_refused(std::move(exchange), now);
  } else if (kind == Kind::request && has_succeeded) {
    on_body(*exchange, now);
  } else if ((kind == Kind::request || kind == Kind::notification) && !has_succeeded) {
    on_refused(std::move(exchange), now);
  }
  if (kind == Kind::notification) open_stream_once(now);
  if (kind == Kind::end) life_.enter(State::left);
}

/// Follows a redirect that keeps the method and the body (RFC 9110, 15.4.8). Headers, which may be
/// secret, never go to another server. Returns false if the redirect cannot be followed.
bool Responses::redirect(ExchangePtr exchange, Now now) {
  const std::string said = session_.words_for(exchange->status);
  if (life_.is(State::losing)) {
    // What is sent again must go to the next child.
    if (exchange->is_resumed) {
      lose(std::move(exchange), said, now);
    } else if (exchange->kind == Kind::request) {
      output_.refuse(std::move(exchange->line), said);
    }
    return true;
  }
  const std::string_view location = header_value(exchange->headers, "location");
  Url from = session_.url();
  from.target = exchange->target;
  const auto to = resolve_location(from, location);
  // What stands behind the path, or before the host, may be secret.
  const std::string shown = to ? output_.secrets().brief(to->shown(), limits::kAbsenceWhyMax)
                               : std::string("that cannot be read");
  std::string wrong;
  if (exchange->redirects >= limits::kHttpRedirectsMax) {
    wrong = fmt::format(" for the {}th time in a row, the last Location: {}",
                        exchange->redirects + 1, shown);
  } else if (location.empty()) {
    wrong = " without a Location";
  } else if (!to || to->origin() != from.origin()) {
    wrong = fmt::format(
        " and names another server in Location: {}; give --http this URL if it is the right one",
        shown);
  }
  if (!wrong.empty()) {
    if (exchange->kind != Kind::end) output_.answer_error(*exchange, said + wrong);
    return false;
  }
  if (exchange->status == 308) session_.move_to(to->target);
  exchange->target = to->target;
  ++exchange->redirects;
  exchanges_.send(std::move(exchange), now);
  return true;
}

/// A status that says that the daemon did not carry out what it was sent.
void Responses::on_refused(ExchangePtr exchange, Now now) {
  const int status = exchange->status;
  const bool is_request = exchange->kind == Kind::request;
  const std::string said = session_.words_for(status);
  const SessionLoss loss = session_.loss_in(*exchange);
  const Milliseconds asked = wait_asked_by(*exchange, now);
  if (loss == SessionLoss::gone) {
    lose_session(status, now);
    if (is_request) output_.refuse(std::move(exchange->line), said, {}, true);
  } else if (!is_request) {
    const bool is_for_now = exchange->is_refused_for_now();
    if (is_for_now && wait_again(exchange, asked, now)) return;
    const bool may_pass = is_for_now || status >= 500;
    if (may_pass && repeat(exchange, std::max(asked, limits::kHttpRetryMin), now)) return;
    output_.log(Level::warn, fmt::format("{} to a notification or an answer: {}", said,
                                         body_words(exchange->body, {}, output_.secrets())));
  } else if (loss == SessionLoss::already_open) {
    output_.answer_error(
        *exchange, "the server serves one session only and has one already; restart the server");
  } else if (is_away(*exchange)) {
    refuse(std::move(exchange), said, life_.next_wait(now, asked));
  } else if (status == 502 || status == 504) {
    lose(std::move(exchange), said, now);
  } else if (asks_for_other_headers(*exchange)) {
    // The parameters that are repeated in headers may have changed since the tools were listed.
    exchange->has_new_headers = true;
    outbox_.push_front(std::move(exchange));
    probe_.on_headers_refused();
  } else {
    answer_refused(*exchange, said);
  }
}

/// Passes the error of the daemon on, or says what the daemon has answered instead of one.
void Responses::answer_refused(const HttpExchange& exchange, const std::string& said) {
  const std::string_view challenge = header_value(exchange.headers, "www-authenticate");
  const std::string words = exchange.words(output_.secrets());
  if (exchange.status == 401 || exchange.status == 403) {
    output_.answer_error(
        exchange, fmt::format("{}{}{}{}{}; give the server what it asks for with --header-env "
                              "NAME=VARIABLE or --header NAME=VALUE",
                              said, challenge.empty() ? "" : ", WWW-Authenticate: ",
                              output_.secrets().brief(challenge, limits::kChallengeBytesMax),
                              words.empty() ? "" : ": ", words));
  } else if (const auto refusal = rpc_error(exchange.body)) {
    output_.pass_error(exchange, refusal->error);
  } else {
    // A daemon of an earlier era does not know the request, which the client takes from this code.
    const bool is_era = exchange.asks == Asks::discovery && exchange.status < 500;
    output_.answer_error(exchange, words.empty() ? said : fmt::format("{}: {}", said, words),
                         is_era ? ErrorCode::method_not_found : ErrorCode::internal_error);
  }
}

/// The daemon does not give the rest of an answer, at least not now.
void Responses::on_resumption_refused(ExchangePtr exchange, Now now) {
  const int status = exchange->status;
  const std::string why =
      is_success(status)
          ? "the rest of its answer did not come"
          : fmt::format("the rest of its answer was refused with {}", status_line(status));
  // With 409, the daemon has not seen yet that the stream is broken.
  if (is_success(status) || status == 409 || status == 429 || (status >= 502 && status <= 504)) {
    return on_broken(std::move(exchange), why, now);
  }
  // What is sent again must go to the next session.
  if (session_.loss_in(*exchange) == SessionLoss::gone) lose_session(status, now);
  lose(std::move(exchange), why, now);
}

/// The stream of a session has ended, or was refused.
void Responses::on_stream_over(ExchangePtr exchange, Now now) {
  const int status = exchange->status;
  const bool is_busy = status == 409 || status == 429 || status >= 500;
  const bool had_stream = session_.had_stream();
  if (exchange->events) {
    // It goes on where it was.
    if (life_.is_up()) take_up_later(std::move(exchange), {}, now);
  } else if (had_stream && session_.loss_in(*exchange) == SessionLoss::gone) {
    lose_session(status, now);
  } else if (status != 405 && status != 501 && (had_stream || is_busy)) {
    const Milliseconds wait = is_busy ? next_wait_of(*exchange) : limits::kHttpStreamWaitMax;
    const Milliseconds at_least = std::max(wait_asked_by(*exchange, now), wait);
    take_up_later(std::move(exchange), at_least, now);
  } else if (status != 405 && status != 404) {
    output_.log(Level::info, fmt::format("the server gives no stream: {}", status_line(status)));
  }
}

/// Nothing of the exchange was sent.
void Responses::on_unreachable(ExchangePtr exchange, const fact::HttpFailed& fact, Now now) {
  const bool is_restarted = fact.kind == fact::HttpFailed::Kind::other_listener;
  const bool is_request = exchange->kind == Kind::request;
  if (fact.kind == fact::HttpFailed::Kind::no_descriptor && life_.is_up()) {
    return on_no_descriptor(std::move(exchange), fact.reason, now);
  }
  // If the daemon can be started here, a child that is lost before its first answer makes way for
  // the next one, which starts it.
  const bool may_start = options_.may_start && !process_.runs();
  if (is_request && !is_restarted && !session_.is_heard() && !may_start && life_.is_up()) {
    return refuse(std::move(exchange), fact.reason, life_.next_wait(now));
  }
  begin_losing(Of::connection, is_restarted ? "another process listens now" : fact.reason, now);
  if (!is_request) return;
  if (exchange->is_resumed) {
    lose(std::move(exchange), fact.reason, now);
  } else {
    output_.refuse(std::move(exchange->line), fact.reason);
  }
}

/// A descriptor is free again when another exchange has ended.
void Responses::on_no_descriptor(ExchangePtr exchange, const std::string& why, Now now) {
  if (exchange->is_resumed || exchange->kind == Kind::stream) {
    take_up_later(std::move(exchange), {}, now);
  } else if (exchange->kind == Kind::request) {
    refuse(std::move(exchange), why, life_.next_wait(now));
  } else if (exchange->kind == Kind::notification && !wait_again(exchange, {}, now)) {
    output_.log(Level::warn, fmt::format("a notification or an answer is lost: {}", why));
  }
}

/// The response ended before its answer. The daemon may still have the rest of it. If its process
/// has exited, the exit says more.
void Responses::on_broken(ExchangePtr exchange, std::string why, Now now) {
  if (exchange->is_cancelled) return;
  const bool is_empty = exchange->is_resumed && !exchange->has_event;
  exchange->empty_resumes = is_empty ? exchange->empty_resumes + 1 : 0;
  const bool may_resume = !exchange->is_stateless && !exchange->last_event_id.empty() &&
                          exchange->empty_resumes < kHttpEmptyResumesMax;
  if (life_.is_up() && (exchange->is_listen() || may_resume)) {
    exchange->is_resumed = !exchange->is_listen();
    take_up_later(std::move(exchange), {}, now);
  } else if (life_.is_up() && (process_.runs() || process_.has_exited())) {
    exchanges_.judge_later(std::move(exchange), std::move(why), now);
  } else if (!life_.is(State::dying)) {
    lose(std::move(exchange), std::move(why), now);
  }
}

/// Opens the stream on which the daemon speaks without being asked. The client's first notification
/// says that the session is open.
void Responses::open_stream_once(Now now) {
  if (life_.is_up() && session_.ask_for_stream()) {
    exchanges_.send(session_.new_exchange(Kind::stream), now);
  }
}

/// A notification or an answer was not taken, and is sent again for as long as a request would wait
/// for the daemon. False if this time is over.
bool Responses::wait_again(ExchangePtr& exchange, Milliseconds asked, Now now) {
  // Progress that comes meanwhile says more.
  if (!life_.is_up() || exchange->asks == Asks::progress) return false;
  if (!exchange->until) {
    // An opening may be part of what waits.
    exchange->until = now.steady + std::max(options_.wait_for_server, limits::kHttpOpeningWaitMin);
  }
  if (is_due(exchange->until, now) || !exchanges_.has_room_later(*exchange)) return false;
  const Instant at = now.steady + std::max({asked, limits::kHttpRetryMin, life_.next_wait(now)});
  const Instant until = *exchange->until;
  exchanges_.send_later(std::move(exchange), std::min(at, until));
  return true;
}

/// False if it is not to be sent again. The first time it goes at once, if nothing asks for a wait.
bool Responses::repeat(ExchangePtr& exchange, Milliseconds at_least, Now now) {
  if (exchange->repeats_left == 0 || !life_.is_up()) return false;
  const int before = limits::kHttpAnswerRepeatsMax - exchange->repeats_left--;
  const Milliseconds wait = std::max(at_least, before * limits::kHttpStreamWaitMin);
  if (wait == Milliseconds::zero()) {
    outbox_.push_front(std::move(exchange));
  } else {
    exchanges_.send_later(std::move(exchange), now.steady + wait);
  }
  return true;
}

/// Asks for the stream again after the time that the daemon has asked for. Otherwise the time
/// doubles as long as nothing comes.
void Responses::take_up_later(ExchangePtr exchange, Milliseconds at_least, Now now) {
  if (exchange->has_event) exchange->resume_wait = {};
  const Milliseconds wait =
      exchange->retry ? std::max(*exchange->retry, limits::kHttpRetryMin) : next_wait_of(*exchange);
  exchange->resume_wait = std::max(wait, at_least);
  const Instant at = now.steady + exchange->resume_wait;
  exchanges_.send_later(std::move(exchange), at);
}

/// The request was not carried out, since the daemon is away for a while. What waits behind it
/// would be refused as well.
void Responses::refuse(ExchangePtr exchange, const std::string& why, Milliseconds again_after) {
  output_.refuse(std::move(exchange->line), why, again_after);
  outbox_.refuse_requests(output_, why, again_after);
}

/// The request may have been carried out.
void Responses::lose(ExchangePtr exchange, std::string why, Now now) {
  if (exchange->has_no_effect()) {
    refuse(std::move(exchange), why, life_.next_wait(now));
  } else if (!life_.is(State::losing)) {
    // Otherwise the end of the child, which follows, says so. What is sent again goes to the next.
    output_.lose(std::move(exchange->line), std::move(why));
  }
}

void Responses::lose_session(int status, Now now) {
  begin_losing(Of::session, fmt::format("it answers {}", status_line(status)), now);
}

}  // namespace sitter
