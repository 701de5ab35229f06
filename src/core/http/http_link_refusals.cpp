#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.hpp"
#include "core/http/http_link.hpp"
#include "core/http/http_words.hpp"
#include "core/http/session_loss.hpp"
#include "core/wire/protocol.hpp"
#include "core/wire/reply.hpp"
#include "sitter/limits.hpp"

namespace sitter {

using Level = order::Log::Level;
using Of = fact::ChildLost::Of;

namespace {

/// Whether a call was refused because of its headers for the first time (2026-07-28, "Custom
/// Headers from Tool Parameters").
bool asks_for_other_headers(const HttpExchange& exchange) {
  if (exchange.kind != HttpExchange::Kind::request || !exchange.is_stateless ||
      exchange.has_new_headers) {
    return false;
  }
  const auto refusal = rpc_error(exchange.body);
  return refusal && has_code(refusal->error, ErrorCode::header_mismatch);
}

/// Whether the daemon behind this status may come back soon. An opening has no effect that could be
/// doubled.
bool is_away(int status, bool is_opening) {
  if (status == 503) return true;
  return is_opening && (status == 404 || status == 502 || status == 504);
}

}  // namespace

SessionLoss HttpLink::loss_in(const HttpExchange& exchange) const {
  const SessionLoss loss =
      session_loss({exchange.status, !session_id_.empty() && !exchange.is_opening, exchange.body,
                    header_value(exchange.headers, "www-authenticate")});
  const bool may_have_session = !exchange.is_opening && !exchange.is_stateless;
  return loss == SessionLoss::gone && !may_have_session ? SessionLoss::none : loss;
}

std::string HttpLink::words_for(int status) const {
  return fmt::format("{} answers {}", options_.url.origin(), status_line(status));
}

/// A status that says that the daemon did not carry out what it was sent.
void HttpLink::on_refused_status(HttpExchange exchange) {
  const int status = exchange.status;
  const std::string said = words_for(status);
  const SessionLoss loss = loss_in(exchange);
  if (loss == SessionLoss::gone) {
    begin_losing(Of::session, fmt::format("it answers {}", status_line(status)));
    refuse(std::move(exchange), said, {}, true);
  } else if (exchange.kind == Kind::notification && status == 503 && state_ == State::up) {
    // It was not taken, so it still comes before what follows it.
    const Milliseconds wait = next_wait();
    refuse_waiting(said, wait);
    later_.push_back({now_.steady + wait, std::move(exchange)});
  } else if (exchange.kind == Kind::notification) {
    log(Level::warn,
        fmt::format("{} to a notification or an answer: {}", said, body_words(exchange.body, {})));
  } else if (loss == SessionLoss::already_open) {
    answer_error(exchange,
                 "the server serves one session only and has one already; restart the server");
  } else if (is_away(status, exchange.is_opening)) {
    const auto asked = retry_after(header_value(exchange.headers, "retry-after"), now_.wall);
    refuse(std::move(exchange), said, next_wait(asked.value_or(Milliseconds{})));
  } else if (status == 502 || status == 504) {
    lose(std::move(exchange), said);
  } else if (asks_for_other_headers(exchange)) {
    // The parameters that are repeated in headers may have changed since the tools were listed.
    exchange.has_new_headers = true;
    outbox_.push_front({std::move(exchange), true});
    doubts_lists_ = true;
  } else {
    answer_refused(exchange, said);
  }
}

/// The daemon does not give the rest of an answer, at least not now.
void HttpLink::on_refused_resumption(HttpExchange exchange) {
  const int status = exchange.status;
  const std::string why =
      fmt::format("the rest of its answer was refused with {}", status_line(status));
  if (status >= 502 && status <= 504) {
    on_broken(std::move(exchange), why);
    return;
  }
  // What is sent again must go to the next session.
  if (loss_in(exchange) == SessionLoss::gone) {
    begin_losing(Of::session, fmt::format("it answers {}", status_line(status)));
  }
  lose(std::move(exchange), why);
}

/// Passes the error of the daemon on, or says what the daemon has answered instead of one.
void HttpLink::answer_refused(const HttpExchange& exchange, std::string_view said) {
  const std::string_view challenge = header_value(exchange.headers, "www-authenticate");
  if (exchange.status == 401 || exchange.status == 403) {
    answer_error(exchange, fmt::format("{}{}{}; give the server what it asks for with --header-env "
                                       "NAME=VARIABLE or --header NAME=VALUE",
                                       said, challenge.empty() ? "" : ", WWW-Authenticate: ",
                                       challenge_words(challenge)));
  } else if (const auto refusal = rpc_error(exchange.body)) {
    tell_line(OwnedLine(as_wire_line(error_line(exchange.id, refusal->error))));
  } else {
    const std::string words =
        body_words(exchange.body, header_value(exchange.headers, "content-type"));
    answer_error(exchange, words.empty() ? std::string(said) : fmt::format("{}: {}", said, words));
  }
}

/// Follows a redirect that keeps the method and the body (RFC 9110, 15.4.8). Headers, which may be
/// secret, never go to another server.
void HttpLink::redirect(HttpExchange exchange) {
  const std::string said = words_for(exchange.status);
  const std::string_view location = header_value(exchange.headers, "location");
  const std::string shown = brief(location, limits::kAbsenceWhyMax);
  const auto give_up = [&](const std::string& why) {
    if (exchange.kind == Kind::end) {
      on_left();
    } else {
      answer_error(exchange, why);
    }
  };
  Url from = options_.url;
  from.target = exchange.target;
  const auto to = resolve_location(from, location);
  if (exchange.redirects >= limits::kHttpRedirectsMax) {
    give_up(fmt::format("{} for the {}th time in a row, the last Location: {}", said,
                        exchange.redirects + 1, shown));
  } else if (location.empty()) {
    give_up(said + " without a Location");
  } else if (!to || to->origin() != options_.url.origin()) {
    give_up(
        fmt::format("{} and names another server in Location: {}; give --http this URL if it "
                    "is the right one",
                    said, shown));
  } else {
    if (exchange.status == 308) target_ = to->target;
    exchange.target = to->target;
    ++exchange.redirects;
    send(std::move(exchange));
  }
}

/// The request was not carried out. With `again_after` the daemon is only away for a while, and
/// what waits behind the request would be refused as well.
void HttpLink::refuse(HttpExchange exchange, std::string why,
                      std::optional<Milliseconds> again_after, bool is_unknown_session) {
  if (exchange.kind != Kind::request) return;
  facts_.push_back({fact::RequestRefused{gen_, {}, why, again_after, is_unknown_session},
                    std::move(exchange.line)});
  if (again_after) refuse_waiting(why, *again_after);
}

void HttpLink::refuse_waiting(const std::string& why, Milliseconds again_after) {
  std::deque<Waiting> kept;
  for (Waiting& waiting : std::exchange(outbox_, {})) {
    if (waiting.is_request) {
      facts_.push_back(
          {fact::RequestRefused{gen_, {}, why, again_after}, std::move(waiting.exchange.line)});
    } else {
      kept.push_back(std::move(waiting));
    }
  }
  outbox_ = std::move(kept);
}

/// The request may have been carried out. An opening has no effect that could be doubled, so it is
/// tried again.
void HttpLink::lose(HttpExchange exchange, std::string why) {
  if (exchange.is_opening) {
    refuse(std::move(exchange), std::move(why), next_wait());
    return;
  }
  // Otherwise the end of the child, which follows, says so. What is sent again goes to the next.
  if (state_ == State::losing) return;
  facts_.push_back({fact::RequestLost{gen_, {}, std::move(why)}, std::move(exchange.line)});
}

/// Answers a request with an error of our own; a lost notification is only logged.
void HttpLink::answer_error(const HttpExchange& exchange, std::string_view message) {
  if (exchange.kind != Kind::request) {
    log(Level::warn, std::string(message));
    return;
  }
  tell_line(OwnedLine(error_line(exchange.id, ErrorCode::internal_error,
                                 fmt::format("{}{}", kOwnErrorPrefix, message))));
}

}  // namespace sitter
