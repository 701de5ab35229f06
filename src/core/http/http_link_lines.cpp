#include <fmt/format.h>

#include <algorithm>

#include "core/base/raw_id.hpp"
#include "core/http/header_lines.hpp"
#include "core/http/http_link.hpp"
#include "core/http/http_link_limits.hpp"
#include "core/http/http_words.hpp"
#include "sitter/limits.hpp"

/// The lines for the daemon, their turns, and how they are sent.
namespace sitter {

using Verb = order::HttpSend::Method;

namespace {

bool is_get(const HttpExchange& exchange) {
  return exchange.kind == HttpExchange::Kind::stream || exchange.is_resumed;
}

HttpExchange::Asks asked_by(const Message& message) {
  using Asks = HttpExchange::Asks;
  switch (message.method) {
    case Method::initialize:
      return Asks::opening;
    case Method::server_discover:
      return Asks::discovery;
    case Method::subscriptions_listen:
      return Asks::stream;
    case Method::tools_list:
      return message.params.cursor.empty() ? Asks::first_tools : Asks::more_tools;
    default:
      return Asks::other;
  }
}

}  // namespace

void HttpLink::take_line(OwnedLine line, const Message& message) {
  if (message.method == Method::cancelled && message.kind == Message::Kind::notification) {
    cancel(message, std::move(line));
    return;
  }
  // It must not overtake what has been refused before it.
  if (const auto refusal = untold_refusal(); refusal && message.kind == Message::Kind::request) {
    facts_.push_back({*refusal, std::move(line)});
    return;
  }
  // A ping asks whether the daemon lives, and not whether it is busy. Progress of the client
  // belongs to a question of the server, as its answer does.
  const bool is_urgent =
      message.is_answer() || message.method == Method::progress || message.method == Method::ping;
  ExchangePtr exchange = as_exchange(message, std::move(line));
  if (outbox_.size() + express_.size() + exchange->line.size() > limits::kHttpOutboxMax) {
    answer_error(*exchange, fmt::format("{} bytes already wait for their turn at the server, so "
                                        "this was not accepted; try again later",
                                        outbox_.size() + express_.size()));
    return;
  }
  (is_urgent ? express_ : outbox_).push_back(std::move(exchange));
}

ExchangePtr HttpLink::new_exchange(Kind kind) const {
  auto exchange = std::make_unique<HttpExchange>();
  exchange->kind = kind;
  exchange->target = target_.empty() ? options_.url.target : target_;
  return exchange;
}

ExchangePtr HttpLink::as_exchange(const Message& message, OwnedLine line) {
  ExchangePtr exchange =
      new_exchange(message.kind == Message::Kind::request ? Kind::request : Kind::notification);
  exchange->id = message.id;
  exchange->asks = asked_by(message);
  if (message.is_answer()) exchange->repeats_left = limits::kHttpAnswerRepeatsMax;
  exchange->is_stateless = message.params.has_envelope();
  if (exchange->is_stateless) {
    envelope_ = envelope_of(message.params);
    exchange->mirrored = mirrored_headers(message);
    if (message.method == Method::tools_call) {
      for (HttpHeader& header : tool_headers_.headers(message.params_raw)) {
        exchange->mirrored.push_back(std::move(header));
      }
    }
  }
  exchange->line = std::move(line);
  return exchange;
}

/// A request that has not been sent needs no cancellation. A client of the stateless revision
/// cancels by closing the stream of the response. In a session the response may still bring other
/// messages, so it has a moment to end.
void HttpLink::cancel(const Message& message, OwnedLine line) {
  const std::string id(message.params.request_id);
  if (outbox_.erase(id)) return;
  const auto is_meant = [&](const HttpExchange& exchange) {
    return exchange.kind == Kind::request && !exchange.has_answer && same_id(exchange.id, id);
  };
  std::erase_if(later_, [&](const Later& later) { return is_meant(*later.exchange); });
  std::erase_if(unjudged_, [&](const auto& entry) { return is_meant(*entry.first); });
  const auto meant = std::find_if(exchanges_.begin(), exchanges_.end(),
                                  [&](const ExchangePtr& sent) { return is_meant(*sent); });
  if (meant != exchanges_.end() && (*meant)->is_stateless) {
    abort((*meant)->number);
    return;
  }
  if (meant != exchanges_.end()) {
    (*meant)->is_cancelled = true;
    (*meant)->over_by = now_.steady + limits::kHttpUselessWait;
  }
  // The session is that of an earlier revision, or the request has its answer already.
  if (!session_.lines().empty()) {
    ExchangePtr exchange = new_exchange(Kind::notification);
    exchange->line = std::move(line);
    express_.push_back(std::move(exchange));
  }
}

/// How many requests still have an answer to come, but for those that are streams.
std::size_t HttpLink::request_count() const {
  const auto counts = [](const HttpExchange& exchange) {
    return exchange.kind == Kind::request && !exchange.is_listen() && !exchange.has_answer &&
           !exchange.is_cancelled;
  };
  const auto sent = std::count_if(exchanges_.begin(), exchanges_.end(),
                                  [&](const ExchangePtr& one) { return counts(*one); });
  const auto resumed = std::count_if(later_.begin(), later_.end(),
                                     [&](const Later& later) { return counts(*later.exchange); });
  return static_cast<std::size_t>(sent + resumed);
}

/// Whether what was sent must be taken before anything else is sent.
bool HttpLink::holds() const {
  const auto is_held_for = [](const HttpExchange& exchange) {
    return exchange.kind == Kind::probe ||
           (exchange.kind == Kind::notification && !is_success(exchange.status));
  };
  return std::any_of(exchanges_.begin(), exchanges_.end(),
                     [&](const ExchangePtr& sent) { return is_held_for(*sent); }) ||
         std::any_of(later_.begin(), later_.end(),
                     [&](const Later& later) { return is_held_for(*later.exchange); });
}

void HttpLink::send_what_may() {
  while (!express_.is_empty() && !holds()) send(express_.pop_front());
  while (!outbox_.is_empty() && !holds()) {
    HttpExchange& next = outbox_.front();
    const bool is_request = next.kind == Kind::request;
    if (is_request && must_probe()) {
      probe();
      return;
    }
    const bool has_room =
        !is_request || next.is_listen() || request_count() < limits::kHttpRequestsMax;
    if (!has_room) return;
    if (next.has_new_headers) refresh_headers(next);
    send(outbox_.pop_front());
  }
}

/// False if it is not to be sent again. The first time it goes at once, if nothing asks for a wait.
bool HttpLink::repeat(ExchangePtr& exchange, Milliseconds at_least) {
  if (exchange->repeats_left == 0 || state_ != State::up) return false;
  const int before = limits::kHttpAnswerRepeatsMax - exchange->repeats_left--;
  const Milliseconds wait = std::max(at_least, before * limits::kHttpStreamWaitMin);
  if (wait == Milliseconds::zero()) {
    express_.push_front(std::move(exchange));
  } else {
    later_.push_back({now_.steady + wait, std::move(exchange)});
  }
  return true;
}

void HttpLink::send(ExchangePtr exchange) {
  if (exchange->number != ExchangeId{}) exchange->forget_response();
  exchange->number = ExchangeId{++last_exchange_};
  orders_.push_back({.exchange = exchange->number});
  exchange->over_by.reset();
  if (exchange->kind == Kind::notification)
    exchange->over_by = now_.steady + limits::kHttpTakenWait;
  // What waits for the probe then goes on.
  if (exchange->kind == Kind::probe) exchange->over_by = now_.steady + limits::kToolsListWait;
  exchanges_.push_back(std::move(exchange));
}

void HttpLink::write_order(const HttpExchange& exchange) {
  auto& order = std::get<order::HttpSend>(polled_send_);
  order.exchange = exchange.number;
  order.method = is_get(exchange) ? Verb::get : exchange.kind == Kind::end ? Verb::del : Verb::post;
  order.target = exchange.target;
  order.headers.clear();
  append_headers(order.headers, exchange);
  order.body.clear();
  if (order.method == Verb::post) order.body = exchange.line.text();
  order.listener = listener_;
}

void HttpLink::append_headers(std::string& lines, const HttpExchange& exchange) const {
  if (is_get(exchange)) {
    append_header(lines, "Accept", "text/event-stream");
    if (!exchange.last_event_id.empty()) {
      append_header(lines, "Last-Event-ID", exchange.last_event_id);
    }
  } else if (exchange.kind != Kind::end) {
    lines.append(
        "Content-Type: application/json\r\n"
        "Accept: application/json, text/event-stream\r\n");
  }
  if (!exchange.is_opening() && !exchange.is_stateless) lines.append(session_.lines());
  for (const HttpHeader& header : exchange.mirrored) {
    append_header(lines, header.name, header.value);
  }
  lines.append(constant_headers_);
}

/// Opens the stream on which the daemon speaks without being asked. The client's first notification
/// says that the session is open.
void HttpLink::open_stream_once() {
  if (state_ != State::up || session_.version().empty() || has_asked_stream_) return;
  has_asked_stream_ = true;
  send(new_exchange(Kind::stream));
}

}  // namespace sitter
