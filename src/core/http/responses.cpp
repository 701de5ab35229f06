#include "core/http/responses.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/json_text.hpp"
#include "core/base/text.hpp"
#include "core/wire/json_view.hpp"
#include "core/wire/salvage.hpp"

namespace sitter {

void Responses::on(fact::HttpHead& fact, Now now) {
  HttpExchange* const exchange = exchanges_.find(fact.exchange);
  if (exchange == nullptr) return;
  const bool has_succeeded = is_success(fact.status);
  session_.on_heard();
  exchange->status = fact.status;
  exchange->headers = std::move(fact.headers);
  if (!exchange->is_redirected()) exchange->redirects = 0;
  const std::string_view type = header_value(exchange->headers, "content-type");
  if (fact.status == 200 && is_event_stream_type(type)) {
    exchange->events = std::make_unique<SseParser>();
    if (exchange->kind == Kind::stream) session_.on_stream();
  }
  // The head says all that matters, so the body is not waited for without an end.
  if (exchange->kind == Kind::notification || !has_succeeded) {
    exchange->deadline = now.steady + limits::kHttpUselessWait;
  }
  if (exchange->is_opening() && has_succeeded) {
    // If the client has opened another session, the stream of the former is not wanted any more.
    session_.open(header_value(exchange->headers, "mcp-session-id"));
    exchanges_.abort_all(Kind::stream);
  }
  if (exchange->kind == Kind::notification && has_succeeded) open_stream_once(now);
}

void Responses::on(const fact::HttpBytes& fact, Now now) {
  HttpExchange* const exchange = exchanges_.find(fact.exchange);
  if (exchange == nullptr) return;
  if (exchange->events) {
    exchange->events->feed(fact.bytes);
    return take_events(fact.exchange, now);
  }
  const bool is_awaited = exchange->kind == Kind::request || exchange->kind == Kind::probe;
  const std::size_t max =
      is_awaited && is_success(exchange->status) ? limits::kLineMax : limits::kHttpErrorBodyMax;
  const std::size_t kept = std::min(fact.bytes.size(), max - std::min(max, exchange->body.size()));
  const bool fits =
      append_within(exchange->body, fact.bytes.substr(0, kept), max, options_.has_room);
  exchange->body_cut += fits ? fact.bytes.size() - kept : fact.bytes.size();
  if (exchange->body_cut > 0) on_over(exchanges_.abort(fact.exchange), now);
}

void Responses::on(const fact::HttpEnded& fact, Now now) {
  if (ExchangePtr ended = exchanges_.take(fact.exchange)) on_over(std::move(ended), now);
}

void Responses::on(const fact::HttpFailed& fact, Now now) {
  ExchangePtr exchange = exchanges_.take(fact.exchange);
  if (!exchange) return;
  const Kind kind = exchange->kind;
  if (kind == Kind::end) {
    life_.enter(State::left);
  } else if (fact.kind != fact::HttpFailed::Kind::broken) {
    on_unreachable(std::move(exchange), fact, now);
  } else if (exchange->is_refused()) {
    on_over(std::move(exchange), now);
  } else if (kind == Kind::stream && life_.is_up()) {
    take_up_later(std::move(exchange), {}, now);
  } else if (kind == Kind::request && !exchange->has_answer) {
    on_broken(std::move(exchange), fact.reason, now);
  } else if (kind == Kind::notification && !is_success(exchange->status) &&
             !repeat(exchange, {}, now)) {
    output_.log(Level::warn,
                fmt::format("a notification or an answer may be lost: {}", fact.reason));
    open_stream_once(now);
  }
}

void Responses::give_up_late(Now now) {
  if (ExchangePtr stalled = exchanges_.take_stalled(now)) {
    on_broken(
        std::move(stalled),
        fmt::format("nothing more of its answer has come for {}, and other large answers wait "
                    "for it",
                    duration_text(limits::kHttpStalledWait)),
        now);
  }
  const auto is_late = [&](const ExchangePtr& sent) { return is_due(sent->deadline, now); };
  while (ExchangePtr late = exchanges_.abort_first(is_late)) {
    if (late->is_refused()) {
      on_over(std::move(late), now);
    } else if (late->kind == Kind::notification && late->status == 0) {
      output_.log(Level::warn,
                  fmt::format("the server has not taken a notification or an answer within {}",
                              duration_text(limits::kHttpTakenWait)));
      open_stream_once(now);
    }
  }
}

void Responses::end_refused(Now now) {
  const auto is_meant = [](const ExchangePtr& sent) {
    return sent->kind == Kind::request && sent->is_refused();
  };
  while (ExchangePtr refused = exchanges_.abort_first(is_meant)) on_over(std::move(refused), now);
}

void Responses::judge(Now now) {
  for (auto& [exchange, why] : exchanges_.take_unjudged()) {
    lose(std::move(exchange), std::move(why), now);
  }
}

void Responses::begin_losing(Of of, std::string why, Now now) {
  if (!life_.is_up()) return;
  const bool may_exit = of == Of::connection && process_.runs();
  life_.lose({output_.gen(), of, std::move(why)}, may_exit, now);
  exchanges_.forget_later();
}

void Responses::take_events(ExchangeId id, Now now) {
  while (HttpExchange* const exchange = exchanges_.find(id)) {
    auto event = exchange->events->next();
    // What an earlier part of the stream has said still holds.
    const std::string& event_id = exchange->events->last_event_id();
    if (!event_id.empty() && event_id != exchange->last_event_id) {
      exchange->last_event_id = event_id;
      exchange->has_event = true;
    }
    if (const auto retry = exchange->events->retry()) exchange->retry = retry;
    if (!event) return;
    exchange->has_event = true;
    if (event->size > 0) {
      output_.tell_too_long(*std::move(event));
    } else if (event->type.empty() || event->type == "message") {
      take_text(*exchange, std::move(event->data), now);
      if (exchange->has_answer && exchange->kind == Kind::probe) {
        return on_over(exchanges_.abort(id), now);
      }
      if (exchange->has_answer) exchanges_.limit_answered();
    }
  }
}

void Responses::take_text(HttpExchange& exchange, std::string text, Now now) {
  OwnedLine line(as_wire_line(std::move(text)));
  if (json_trimmed(line.text()).empty()) return;
  const Message* const message = output_.read(line);
  take_message(exchange, message, std::move(line), now);
}

/// A message of the daemon, perhaps the answer that the exchange waits for, or a line that is none.
void Responses::take_message(HttpExchange& exchange, const Message* message, OwnedLine line,
                             Now now) {
  life_.on_heard();
  if (message == nullptr || !exchange.is_answered_by(*message)) {
    if (message != nullptr) exchanges_.on_answer_elsewhere(*message, now);
    return output_.tell_line(std::move(line), message);
  }
  exchange.on_answered(now);
  if (exchange.kind == Kind::probe) {
    exchange.body = line.text();
    return;
  }
  exchange.line = OwnedLine();
  if (exchange.is_opening() && message->kind == Message::Kind::result) {
    // It is repeated in a header.
    const std::string version = string_value(member(message->result, "protocolVersion"));
    if (is_plain_value(version)) session_.set_version(version);
  }
  if (exchange.asks == Asks::first_tools) probe_.note_tools(message->result);
  const bool lists_tools = exchange.asks == Asks::first_tools || exchange.asks == Asks::more_tools;
  std::vector<InvalidTool> invalid;
  if (exchange.is_stateless && lists_tools) invalid = session_.learn_tools(message->result);
  if (invalid.empty()) return output_.tell_line(std::move(line), message);
  // The client must not see the tools whose annotations break the rules.
  for (const InvalidTool& tool : invalid) {
    output_.log(Level::warn, fmt::format("the tool {} is left out of the list: {}",
                                         output_.secrets().brief(tool.name, 100), tool.reason));
  }
  std::string kept = without_tools(message->result, invalid);
  const Outgoing told = Outgoing::spliced(line.line(), message->result, std::move(kept));
  output_.tell_line(OwnedLine(told.text()));
}

/// A response that is one JSON text: an answer, or in 2025-03-26 an array of messages.
void Responses::on_body(HttpExchange& exchange, Now now) {
  if (exchange.body_cut > 0 || !can_read(exchange.body.size(), options_.has_room)) {
    const std::uint64_t size = exchange.body.size() + exchange.body_cut;
    return output_.answer_error(exchange, too_long_text(size));
  }
  const std::string_view text = json_trimmed(exchange.body);
  if (text.starts_with('[') && has_json_grammar(text)) {
    const auto elements = json_elements(text, limits::kBatchCountMax + 1);
    if (elements.size() > limits::kBatchCountMax) {
      return output_.answer_error(
          exchange, fmt::format("the server replied with an array of more than {} messages. The "
                                "request may have been carried out",
                                limits::kBatchCountMax));
    }
    for (const std::string_view element : elements) {
      take_text(exchange, std::string(element), now);
    }
  } else {
    OwnedLine line(as_wire_line(std::move(exchange.body)));
    const Message* const message = output_.read(line);
    if (message == nullptr || !exchange.is_answered_by(*message)) exchange.body = line.text();
    if (message != nullptr) take_message(exchange, message, std::move(line), now);
  }
  if (exchange.has_answer) return;
  const std::string words = exchange.words(output_.secrets());
  output_.answer_error(
      exchange,
      fmt::format("the server replied with {}, but {}. The request may have been carried out",
                  status_line(exchange.status),
                  words.empty() ? "without an answer" : "this is not the answer: " + words));
}

}  // namespace sitter
