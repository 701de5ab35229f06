#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.hpp"
#include "core/http/http_link.hpp"
#include "core/http/http_link_limits.hpp"
#include "core/http/http_words.hpp"
#include "core/http/session_loss.hpp"
#include "core/wire/protocol.hpp"
#include "core/wire/reply.hpp"

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

/// Whether the daemon behind this status may come back soon.
bool is_away(int status, const HttpExchange& exchange) {
  if (status == 503) return true;
  if (exchange.is_opening() && status == 404) return true;
  return exchange.has_no_effect() && (status == 502 || status == 504);
}

}  // namespace

SessionLoss HttpLink::loss_in(const HttpExchange& exchange) const {
  const SessionLoss loss =
      session_loss({exchange.status, !session_.id().empty() && !exchange.is_opening(),
                    exchange.body, header_value(exchange.headers, "www-authenticate")});
  const bool is_possible = loss == SessionLoss::already_open
                               ? exchange.is_opening()
                               : !exchange.is_opening() && !exchange.is_stateless;
  return is_possible ? loss : SessionLoss::none;
}

std::string HttpLink::words_for(int status) const {
  return fmt::format("{} answers {}", options_.url.shown(), status_line(status));
}

/// A status that says that the daemon did not carry out what it was sent.
void HttpLink::on_refused_status(ExchangePtr exchange) {
  const int status = exchange->status;
  const std::string said = words_for(status);
  const SessionLoss loss = loss_in(*exchange);
  const Milliseconds asked = retry_after(header_value(exchange->headers, "retry-after"), now_.wall)
                                 .value_or(Milliseconds{});
  if (loss == SessionLoss::gone) {
    begin_losing(Of::session, fmt::format("it answers {}", status_line(status)));
    refuse(std::move(exchange), said, {}, true);
  } else if (exchange->kind == Kind::notification && status == 503 && state_ == State::up) {
    // It was not taken, so it still comes before what follows it.
    const Milliseconds wait = next_wait(asked);
    refuse_waiting(said, wait);
    later_.push_back({now_.steady + wait, std::move(exchange)});
  } else if (exchange->kind == Kind::notification) {
    const bool may_pass = status == 429 || status >= 500;
    if (may_pass && repeat(exchange, std::max(asked, limits::kHttpRetryMin))) return;
    log(Level::warn,
        fmt::format("{} to a notification or an answer: {}", said, body_words(exchange->body, {})));
  } else if (loss == SessionLoss::already_open) {
    answer_error(*exchange,
                 "the server serves one session only and has one already; restart the server");
  } else if (is_away(status, *exchange)) {
    refuse(std::move(exchange), said, next_wait(asked));
  } else if (status == 502 || status == 504) {
    lose(std::move(exchange), said);
  } else if (asks_for_other_headers(*exchange)) {
    // The parameters that are repeated in headers may have changed since the tools were listed.
    exchange->has_new_headers = true;
    outbox_.push_front(std::move(exchange));
    doubt_ = Doubt::headers;
  } else {
    answer_refused(*exchange, said);
  }
}

/// The daemon does not give the rest of an answer, at least not now.
void HttpLink::on_refused_resumption(ExchangePtr exchange) {
  const int status = exchange->status;
  const std::string why =
      is_success(status)
          ? "the rest of its answer did not come"
          : fmt::format("the rest of its answer was refused with {}", status_line(status));
  // With 409, the daemon has not seen yet that the stream is broken.
  if (is_success(status) || status == 409 || status == 429 || (status >= 502 && status <= 504)) {
    on_broken(std::move(exchange), why);
    return;
  }
  // What is sent again must go to the next session.
  if (loss_in(*exchange) == SessionLoss::gone) {
    begin_losing(Of::session, fmt::format("it answers {}", status_line(status)));
  }
  lose(std::move(exchange), why);
}

/// Passes the error of the daemon on, or says what the daemon has answered instead of one.
void HttpLink::answer_refused(const HttpExchange& exchange, std::string_view said) {
  const std::string_view challenge = header_value(exchange.headers, "www-authenticate");
  const std::string words =
      body_words(exchange.body, header_value(exchange.headers, "content-type"));
  if (exchange.status == 401 || exchange.status == 403) {
    answer_error(exchange,
                 fmt::format("{}{}{}{}{}; give the server what it asks for with --header-env "
                             "NAME=VARIABLE or --header NAME=VALUE",
                             said, challenge.empty() ? "" : ", WWW-Authenticate: ",
                             challenge_words(challenge), words.empty() ? "" : ": ", words));
  } else if (const auto refusal = rpc_error(exchange.body)) {
    tell_line(OwnedLine(as_wire_line(secrets_.masked(error_line(exchange.id, refusal->error)))));
  } else {
    const std::string text = words.empty() ? std::string(said) : fmt::format("{}: {}", said, words);
    // A daemon of an earlier era does not know the request, which the client takes from this code.
    const bool is_era = exchange.asks == Asks::discovery && exchange.status < 500;
    answer_error(exchange, text, is_era ? ErrorCode::method_not_found : ErrorCode::internal_error);
  }
}

/// Follows a redirect that keeps the method and the body (RFC 9110, 15.4.8). Headers, which may be
/// secret, never go to another server.
void HttpLink::redirect(ExchangePtr exchange) {
  const std::string said = words_for(exchange->status);
  const std::string_view location = header_value(exchange->headers, "location");
  const auto give_up = [&](const std::string& why) {
    if (exchange->kind == Kind::end) {
      on_left();
    } else {
      answer_error(*exchange, why);
      if (exchange->kind == Kind::notification) open_stream_once();
    }
  };
  Url from = options_.url;
  from.target = exchange->target;
  const auto to = resolve_location(from, location);
  // What stands behind the path, or before the host, may be secret.
  const std::string shown =
      to ? brief(to->shown(), limits::kAbsenceWhyMax) : std::string("that cannot be read");
  if (state_ == State::losing) {
    // What is sent again must go to the next child.
    if (exchange->is_resumed) {
      lose(std::move(exchange), said);
    } else {
      refuse(std::move(exchange), said, {});
    }
  } else if (exchange->redirects >= limits::kHttpRedirectsMax) {
    give_up(fmt::format("{} for the {}th time in a row, the last Location: {}", said,
                        exchange->redirects + 1, shown));
  } else if (location.empty()) {
    give_up(said + " without a Location");
  } else if (!to || to->origin() != options_.url.origin()) {
    give_up(
        fmt::format("{} and names another server in Location: {}; give --http this URL if it "
                    "is the right one",
                    said, shown));
  } else {
    if (exchange->status == 308) target_ = to->target;
    exchange->target = to->target;
    ++exchange->redirects;
    send(std::move(exchange));
  }
}

/// The request was not carried out. With `again_after` the daemon is only away for a while, and
/// what waits behind the request would be refused as well.
void HttpLink::refuse(ExchangePtr exchange, std::string why,
                      std::optional<Milliseconds> again_after, bool is_unknown_session) {
  if (exchange->kind != Kind::request) return;
  why = secrets_.masked(std::move(why));
  facts_.push_back({fact::RequestRefused{gen_, {}, why, again_after, is_unknown_session},
                    std::move(exchange->line)});
  if (again_after) refuse_waiting(why, *again_after);
}

void HttpLink::refuse_waiting(const std::string& why, Milliseconds again_after) {
  for (ExchangePtr& waiting : outbox_.take_all()) {
    if (waiting->kind == Kind::request) {
      facts_.push_back(
          {fact::RequestRefused{gen_, {}, why, again_after}, std::move(waiting->line)});
    } else {
      outbox_.push_back(std::move(waiting));
    }
  }
}

/// Nothing that was not sent had an effect. Notifications are dropped with their session.
void HttpLink::refuse_unsent(const std::string& why) {
  for (Outbox* const box : {&express_, &outbox_}) {
    for (ExchangePtr& waiting : box->take_all()) refuse(std::move(waiting), why, {});
  }
}

/// The child has ended, and the bridge does not know it yet. It is told before the end that the
/// line was not sent.
void HttpLink::refuse_late(OwnedLine line) {
  const auto end = std::find_if(facts_.begin(), facts_.end(), [](const Told& told) {
    return std::holds_alternative<fact::ChildLost>(told.fact);
  });
  const Message* const message = read(line);
  if (end == facts_.end() || message == nullptr || message->kind != Message::Kind::request) return;
  const std::string why = std::get<fact::ChildLost>(end->fact).why;
  facts_.insert(end, {fact::RequestRefused{gen_, {}, why}, std::move(line)});
}

/// The last refusal of a daemon that is away for a while, if the bridge has not read it yet.
std::optional<fact::RequestRefused> HttpLink::untold_refusal() const {
  const auto found = std::find_if(facts_.rbegin(), facts_.rend(), [](const Told& told) {
    const auto* const refused = std::get_if<fact::RequestRefused>(&told.fact);
    return refused != nullptr && refused->again_after;
  });
  if (found == facts_.rend()) return std::nullopt;
  fact::RequestRefused refusal = std::get<fact::RequestRefused>(found->fact);
  refusal.is_unknown_session = false;
  return refusal;
}

/// The request may have been carried out.
void HttpLink::lose(ExchangePtr exchange, std::string why) {
  if (exchange->has_no_effect()) {
    refuse(std::move(exchange), std::move(why), next_wait());
    return;
  }
  // Otherwise the end of the child, which follows, says so. What is sent again goes to the next.
  if (state_ == State::losing) return;
  facts_.push_back(
      {fact::RequestLost{gen_, {}, secrets_.masked(std::move(why))}, std::move(exchange->line)});
}

/// Answers a request with an error of our own; a lost notification is only logged.
void HttpLink::answer_error(const HttpExchange& exchange, std::string_view message,
                            ErrorCode code) {
  if (exchange.kind != Kind::request) {
    log(Level::warn, std::string(message));
    return;
  }
  tell_line(OwnedLine(error_line(exchange.id, code,
                                 secrets_.masked(fmt::format("{}{}", kOwnErrorPrefix, message)))));
}

}  // namespace sitter
