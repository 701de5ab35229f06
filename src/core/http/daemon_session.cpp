#include "core/http/daemon_session.hpp"

#include <cassert>

#include "core/base/ascii.hpp"

namespace sitter {

using Kind = HttpExchange::Kind;
using Verb = order::HttpSend::Method;

namespace {

/// Appends a header as a line of HTTP/1.1 (RFC 9112, 5). Whoever makes up a header keeps out what
/// would end its line; such a header is left out, since the rest of it could be another one.
void append_header(std::string& lines, std::string_view name, std::string_view value) {
  constexpr std::string_view kBreaks("\r\n\0", 3);
  const bool is_sound =
      name.find_first_of(kBreaks) == name.npos && value.find_first_of(kBreaks) == value.npos;
  assert(is_sound);
  if (is_sound) lines.append(name).append(": ").append(value).append("\r\n");
}

HttpExchange::Asks asked_by(const Message& message) {
  using Asks = HttpExchange::Asks;
  if (message.method == Method::initialize) return Asks::opening;
  if (message.method == Method::server_discover) return Asks::discovery;
  if (message.method == Method::subscriptions_listen) return Asks::stream;
  if (message.method == Method::initialized) return Asks::initialized;
  if (message.method == Method::progress) return Asks::progress;
  if (message.method != Method::tools_list) return Asks::other;
  return message.params.cursor.empty() ? Asks::first_tools : Asks::more_tools;
}

}  // namespace

DaemonSession::DaemonSession(Url url, const std::vector<HttpHeader>& headers,
                             const std::string& sitter_version)
    : url_(std::move(url)), target_(url_.target) {
  bool names_agent = false;
  for (const HttpHeader& header : headers) {
    append_header(constant_headers_, header.name, header.value);
    names_agent = names_agent || ascii_lower(header.name) == "user-agent";
  }
  append_header(constant_headers_, "Accept-Encoding", "identity");
  if (!names_agent) append_header(constant_headers_, "User-Agent", "mcp-sitter/" + sitter_version);
}

ExchangePtr DaemonSession::new_exchange(Kind kind) const {
  auto exchange = std::make_unique<HttpExchange>();
  exchange->kind = kind;
  exchange->target = target_;
  return exchange;
}

ExchangePtr DaemonSession::as_exchange(const Message& message, OwnedLine line) const {
  ExchangePtr exchange =
      new_exchange(message.kind == Message::Kind::request ? Kind::request : Kind::notification);
  exchange->id = message.id;
  exchange->asks = asked_by(message);
  if (message.is_answer()) exchange->repeats_left = limits::kHttpAnswerRepeatsMax;
  exchange->is_stateless = message.params.has_envelope();
  if (exchange->is_stateless) {
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

void DaemonSession::write(order::HttpSend& order, const HttpExchange& exchange) const {
  const bool is_get = exchange.kind == Kind::stream || exchange.is_resumed;
  order.exchange = exchange.number;
  order.method = is_get ? Verb::get : exchange.kind == Kind::end ? Verb::del : Verb::post;
  order.target = exchange.target;
  order.listener = listener_;
  order.body.clear();
  if (order.method == Verb::post) order.body = exchange.line.text();
  std::string& lines = order.headers;
  lines.clear();
  if (is_get) {
    append_header(lines, "Accept", "text/event-stream");
    if (!exchange.last_event_id.empty()) {
      append_header(lines, "Last-Event-ID", exchange.last_event_id);
    }
  } else if (exchange.kind != Kind::end) {
    lines.append(
        "Content-Type: application/json\r\n"
        "Accept: application/json, text/event-stream\r\n");
  }
  if (!exchange.is_opening() && !exchange.is_stateless) lines.append(lines_);
  for (const HttpHeader& header : exchange.mirrored) {
    append_header(lines, header.name, header.value);
  }
  lines.append(constant_headers_);
}

SessionLoss DaemonSession::loss_in(const HttpExchange& exchange) const {
  const SessionLoss loss =
      session_loss({exchange.status, has_id() && !exchange.is_opening(), exchange.body,
                    header_value(exchange.headers, "www-authenticate")});
  const bool is_possible = loss == SessionLoss::already_open
                               ? exchange.is_opening()
                               : !exchange.is_opening() && !exchange.is_stateless;
  return is_possible ? loss : SessionLoss::none;
}

void DaemonSession::make_lines() {
  lines_.clear();
  if (!id_.empty()) append_header(lines_, "Mcp-Session-Id", id_);
  if (!version_.empty()) append_header(lines_, "MCP-Protocol-Version", version_);
}

void DaemonSession::clear() {
  version_.clear();
  open({});
  target_ = url_.target;
  listener_ = kNoListener;
  is_heard_ = false;
  tool_headers_.clear();
}

}  // namespace sitter
