#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/base/json_text.hpp"
#include "core/base/raw_id.hpp"
#include "core/base/text.hpp"
#include "core/http/http_link.hpp"
#include "core/http/http_link_limits.hpp"
#include "core/http/http_words.hpp"
#include "core/wire/json_view.hpp"
#include "core/wire/protocol.hpp"
#include "core/wire/reply.hpp"
#include "core/wire/salvage.hpp"

namespace sitter {

using Level = order::Log::Level;
using Of = fact::ChildLost::Of;

namespace {

/// How often in a row the rest of an answer is asked for in vain. After that the answer is lost.
constexpr int kHttpEmptyResumesMax = 2;

std::string words_of(const HttpExchange& exchange) {
  return body_words(exchange.body, header_value(exchange.headers, "content-type"));
}

/// How long to wait for a stream that has brought nothing. The time doubles.
Milliseconds next_wait_of(const HttpExchange& stream) {
  return std::clamp(2 * stream.resume_wait, limits::kHttpStreamWaitMin, limits::kHttpStreamWaitMax);
}

bool is_answer_to(const Message& message, const HttpExchange& exchange) {
  return message.is_answer() && same_id(message.id, exchange.id);
}

}  // namespace

void HttpLink::on(const fact::HttpConnected& fact) {
  if (take_sent(fact.exchange)) on_connected(fact.listener);
}

void HttpLink::on(fact::HttpHead& fact) {
  const Sent found = find_sent(fact.exchange);
  if (found == exchanges_.end()) return;
  HttpExchange& exchange = **found;
  is_heard_ = true;
  exchange.status = fact.status;
  exchange.headers = std::move(fact.headers);
  if (fact.status != 307 && fact.status != 308) exchange.redirects = 0;
  const std::string_view type = header_value(exchange.headers, "content-type");
  if (fact.status == 200 && is_event_stream_type(type))
    exchange.events = std::make_unique<SseParser>();
  if (exchange.kind == Kind::stream && exchange.events) had_stream_ = true;
  // The head says all that matters, so the body is not waited for without an end.
  if (exchange.kind == Kind::notification || !is_success(fact.status)) {
    exchange.over_by = now_.steady + limits::kHttpUselessWait;
  }
  if (exchange.is_opening() && is_success(fact.status)) {
    begin_session(std::string(header_value(exchange.headers, "mcp-session-id")));
  }
  if (exchange.kind == Kind::notification && is_success(fact.status)) open_stream_once();
}

void HttpLink::on(const fact::HttpBytes& fact) {
  const Sent found = find_sent(fact.exchange);
  if (found == exchanges_.end()) return;
  HttpExchange& exchange = **found;
  if (exchange.events) {
    exchange.events->feed(fact.bytes);
    take_events(fact.exchange);
    return;
  }
  const bool is_awaited = exchange.kind == Kind::request || exchange.kind == Kind::probe;
  const std::size_t max =
      is_awaited && is_success(exchange.status) ? limits::kLineMax : limits::kHttpErrorBodyMax;
  const std::size_t kept = std::min(fact.bytes.size(), max - std::min(max, exchange.body.size()));
  const bool fits =
      append_within(exchange.body, fact.bytes.substr(0, kept), max, options_.has_room);
  exchange.body_cut += fits ? fact.bytes.size() - kept : fact.bytes.size();
  if (exchange.body_cut > 0) end_early(fact.exchange);
}

/// What the response has brought is enough, or all that may come.
void HttpLink::end_early(ExchangeId id) { on_response(abort(id)); }

void HttpLink::take_events(ExchangeId id) {
  while (true) {
    const Sent found = find_sent(id);
    if (found == exchanges_.end()) return;
    HttpExchange& exchange = **found;
    auto event = exchange.events->next();
    // What an earlier part of the stream has said still holds.
    const std::string& event_id = exchange.events->last_event_id();
    if (!event_id.empty() && event_id != exchange.last_event_id) {
      exchange.last_event_id = event_id;
      exchange.has_event = true;
    }
    if (const auto retry = exchange.events->retry()) exchange.retry = retry;
    if (!event) return;
    exchange.has_event = true;
    if (event->size > 0) {
      facts_.push_back({fact::ChildLineTooLong{gen_, {}, {}, event->size},
                        {},
                        std::move(event->head),
                        std::move(event->tail)});
    } else if (event->type.empty() || event->type == "message") {
      take_text(exchange, std::move(event->data));
      if (exchange.kind == Kind::probe && exchange.has_answer) {
        end_early(id);
        return;
      }
      if (exchange.has_answer) close_oldest_answered();
    }
  }
}

/// A response that stays open after its answer costs a connection until it is given up.
void HttpLink::close_oldest_answered() {
  const auto is_answered = [](const ExchangePtr& sent) { return sent->has_answer; };
  const auto count = std::count_if(exchanges_.begin(), exchanges_.end(), is_answered);
  if (static_cast<std::size_t>(count) <= limits::kHttpAnsweredMax) return;
  abort((*std::find_if(exchanges_.begin(), exchanges_.end(), is_answered))->number);
}

void HttpLink::take_text(HttpExchange& exchange, std::string text) {
  OwnedLine line(as_wire_line(std::move(text)));
  if (json_trimmed(line.text()).empty()) return;
  const Message* const message = read(line);
  take_message(exchange, message, std::move(line));
}

/// A message of the daemon, or a line that is none. It may be the answer that the exchange waits
/// for.
void HttpLink::take_message(HttpExchange& exchange, const Message* message, OwnedLine line) {
  failures_ = 0;
  try_again_at_ = {};
  if (message == nullptr || !is_answer_to(*message, exchange)) {
    if (message != nullptr) note_answer_elsewhere(*message);
    tell_line(std::move(line), message);
    return;
  }
  if (exchange.kind == Kind::probe) {
    exchange.body = line.text();
    exchange.has_answer = true;
    return;
  }
  exchange.has_answer = true;
  exchange.line = OwnedLine();
  exchange.over_by = now_.steady + limits::kHttpUselessWait;
  if (exchange.is_opening() && message->kind == Message::Kind::result) {
    // It is repeated in a header.
    const std::string version = string_value(member(message->result, "protocolVersion"));
    if (is_plain_value(version)) session_.set_version(version);
  }
  if (exchange.asks == Asks::first_tools) note_tools(message->result);
  const bool lists_tools = exchange.asks == Asks::first_tools || exchange.asks == Asks::more_tools;
  auto kept = exchange.is_stateless && lists_tools ? without_invalid_tools(*message, line.line())
                                                   : std::nullopt;
  if (kept) {
    tell_line(OwnedLine(*std::move(kept)));
  } else {
    tell_line(std::move(line), message);
  }
}

/// A daemon may answer a request in another stream than that of the request.
void HttpLink::note_answer_elsewhere(const Message& message) {
  const auto note = [&](HttpExchange& exchange) {
    if (exchange.kind != Kind::request || !is_answer_to(message, exchange)) return;
    exchange.has_answer = true;
    exchange.over_by = now_.steady + limits::kHttpUselessWait;
  };
  for (const ExchangePtr& sent : exchanges_) note(*sent);
  std::erase_if(later_, [&](const Later& later) {
    return later.exchange->kind == Kind::request && is_answer_to(message, *later.exchange);
  });
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
  if (ExchangePtr exchange = take_sent(fact.exchange)) on_response(std::move(exchange));
}

void HttpLink::on_response(ExchangePtr exchange) {
  if (exchange->status == 307 || exchange->status == 308) {
    redirect(std::move(exchange));
    return;
  }
  switch (exchange->kind) {
    case Kind::connect:
      break;
    case Kind::probe:
      on_probed(*exchange);
      break;
    case Kind::end:
      on_left();
      break;
    case Kind::stream:
      on_stream_response(std::move(exchange));
      break;
    case Kind::request:
      if (exchange->events) {
        if (!exchange->has_answer) on_broken(std::move(exchange), "its answer did not come");
      } else if (exchange->is_resumed) {
        on_refused_resumption(std::move(exchange));
      } else if (is_success(exchange->status)) {
        on_body(*exchange);
      } else {
        on_refused_status(std::move(exchange));
      }
      break;
    case Kind::notification:
      if (!is_success(exchange->status)) on_refused_status(std::move(exchange));
      open_stream_once();
      break;
  }
}

/// A response that is one JSON text: an answer, or in 2025-03-26 an array of messages.
void HttpLink::on_body(HttpExchange& exchange) {
  if (exchange.body_cut > 0 || !can_read(exchange.body.size(), options_.has_room)) {
    answer_error(exchange, too_long_text(exchange.body.size() + exchange.body_cut));
    return;
  }
  const std::string_view text = json_trimmed(exchange.body);
  if (text.starts_with('[') && has_json_grammar(text)) {
    for (const std::string_view element : json_elements(text)) {
      take_text(exchange, std::string(element));
    }
  } else {
    OwnedLine line(as_wire_line(std::move(exchange.body)));
    const Message* const message = read(line);
    if (message == nullptr || !is_answer_to(*message, exchange)) exchange.body = line.text();
    if (message != nullptr) take_message(exchange, message, std::move(line));
  }
  if (exchange.has_answer) return;
  const std::string words = words_of(exchange);
  answer_error(
      exchange,
      fmt::format("the server answered with {}, and {}. The request may have been carried out",
                  status_line(exchange.status),
                  words.empty() ? "there is no answer" : "this is not the answer: " + words));
}

void HttpLink::on(const fact::HttpFailed& fact) {
  ExchangePtr exchange = take_sent(fact.exchange);
  if (!exchange) return;
  if (exchange->kind == Kind::end) {
    on_left();
  } else if (exchange->kind == Kind::connect) {
    on_not_connected(fact.reason);
  } else if (fact.kind != fact::HttpFailed::Kind::broken) {
    on_unreachable(std::move(exchange), fact);
  } else if (exchange->status != 0 && !is_success(exchange->status)) {
    on_response(std::move(exchange));
  } else if (exchange->kind == Kind::stream) {
    on_stream_ended(std::move(exchange));
  } else if (exchange->kind == Kind::request) {
    if (!exchange->has_answer) on_broken(std::move(exchange), fact.reason);
  } else if (exchange->kind == Kind::notification) {
    if (is_success(exchange->status) || repeat(exchange)) return;
    log(Level::warn, fmt::format("a notification or an answer may be lost: {}", fact.reason));
    open_stream_once();
  }
}

/// Nothing of the exchange was sent.
void HttpLink::on_unreachable(ExchangePtr exchange, const fact::HttpFailed& fact) {
  // If the daemon can be started here, a child that is lost before its first answer makes way for
  // the next one, which starts it.
  const bool may_start = options_.may_start && !has_process();
  const bool may_come =
      exchange->kind == Kind::request && !is_heard_ && !may_start && state_ == State::up;
  if (may_come && fact.kind == fact::HttpFailed::Kind::not_connected) {
    refuse(std::move(exchange), fact.reason, next_wait());
    return;
  }
  const bool is_restarted = fact.kind == fact::HttpFailed::Kind::other_listener;
  begin_losing(Of::connection, is_restarted ? "another process listens now" : fact.reason);
  if (exchange->kind != Kind::request) return;
  if (exchange->is_resumed) {
    lose(std::move(exchange), fact.reason);
  } else {
    refuse(std::move(exchange), fact.reason, {});
  }
}

/// The response ended before its answer. The daemon may still have the rest of it.
void HttpLink::on_broken(ExchangePtr exchange, std::string why) {
  if (exchange->is_cancelled) return;
  const bool is_empty = exchange->is_resumed && !exchange->has_event;
  exchange->empty_resumes = is_empty ? exchange->empty_resumes + 1 : 0;
  if (state_ == State::up && exchange->is_listen()) {
    take_up_later(std::move(exchange));
    return;
  }
  const bool may_resume = state_ == State::up && !exchange->is_stateless &&
                          !exchange->last_event_id.empty() &&
                          exchange->empty_resumes < kHttpEmptyResumesMax;
  if (!may_resume) {
    judge_later(std::move(exchange), std::move(why));
    return;
  }
  exchange->is_resumed = true;
  take_up_later(std::move(exchange));
}

/// Asks for the stream again after the time that the daemon has asked for. Otherwise the time
/// doubles as long as nothing comes.
void HttpLink::take_up_later(ExchangePtr exchange, Milliseconds at_least) {
  if (exchange->has_event) exchange->resume_wait = {};
  const Milliseconds wait =
      exchange->retry ? std::max(*exchange->retry, limits::kHttpRetryMin) : next_wait_of(*exchange);
  exchange->resume_wait = std::max(wait, at_least);
  later_.push_back({now_.steady + exchange->resume_wait, std::move(exchange)});
}

void HttpLink::on_stream_response(ExchangePtr exchange) {
  if (exchange->events) {
    on_stream_ended(std::move(exchange));
    return;
  }
  const int status = exchange->status;
  const bool is_busy = status == 409 || status == 429 || status >= 500;
  if (had_stream_ && loss_in(*exchange) == SessionLoss::gone) {
    begin_losing(Of::session, fmt::format("it answers {}", status_line(status)));
  } else if (status != 405 && status != 501 && (had_stream_ || is_busy)) {
    const auto asked = retry_after(header_value(exchange->headers, "retry-after"), now_.wall);
    const Milliseconds wait = is_busy ? next_wait_of(*exchange) : limits::kHttpStreamWaitMax;
    take_up_later(std::move(exchange), std::max(asked.value_or(Milliseconds{}), wait));
  } else if (status != 405 && status != 404) {
    log(Level::info, fmt::format("the server gives no stream: {}", status_line(status)));
  }
}

/// The stream of a session has ended. It is opened again, and goes on where it was.
void HttpLink::on_stream_ended(ExchangePtr exchange) {
  if (state_ == State::up) take_up_later(std::move(exchange));
}

}  // namespace sitter
