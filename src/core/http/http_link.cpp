#include "core/http/http_link.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/raw_id.hpp"
#include "core/base/text.hpp"
#include "core/http/ascii.hpp"
#include "core/http/http_words.hpp"
#include "core/wire/json_view.hpp"
#include "sitter/limits.hpp"

namespace sitter {

using Level = order::Log::Level;
using Verb = order::HttpSend::Method;

namespace {

/// The most headers that any request has, besides those of its message and of the options.
constexpr std::size_t kUsualHeaders = 5;

template <class Queue>
auto pop(Queue& queue) {
  std::optional<typename Queue::value_type> first;
  if (queue.empty()) return first;
  first = std::move(queue.front());
  queue.pop_front();
  return first;
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

OwnedLine owned(const Outgoing& line) {
  std::string text;
  text.reserve(line.size() + limits::kLinePadding);
  text.append(line.head).append(line.middle).append(line.tail);
  return OwnedLine(std::move(text));
}

}  // namespace

void HttpLink::handle(const order::StartChild& order, Now now) {
  now_ = now;
  become_idle();
  gen_ = order.gen;
  state_ = State::connecting;
  if (has_process()) {
    if (process_gen_ != gen_) process_orders_.push_back(order::RenumberChild{process_gen_, gen_});
    process_gen_ = gen_;
    keeps_process_ = false;
    has_served_ = true;
    begin_launching();
    tell(fact::ChildStarted{gen_, pid_});
  }
  connect();
}

void HttpLink::handle(const order::SendToChild& order, Now now) {
  now_ = now;
  if (order.gen != gen_) return;
  OwnedLine line = owned(order.line);
  // What comes while the child is being lost is refused with the rest.
  const bool is_there = state_ != State::idle && state_ != State::leaving;
  if (is_there) {
    take_line(std::move(line));
  } else {
    refuse_late(std::move(line));
  }
  advance();
}

void HttpLink::handle(const order::CloseChildInput& order, Now now) {
  now_ = now;
  if (order.gen != gen_) return;
  if (exit_) tell_exit();
  const bool leaves_process = !has_process() || (order.is_at_end && !options_.ends_daemon);
  if (!leaves_process) process_orders_.push_back(order);
  if (state_ == State::up || state_ == State::losing || state_ == State::launching) {
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
  if (is_due(exit_by_, now)) exit_by_.reset();
  give_up_late();
  advance();
}

std::optional<Instant> HttpLink::next_timeout() const {
  std::optional<Instant> first = deadline_;
  earlier(first, connect_at_);
  earlier(first, judge_at_);
  earlier(first, exit_by_);
  for (const auto& [id, exchange] : exchanges_) earlier(first, exchange.over_by);
  for (const Later& later : later_) earlier(first, later.at);
  return first;
}

std::optional<HttpOrder> HttpLink::poll_order() { return pop(orders_); }

std::optional<Order> HttpLink::poll_process_order() { return pop(process_orders_); }

std::optional<order::Log> HttpLink::poll_log() { return pop(logs_); }

std::optional<Fact> HttpLink::poll_fact() {
  // The memory of a long line is not kept until the next one.
  if (facts_.empty()) {
    told_ = {};
    return std::nullopt;
  }
  told_ = std::move(facts_.front());
  facts_.pop_front();
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

void HttpLink::log(Level level, std::string text) {
  logs_.push_back({level, masked(std::move(text))});
}

void HttpLink::take_line(OwnedLine line) {
  const Message* const message = reader_.read(line.line());
  if (message == nullptr) return;
  if (message->method == Method::cancelled && message->kind == Message::Kind::notification) {
    cancel(*message, std::move(line));
    return;
  }
  // A ping asks whether the daemon lives, and not whether it is busy. Progress of the client
  // belongs to a question of the server, as its answer does.
  const bool is_urgent = message->kind == Message::Kind::result ||
                         message->kind == Message::Kind::error ||
                         message->method == Method::progress || message->method == Method::ping;
  HttpExchange exchange = as_exchange(*message, std::move(line));
  if (outbox_.size() + express_.size() + exchange.line.size() > limits::kHttpOutboxMax) {
    answer_error(exchange, fmt::format("{} bytes already wait for their turn at the server, so "
                                       "this was not accepted; try again later",
                                       outbox_.size() + express_.size()));
    return;
  }
  (is_urgent ? express_ : outbox_).push_back(std::move(exchange));
}

HttpExchange HttpLink::new_exchange(Kind kind) const {
  HttpExchange exchange;
  exchange.kind = kind;
  exchange.target = target_.empty() ? options_.url.target : target_;
  return exchange;
}

HttpExchange HttpLink::as_exchange(const Message& message, OwnedLine line) {
  HttpExchange exchange =
      new_exchange(message.kind == Message::Kind::request ? Kind::request : Kind::notification);
  exchange.id = message.id;
  exchange.asks = asked_by(message);
  exchange.may_repeat =
      message.kind == Message::Kind::result || message.kind == Message::Kind::error;
  exchange.is_stateless = message.params.has_envelope();
  if (exchange.is_stateless) {
    envelope_ = envelope_of(message.params);
    exchange.mirrored = mirrored_headers(message);
    if (message.method == Method::tools_call) {
      for (HttpHeader& header : tool_headers_.headers(message.params_raw)) {
        exchange.mirrored.push_back(std::move(header));
      }
    }
  }
  exchange.line = std::move(line);
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
  std::erase_if(later_, [&](const Later& later) { return is_meant(later.exchange); });
  std::erase_if(unjudged_, [&](const auto& entry) { return is_meant(entry.first); });
  for (auto it = exchanges_.begin(); it != exchanges_.end(); ++it) {
    if (!is_meant(it->second)) continue;
    if (!it->second.is_stateless) {
      it->second.is_cancelled = true;
      it->second.over_by = now_.steady + limits::kHttpUselessWait;
      break;
    }
    orders_.push_back(order::HttpAbort{it->first});
    exchanges_.erase(it);
    return;
  }
  // The session is that of an earlier revision, or the request has its answer already.
  if (!session_id_.empty() || !protocol_version_.empty()) {
    HttpExchange exchange = new_exchange(Kind::notification);
    exchange.line = std::move(line);
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
  refuse_unsent(lost_.why);
  if (request_count() > 0 || exit_by_) return;
  if (state_ == State::losing) {
    finish_losing();
  } else {
    become_idle();
    tell(fact::ChildOutputEnded{gen_});
  }
}

/// Whether what was sent must be taken before anything else is sent.
bool HttpLink::holds() const {
  const auto is_held_for = [](const HttpExchange& exchange) {
    return exchange.kind == Kind::probe ||
           (exchange.kind == Kind::notification && !is_success(exchange.status));
  };
  return std::any_of(exchanges_.begin(), exchanges_.end(),
                     [&](const auto& entry) { return is_held_for(entry.second); }) ||
         std::any_of(later_.begin(), later_.end(),
                     [&](const Later& later) { return is_held_for(later.exchange); });
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

void HttpLink::send(HttpExchange&& exchange) {
  order::HttpSend order;
  order.exchange = ExchangeId{++last_exchange_};
  const bool is_get = exchange.kind == Kind::stream || exchange.is_resumed;
  order.method = is_get ? Verb::get : exchange.kind == Kind::end ? Verb::del : Verb::post;
  order.target = exchange.target;
  order.headers = headers_for(exchange);
  if (order.method == Verb::post) order.body = exchange.line.text();
  order.listener = listener_;
  exchange.over_by.reset();
  if (exchange.kind == Kind::notification) exchange.over_by = now_.steady + limits::kHttpTakenWait;
  // What waits for the probe then goes on.
  if (exchange.kind == Kind::probe) exchange.over_by = now_.steady + limits::kToolsListWait;
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
  headers.reserve(kUsualHeaders + exchange.mirrored.size() + options_.headers.size());
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
  if (!exchange.is_opening() && !exchange.is_stateless && !session_id_.empty()) {
    headers.push_back({"Mcp-Session-Id", session_id_});
  }
  if (!exchange.is_opening() && !exchange.is_stateless && !protocol_version_.empty()) {
    headers.push_back({"MCP-Protocol-Version", protocol_version_});
  }
  headers.insert(headers.end(), exchange.mirrored.begin(), exchange.mirrored.end());
  headers.insert(headers.end(), options_.headers.begin(), options_.headers.end());
  const bool names_agent = std::any_of(
      options_.headers.begin(), options_.headers.end(),
      [](const HttpHeader& header) { return ascii_lower(header.name) == "user-agent"; });
  if (!names_agent) headers.push_back({"User-Agent", "mcp-sitter/" + options_.sitter_version});
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
}

/// Opens the stream on which the daemon speaks without being asked. The client's first notification
/// says that the session is open.
void HttpLink::open_stream_once() {
  if (state_ != State::up || protocol_version_.empty() || has_asked_stream_) return;
  has_asked_stream_ = true;
  send(new_exchange(Kind::stream));
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

/// The head of a refusal says that the request had no effect, so the body is not needed.
void HttpLink::end_refused() {
  std::vector<ExchangeId> refused;
  for (const auto& [id, exchange] : exchanges_) {
    const bool is_refused = exchange.status != 0 && !is_success(exchange.status);
    if (is_refused && exchange.kind == Kind::request) refused.push_back(id);
  }
  for (const ExchangeId id : refused) end_early(id);
}

void HttpLink::finish_losing() {
  end_refused();
  if (exit_) {
    tell_exit();
    return;
  }
  fact::ChildLost lost = std::move(lost_);
  lost.gen = gen_;
  keeps_process_ = keeps_process_ || has_process();
  // What the daemon has asked for does not concern the next one.
  try_again_at_ = {};
  become_idle();
  tell(std::move(lost));
}

/// The child is taken down: what it does is given up, and its session is ended. Unless it is left,
/// a process of ours then ends as any other.
void HttpLink::leave(bool leaves_process) {
  const bool ends_session = state_ == State::up && !session_id_.empty() && !options_.keeps_session;
  if (leaves_process) keeps_process_ = has_process();
  refuse_unsent("it was not sent");
  abort_all();
  lost_ = {};
  if (leaves_process && !ends_session) {
    finish_losing();
    return;
  }
  state_ = State::leaving;
  deadline_.reset();
  connect_at_.reset();
  exit_by_.reset();
  if (leaves_process) deadline_ = now_.steady + limits::kHttpEndWait;
  if (ends_session) send(new_exchange(Kind::end));
}

void HttpLink::abort_all() {
  for (const auto& [id, exchange] : exchanges_) orders_.push_back(order::HttpAbort{id});
  exchanges_.clear();
  outbox_.take_all();
  express_.take_all();
  later_.clear();
}

/// Gives up the exchanges that have not ended in time. Nobody waits for what they might bring.
void HttpLink::give_up_late() {
  std::vector<ExchangeId> late;
  for (const auto& [id, exchange] : exchanges_) {
    if (is_due(exchange.over_by, now_)) late.push_back(id);
  }
  for (const ExchangeId id : late) {
    const auto it = exchanges_.find(id);
    if (it == exchanges_.end()) continue;
    const HttpExchange& exchange = it->second;
    if (exchange.status != 0 && !is_success(exchange.status)) {
      end_early(id);
      continue;
    }
    if (exchange.kind == Kind::notification && exchange.status == 0) {
      log(Level::warn, fmt::format("the server has not taken a notification or an answer within {}",
                                   duration_text(limits::kHttpTakenWait)));
    }
    orders_.push_back(order::HttpAbort{id});
    exchanges_.erase(it);
  }
}

void HttpLink::become_idle() {
  abort_all();
  state_ = State::idle;
  deadline_.reset();
  connect_at_.reset();
  judge_at_.reset();
  exit_by_.reset();
  exit_.reset();
  unjudged_.clear();
  session_id_.clear();
  protocol_version_.clear();
  tool_headers_.clear();
  last_tools_.clear();
  doubt_ = Doubt::none;
  listener_ = kNoListener;
  target_.clear();
  has_asked_stream_ = false;
  had_stream_ = false;
  is_heard_ = false;
}

/// How long to wait before the daemon is tried again. A daemon on this machine is back soon. What
/// is refused before that belongs to the same try.
Milliseconds HttpLink::next_wait(Milliseconds asked) {
  if (now_.steady < try_again_at_ && now_.steady + asked <= try_again_at_) {
    return std::chrono::ceil<Milliseconds>(try_again_at_ - now_.steady);
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
