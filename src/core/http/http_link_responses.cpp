#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/base/json_text.hpp"
#include "core/base/raw_id.hpp"
#include "core/base/text.hpp"
#include "core/http/http_link.hpp"
#include "core/http/http_words.hpp"
#include "core/wire/json_view.hpp"
#include "core/wire/protocol.hpp"
#include "core/wire/reply.hpp"
#include "core/wire/salvage.hpp"
#include "sitter/limits.hpp"

namespace sitter {

using Level = order::Log::Level;
using Of = fact::ChildLost::Of;

namespace {

bool is_success(int status) { return status >= 200 && status < 300; }

std::string words_of(const HttpExchange& exchange) {
  return body_words(exchange.body, header_value(exchange.headers, "content-type"));
}

}  // namespace

void HttpLink::on(const fact::HttpConnected& fact) {
  if (exchanges_.erase(fact.exchange) > 0) on_connected(fact.listener);
}

void HttpLink::on(const fact::HttpHead& fact) {
  const auto it = exchanges_.find(fact.exchange);
  if (it == exchanges_.end()) return;
  HttpExchange& exchange = it->second;
  exchange.status = fact.status;
  exchange.headers = fact.headers;
  if (fact.status != 307 && fact.status != 308) exchange.redirects = 0;
  const std::string_view type = header_value(fact.headers, "content-type");
  if (fact.status == 200 && is_event_stream_type(type))
    exchange.events = std::make_unique<SseParser>();
  if (exchange.kind == Kind::stream && exchange.events) had_stream_ = true;
  if (exchange.is_opening && is_success(fact.status)) {
    begin_session(std::string(header_value(fact.headers, "mcp-session-id")));
  }
}

void HttpLink::on(const fact::HttpBytes& fact) {
  const auto it = exchanges_.find(fact.exchange);
  if (it == exchanges_.end()) return;
  HttpExchange& exchange = it->second;
  if (exchange.events) {
    exchange.events->feed(fact.bytes);
    take_events(fact.exchange);
    return;
  }
  const std::size_t max =
      is_success(exchange.status) ? limits::kLineMax : limits::kHttpErrorBodyMax;
  const std::size_t kept = std::min(fact.bytes.size(), max - std::min(max, exchange.body.size()));
  exchange.body.append(fact.bytes.substr(0, kept));
  exchange.body_cut += fact.bytes.size() - kept;
}

void HttpLink::take_events(ExchangeId id) {
  while (true) {
    const auto it = exchanges_.find(id);
    if (it == exchanges_.end()) return;
    HttpExchange& exchange = it->second;
    auto event = exchange.events->next();
    // What an earlier part of the stream has said still holds.
    const std::string& event_id = exchange.events->last_event_id();
    if (!event_id.empty()) exchange.last_event_id = event_id;
    if (const auto retry = exchange.events->retry()) exchange.retry = retry;
    if (!event) return;
    exchange.has_event = true;
    if (event->size > 0) {
      facts_.push_back({fact::ChildLineTooLong{gen_, {}, {}, event->size},
                        {},
                        std::move(event->head),
                        std::move(event->tail)});
    } else if (event->type.empty() || event->type == "message") {
      take_message(exchange, std::move(event->data));
    }
  }
}

/// A message of the daemon. It may be the answer that the exchange waits for.
void HttpLink::take_message(HttpExchange& exchange, std::string data) {
  OwnedLine line(as_wire_line(std::move(data)));
  if (json_trimmed(line.text()).empty()) return;
  failures_ = 0;
  const Message* const message = reader_.read(line.line());
  const bool is_answer = message != nullptr && (message->kind == Message::Kind::result ||
                                                message->kind == Message::Kind::error);
  if (is_answer && exchange.kind == Kind::request && same_id(message->id, exchange.id)) {
    exchange.has_answer = true;
    if (exchange.is_opening && message->kind == Message::Kind::result) {
      protocol_version_ = string_value(member(message->result, "protocolVersion"));
    }
  }
  const bool is_clients = exchange.kind == Kind::request;
  if (is_answer && is_clients && exchange.lists_first_tools) note_tools(message->result);
  if (is_answer && is_clients && exchange.is_stateless && exchange.lists_tools) {
    if (auto kept = without_invalid_tools(*message, line.line())) {
      tell_line(OwnedLine(*std::move(kept)));
      return;
    }
  }
  if (exchange.kind == Kind::probe) {
    exchange.body = line.text();
  } else {
    tell_line(std::move(line));
  }
}

/// Learns which parameters of the tools are repeated in headers. Returns the line without the tools
/// whose annotations break the rules, if there is such a tool.
std::optional<std::string> HttpLink::without_invalid_tools(const Message& message, Line line) {
  const std::vector<InvalidTool> invalid = tool_headers_.learn(message.result);
  if (invalid.empty()) return std::nullopt;
  for (const InvalidTool& tool : invalid) {
    log(Level::warn,
        fmt::format("the tool {} is left out of the list: {}", brief(tool.name, 100), tool.reason));
  }
  return Outgoing::spliced(line, message.result, without_tools(message.result, invalid)).text();
}

void HttpLink::on(const fact::HttpEnded& fact) {
  auto node = exchanges_.extract(fact.exchange);
  if (node.empty()) return;
  on_response(std::move(node.mapped()));
}

void HttpLink::on_response(HttpExchange exchange) {
  if (exchange.status == 307 || exchange.status == 308) {
    redirect(std::move(exchange));
    return;
  }
  switch (exchange.kind) {
    case Kind::connect:
      break;
    case Kind::probe:
      on_probed(exchange);
      break;
    case Kind::end:
      on_left();
      break;
    case Kind::stream:
      on_stream_response(std::move(exchange));
      break;
    case Kind::request:
      if (exchange.events) {
        if (!exchange.has_answer) on_broken(std::move(exchange), "its answer did not come");
      } else if (exchange.is_resumed) {
        on_refused_resumption(std::move(exchange));
      } else if (is_success(exchange.status)) {
        on_body(exchange);
      } else {
        on_refused_status(std::move(exchange));
      }
      break;
    case Kind::notification:
      if (!is_success(exchange.status)) on_refused_status(std::move(exchange));
      // The session is open from now on.
      else if (!protocol_version_.empty() && !has_asked_stream_)
        open_stream();
      break;
  }
}

/// A response that is one JSON text: an answer, or in 2025-03-26 an array of messages.
void HttpLink::on_body(HttpExchange& exchange) {
  if (exchange.body_cut > 0) {
    answer_error(exchange, too_long_text(exchange.body.size() + exchange.body_cut));
    return;
  }
  const std::string words = words_of(exchange);
  const std::string_view text = json_trimmed(exchange.body);
  if (text.starts_with('[') && has_json_grammar(text)) {
    for (const std::string_view element : json_elements(text)) {
      take_message(exchange, std::string(element));
    }
  } else if (const OwnedLine probe{std::string(text)}; reader_.read(probe.line()) != nullptr) {
    take_message(exchange, std::move(exchange.body));
  }
  if (exchange.has_answer) return;
  answer_error(exchange,
               words.empty()
                   ? fmt::format("the server answered with {} and without a message",
                                 status_line(exchange.status))
                   : fmt::format("the server answered with {}, and this is not the answer: {}",
                                 status_line(exchange.status), words));
}

void HttpLink::on(const fact::HttpFailed& fact) {
  auto node = exchanges_.extract(fact.exchange);
  if (node.empty()) return;
  HttpExchange exchange = std::move(node.mapped());
  if (exchange.kind == Kind::probe) probe_by_.reset();
  if (exchange.kind == Kind::end) {
    on_left();
  } else if (fact.kind != fact::HttpFailed::Kind::broken) {
    on_unreachable(std::move(exchange), fact);
  } else if (exchange.kind == Kind::stream) {
    on_stream_ended(std::move(exchange));
  } else if (exchange.kind == Kind::request) {
    if (!exchange.has_answer) on_broken(std::move(exchange), fact.reason);
  } else if (exchange.kind == Kind::notification) {
    log(Level::warn, fmt::format("a notification or an answer may be lost: {}", fact.reason));
  }
}

/// Nothing of the exchange was sent.
void HttpLink::on_unreachable(HttpExchange exchange, const fact::HttpFailed& fact) {
  if (exchange.kind == Kind::connect) {
    on_not_connected(fact.reason);
    return;
  }
  const bool is_restarted = fact.kind == fact::HttpFailed::Kind::other_listener;
  begin_losing(Of::connection, is_restarted ? "another process listens now" : fact.reason);
  if (exchange.kind != Kind::request) return;
  if (exchange.is_resumed) {
    lose(std::move(exchange), fact.reason);
  } else {
    refuse(std::move(exchange), fact.reason, {});
  }
}

/// The response ended before its answer. The daemon may still have the rest of it.
void HttpLink::on_broken(HttpExchange exchange, std::string why) {
  const bool is_empty = exchange.is_resumed && !exchange.has_event;
  exchange.empty_resumes = is_empty ? exchange.empty_resumes + 1 : 0;
  if (state_ == State::up && exchange.is_listen && exchange.status == 200) {
    const Milliseconds wait = exchange.retry.value_or(limits::kHttpStreamWaitMin);
    later_.push_back({now_.steady + wait, std::move(exchange)});
    return;
  }
  const bool may_resume = state_ == State::up && !exchange.is_stateless &&
                          !exchange.last_event_id.empty() &&
                          exchange.empty_resumes < limits::kHttpEmptyResumesMax;
  if (!may_resume) {
    judge_later(std::move(exchange), std::move(why));
    return;
  }
  exchange.is_resumed = true;
  const Milliseconds wait = exchange.retry.value_or(limits::kHttpStreamWaitMin);
  later_.push_back({now_.steady + wait, std::move(exchange)});
}

void HttpLink::on_stream_response(HttpExchange exchange) {
  if (exchange.events) {
    on_stream_ended(std::move(exchange));
    return;
  }
  const int status = exchange.status;
  stream_wait_ = limits::kHttpStreamWaitMax;
  if (status == 409 || status == 429 || (status >= 502 && status <= 504)) {
    later_.push_back({now_.steady + stream_wait_, std::move(exchange)});
  } else if (status == 404 && had_stream_ && !session_id_.empty()) {
    begin_losing(Of::session, "it answers 404 Not Found");
  } else if (status != 405 && status != 404) {
    log(Level::info, fmt::format("the server gives no stream: {}", status_line(status)));
  }
}

/// The stream of a session has ended. It is opened again, and goes on where it was.
void HttpLink::on_stream_ended(HttpExchange exchange) {
  if (state_ != State::up) return;
  if (exchange.has_event) stream_wait_ = {};
  const Milliseconds doubled = std::min(stream_wait_ * 2, limits::kHttpStreamWaitMax);
  stream_wait_ = std::max(doubled, limits::kHttpStreamWaitMin);
  const Milliseconds wait = exchange.retry.value_or(stream_wait_);
  later_.push_back({now_.steady + wait, std::move(exchange)});
}

}  // namespace sitter
