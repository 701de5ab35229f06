#include "core/http/http_link.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/raw_id.hpp"
#include "core/base/text.hpp"
#include "core/wire/json_view.hpp"
#include "sitter/limits.hpp"

namespace sitter {

using Level = order::Log::Level;
using Verb = order::HttpSend::Method;

namespace {

template <class Queue>
auto pop(Queue& queue) {
  std::optional<typename Queue::value_type> first;
  if (queue.empty()) return first;
  first = std::move(queue.front());
  queue.pop_front();
  return first;
}

}  // namespace

void HttpLink::handle(const order::StartChild& order, Now now) {
  now_ = now;
  become_idle();
  gen_ = order.gen;
  state_ = State::connecting;
  if (has_process() && process_gen_ != gen_) {
    process_orders_.push_back(order::RenumberChild{process_gen_, gen_});
    process_gen_ = gen_;
  }
  keeps_process_ = false;
  connect();
}

void HttpLink::handle(const order::SendToChild& order, Now now) {
  now_ = now;
  if (order.gen != gen_) return;
  OwnedLine line(order.line.text());
  // What comes while the child is being lost is refused with the rest.
  const bool is_there = state_ != State::idle && state_ != State::leaving;
  if (is_there) take_line(std::move(line));
  advance();
}

void HttpLink::handle(const order::CloseChildInput& order, Now now) {
  now_ = now;
  if (order.gen != gen_) return;
  const bool leaves_process = !has_process() || (order.is_at_end && !options_.ends_daemon);
  if (!leaves_process) process_orders_.push_back(order);
  if (state_ == State::connecting) {
    const Generation gen = gen_;
    become_idle();
    tell(fact::ChildStartFailed{gen, "it is not wanted any more", false, false, Milliseconds{}});
  } else if (state_ == State::up || state_ == State::losing || state_ == State::launching) {
    leave(leaves_process);
  }
}

void HttpLink::handle(const order::SignalUnit& order, Now) {
  if (order.gen != gen_) return;
  if (process_gen_ == gen_ && !keeps_process_) {
    process_orders_.push_back(order);
  } else {
    tell(fact::UnitSignalled{order.gen, {}});
  }
}

void HttpLink::handle(const order::ReleaseChild& order, Now now) {
  now_ = now;
  if (order.gen != gen_) return;
  become_idle();
  if (process_gen_ != order.gen || keeps_process_) return;
  process_orders_.push_back(order);
  process_gen_ = kNoGeneration;
  pid_ = 0;
}

void HttpLink::handle(const HttpFact& fact, Now now) {
  now_ = now;
  std::visit([this](const auto& one) { on(one); }, fact);
  advance();
}

void HttpLink::handle_timeout(Now now) {
  now_ = now;
  if (is_due(deadline_, now)) {
    deadline_.reset();
    if (state_ == State::losing || state_ == State::leaving) finish_losing();
  }
  std::vector<HttpExchange> due;
  std::erase_if(later_, [&](Later& later) {
    if (later.at > now.steady) return false;
    due.push_back(std::move(later.exchange));
    return true;
  });
  for (HttpExchange& exchange : due) send(std::move(exchange));
  if (is_due(connect_at_, now)) connect();
  if (is_due(judge_at_, now)) judge();
  if (is_due(probe_by_, now)) give_up_probe();
  if (is_due(exit_by_, now)) exit_by_.reset();
  advance();
}

std::optional<Instant> HttpLink::next_timeout() const {
  std::optional<Instant> first = deadline_;
  earlier(first, connect_at_);
  earlier(first, judge_at_);
  earlier(first, probe_by_);
  earlier(first, exit_by_);
  for (const Later& later : later_) earlier(first, later.at);
  return first;
}

std::optional<HttpOrder> HttpLink::poll_order() { return pop(orders_); }

std::optional<Order> HttpLink::poll_process_order() { return pop(process_orders_); }

std::optional<order::Log> HttpLink::poll_log() { return pop(logs_); }

std::optional<Fact> HttpLink::poll_fact() {
  auto told = pop(facts_);
  if (!told) return std::nullopt;
  told_ = *std::move(told);
  const Line line = told_.line.line();
  if (auto* const said = std::get_if<fact::ChildLine>(&told_.fact)) {
    said->line = line;
  } else if (auto* const refused = std::get_if<fact::RequestRefused>(&told_.fact)) {
    refused->line = line;
  } else if (auto* const lost = std::get_if<fact::RequestLost>(&told_.fact)) {
    lost->line = line;
  } else if (auto* const too_long = std::get_if<fact::ChildLineTooLong>(&told_.fact)) {
    too_long->head = told_.head;
    too_long->tail = told_.tail;
  }
  return told_.fact;
}

void HttpLink::tell_line(OwnedLine line) {
  facts_.push_back({fact::ChildLine{gen_, {}, false}, std::move(line)});
}

void HttpLink::log(Level level, std::string text) { logs_.push_back({level, std::move(text)}); }

void HttpLink::take_line(OwnedLine line) {
  const Message* const message = reader_.read(line.line());
  if (message == nullptr) return;
  if (message->method == Method::cancelled && message->kind == Message::Kind::notification) {
    cancel(*message, std::move(line));
    return;
  }
  const bool is_request = message->kind == Message::Kind::request;
  // Progress of the client belongs to a question of the server, as its answer does.
  const bool is_about_question = message->kind == Message::Kind::result ||
                                 message->kind == Message::Kind::error ||
                                 message->method == Method::progress;
  HttpExchange exchange = as_exchange(*message, std::move(line));
  if (is_about_question) {
    express_.push_back(std::move(exchange));
  } else {
    outbox_.push_back({std::move(exchange), is_request});
  }
}

HttpExchange HttpLink::as_exchange(const Message& message, OwnedLine line) {
  HttpExchange exchange;
  exchange.kind = message.kind == Message::Kind::request ? Kind::request : Kind::notification;
  exchange.id = message.id;
  exchange.is_opening = message.method == Method::initialize;
  exchange.is_listen = message.method == Method::subscriptions_listen;
  exchange.is_stateless = message.params.has_envelope();
  exchange.lists_tools = message.method == Method::tools_list;
  exchange.lists_first_tools = exchange.lists_tools && message.params.cursor.empty();
  if (exchange.is_stateless) {
    envelope_ = envelope_of(message.params);
    exchange.mirrored = mirrored_headers(message);
    if (message.method == Method::tools_call) {
      for (HttpHeader& header : tool_headers_.headers(message.params_raw)) {
        exchange.mirrored.push_back(std::move(header));
      }
    }
  }
  exchange.target = target_.empty() ? options_.url.target : target_;
  exchange.line = std::move(line);
  return exchange;
}

/// A request that has not been sent needs no cancellation. A client of the stateless revision
/// cancels by closing the stream of the response.
void HttpLink::cancel(const Message& message, OwnedLine line) {
  const std::string id(message.params.request_id);
  const auto waits = std::find_if(outbox_.begin(), outbox_.end(), [&](const Waiting& waiting) {
    return waiting.is_request && same_id(waiting.exchange.id, id);
  });
  if (waits != outbox_.end()) {
    outbox_.erase(waits);
    return;
  }
  const auto is_meant = [&](const HttpExchange& exchange) {
    return exchange.kind == Kind::request && !exchange.has_answer && same_id(exchange.id, id);
  };
  std::erase_if(later_, [&](const Later& later) {
    return later.exchange.is_stateless && is_meant(later.exchange);
  });
  for (auto it = exchanges_.begin(); it != exchanges_.end(); ++it) {
    if (!is_meant(it->second)) continue;
    if (!it->second.is_stateless) break;
    orders_.push_back(order::HttpAbort{it->first});
    exchanges_.erase(it);
    return;
  }
  // The session is that of an earlier revision, or the request has its answer already.
  if (!session_id_.empty() || !protocol_version_.empty()) {
    HttpExchange exchange;
    exchange.kind = Kind::notification;
    exchange.target = target_.empty() ? options_.url.target : target_;
    exchange.line = std::move(line);
    express_.push_back(std::move(exchange));
  }
}

/// How many requests have no answer yet, but for those that are streams.
std::size_t HttpLink::request_count() const {
  const auto counts = [](const HttpExchange& exchange) {
    return exchange.kind == Kind::request && !exchange.is_listen && !exchange.has_answer;
  };
  const auto sent = std::count_if(exchanges_.begin(), exchanges_.end(),
                                  [&](const auto& entry) { return counts(entry.second); });
  const auto resumed = std::count_if(later_.begin(), later_.end(),
                                     [&](const Later& later) { return counts(later.exchange); });
  return static_cast<std::size_t>(sent + resumed);
}

/// What holds whatever has happened: the lines that may be sent are sent, and a child that is being
/// lost is over as soon as nothing is awaited any more.
void HttpLink::advance() {
  if (state_ == State::up) send_what_may();
  if (state_ != State::losing && state_ != State::dying) return;
  // Nothing that was not sent had an effect.
  for (auto& waiting : std::exchange(outbox_, {})) {
    if (waiting.is_request) {
      refuse(std::move(waiting.exchange), lost_.why, {});
    }
  }
  express_.clear();
  if (request_count() > 0 || exit_by_) return;
  if (state_ == State::losing) {
    finish_losing();
  } else {
    become_idle();
    tell(fact::ChildOutputEnded{gen_});
  }
}

void HttpLink::send_what_may() {
  const auto holds = [this] {
    const auto is_held_for = [](const HttpExchange& exchange) {
      return exchange.kind == Kind::notification || exchange.kind == Kind::probe;
    };
    return std::any_of(exchanges_.begin(), exchanges_.end(),
                       [&](const auto& entry) { return is_held_for(entry.second); }) ||
           std::any_of(later_.begin(), later_.end(),
                       [&](const Later& later) { return is_held_for(later.exchange); });
  };
  if (!express_.empty() && !holds()) send(*pop(express_));
  while (!outbox_.empty() && !holds()) {
    Waiting& next = outbox_.front();
    if (next.is_request && must_probe()) {
      probe();
      return;
    }
    const bool has_room =
        !next.is_request || next.exchange.is_listen || request_count() < limits::kHttpRequestsMax;
    if (!has_room) return;
    if (next.exchange.has_new_headers) refresh_headers(next.exchange);
    send(std::move(pop(outbox_)->exchange));
  }
}

void HttpLink::send(HttpExchange exchange) {
  order::HttpSend order;
  order.exchange = ExchangeId{++last_exchange_};
  const bool is_get = exchange.kind == Kind::stream || exchange.is_resumed;
  order.method = is_get ? Verb::get : exchange.kind == Kind::end ? Verb::del : Verb::post;
  order.target = exchange.target;
  order.headers = headers_for(exchange);
  if (order.method == Verb::post) order.body = exchange.line.text();
  order.listener = listener_;
  exchange.status = 0;
  exchange.body.clear();
  exchange.body_cut = 0;
  exchange.events.reset();
  exchange.has_event = false;
  exchanges_.emplace(order.exchange, std::move(exchange));
  orders_.push_back(std::move(order));
}

std::vector<HttpHeader> HttpLink::headers_for(const HttpExchange& exchange) const {
  std::vector<HttpHeader> headers;
  const bool is_get = exchange.kind == Kind::stream || exchange.is_resumed;
  if (is_get) {
    headers.push_back({"Accept", "text/event-stream"});
    if (!exchange.last_event_id.empty()) {
      headers.push_back({"Last-Event-ID", exchange.last_event_id});
    }
  } else if (exchange.kind != Kind::end) {
    headers.push_back({"Content-Type", "application/json"});
    headers.push_back({"Accept", "application/json, text/event-stream"});
  }
  if (!exchange.is_opening && !session_id_.empty()) {
    headers.push_back({"Mcp-Session-Id", session_id_});
  }
  if (!exchange.is_opening && !exchange.is_stateless && !protocol_version_.empty()) {
    headers.push_back({"MCP-Protocol-Version", protocol_version_});
  }
  headers.insert(headers.end(), exchange.mirrored.begin(), exchange.mirrored.end());
  headers.push_back({"User-Agent", "mcp-sitter/" + options_.sitter_version});
  headers.insert(headers.end(), options_.headers.begin(), options_.headers.end());
  return headers;
}

/// The daemon has opened a session. If there is one already, the client has opened another one, and
/// the stream of the former is not wanted any more.
void HttpLink::begin_session(std::string id) {
  session_id_ = std::move(id);
  std::erase_if(later_, [](const Later& later) { return later.exchange.kind == Kind::stream; });
  std::erase_if(exchanges_, [this](const auto& entry) {
    if (entry.second.kind != Kind::stream) return false;
    orders_.push_back(order::HttpAbort{entry.first});
    return true;
  });
  has_asked_stream_ = false;
  had_stream_ = false;
  stream_wait_ = {};
}

/// Opens the stream on which the daemon speaks without being asked.
void HttpLink::open_stream() {
  has_asked_stream_ = true;
  HttpExchange exchange;
  exchange.kind = Kind::stream;
  exchange.target = target_.empty() ? options_.url.target : target_;
  send(std::move(exchange));
}

void HttpLink::begin_losing(fact::ChildLost::Of of, std::string why) {
  if (state_ != State::up) return;
  state_ = State::losing;
  lost_ = {gen_, of, std::move(why)};
  deadline_ = now_.steady + limits::kHttpLosingWait;
  if (of == fact::ChildLost::Of::connection && has_process()) {
    exit_by_ = now_.steady + limits::kHttpExitWait;
  }
  later_.clear();
}

void HttpLink::finish_losing() {
  fact::ChildLost lost = std::move(lost_);
  lost.gen = gen_;
  keeps_process_ = has_process();
  become_idle();
  tell(std::move(lost));
}

/// The child is taken down: what it does is given up, and its session is ended. Unless it is left,
/// a process of ours then ends as any other.
void HttpLink::leave(bool leaves_process) {
  const bool has_session = !session_id_.empty() && !options_.keeps_session;
  const bool is_there = state_ == State::up;
  keeps_process_ = leaves_process && has_process();
  abort_all();
  lost_ = {};
  if (!has_session || !is_there) {
    if (leaves_process) finish_losing();
    return;
  }
  state_ = State::leaving;
  if (leaves_process) deadline_ = now_.steady + limits::kHttpEndWait;
  HttpExchange exchange;
  exchange.kind = Kind::end;
  exchange.target = target_.empty() ? options_.url.target : target_;
  send(std::move(exchange));
}

void HttpLink::abort_all() {
  for (const auto& [id, exchange] : exchanges_) orders_.push_back(order::HttpAbort{id});
  exchanges_.clear();
  outbox_.clear();
  express_.clear();
  later_.clear();
}

void HttpLink::become_idle() {
  abort_all();
  state_ = State::idle;
  deadline_.reset();
  connect_at_.reset();
  judge_at_.reset();
  exit_by_.reset();
  probe_by_.reset();
  unjudged_.clear();
  session_id_.clear();
  protocol_version_.clear();
  tool_headers_.clear();
  last_tools_.clear();
  doubts_lists_ = false;
  listener_ = kNoListener;
  target_.clear();
  has_asked_stream_ = false;
  had_stream_ = false;
  stream_wait_ = {};
}

/// How long to wait before the daemon is tried again. A daemon on this machine is back soon. What
/// is refused before that belongs to the same try.
Milliseconds HttpLink::next_wait(Milliseconds asked) {
  if (now_.steady < try_again_at_) {
    return std::chrono::duration_cast<Milliseconds>(try_again_at_ - now_.steady);
  }
  const Milliseconds most =
      options_.url.is_loopback() ? limits::kHttpLoopbackWaitMax : limits::kHttpConnectWaitMax;
  Milliseconds wait = limits::kHttpConnectWaitMin;
  for (int i = 0; i < failures_ && wait < most; ++i) wait *= 2;
  ++failures_;
  wait = std::max(asked, std::min(wait, most));
  try_again_at_ = now_.steady + wait;
  return wait;
}

}  // namespace sitter
