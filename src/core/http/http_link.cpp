#include "core/http/http_link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/base/ascii.hpp"
#include "core/base/text.hpp"
#include "core/http/header_lines.hpp"
#include "core/http/http_link_limits.hpp"
#include "core/http/http_words.hpp"
#include "sitter/bytes.hpp"
#include "sitter/line.hpp"

namespace sitter {

using Level = order::Log::Level;

namespace {

/// How much memory an order keeps for the body of the next one.
constexpr std::size_t kBodyKeptMax = 64 * limits::kKiB;

OwnedLine owned(const Outgoing& line) {
  std::string text;
  text.reserve(line.size() + limits::kLinePadding);
  text.append(line.head).append(line.middle).append(line.tail);
  return OwnedLine(std::move(text));
}

std::string headers_of(const HttpLink::Options& options) {
  std::string lines;
  bool names_agent = false;
  for (const HttpHeader& header : options.headers) {
    append_header(lines, header.name, header.value);
    names_agent = names_agent || ascii_lower(header.name) == "user-agent";
  }
  if (!names_agent) append_header(lines, "User-Agent", "mcp-sitter/" + options.sitter_version);
  return lines;
}

}  // namespace

HttpLink::HttpLink(Options options)
    : options_(std::move(options)),
      constant_headers_(headers_of(options_)),
      secrets_(options_.headers) {}

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
  if (!is_there) {
    refuse_late(std::move(line));
  } else if (const Message* const message = order.message ? order.message : read(line)) {
    take_line(std::move(line), *message);
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

void HttpLink::handle(HttpFact&& fact, Now now) {
  now_ = now;
  std::visit([this](auto& one) { on(one); }, fact);
  advance();
}

void HttpLink::handle_timeout(Now now) {
  now_ = now;
  if (is_due(deadline_, now)) {
    deadline_.reset();
    if (state_ == State::losing || state_ == State::leaving) finish_losing();
  }
  const auto due = std::stable_partition(later_.begin(), later_.end(),
                                         [&](const Later& later) { return later.at > now.steady; });
  std::vector<Later> sent(std::make_move_iterator(due), std::make_move_iterator(later_.end()));
  later_.erase(due, later_.end());
  for (Later& later : sent) send(std::move(later.exchange));
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
  for (const ExchangePtr& sent : exchanges_) earlier(first, sent->over_by);
  for (const Later& later : later_) earlier(first, later.at);
  return first;
}

const HttpOrder* HttpLink::poll_order() {
  std::string& last_body = std::get<order::HttpSend>(polled_send_).body;
  if (last_body.capacity() > kBodyKeptMax) last_body = std::string();
  while (const Ordered* const next = orders_.poll()) {
    if (next->is_abort) return &(polled_other_ = order::HttpAbort{next->exchange});
    // It may have been given up since.
    const Sent found = find_sent(next->exchange);
    if (found == exchanges_.end()) continue;
    const HttpExchange& exchange = **found;
    if (exchange.kind == Kind::connect) {
      return &(polled_other_ = order::HttpConnect{exchange.number});
    }
    write_order(exchange);
    return &polled_send_;
  }
  return nullptr;
}

const Fact* HttpLink::poll_fact() {
  // The memory of a long line is not kept until the next one.
  told_.clear();
  if (facts_.empty()) return nullptr;
  told_.splice(told_.begin(), facts_, facts_.begin());
  Told& told = told_.front();
  const Line line = told.line.line();
  if (auto* const said = std::get_if<fact::ChildLine>(&told.fact)) {
    said->line = line;
    if (told.reading == readings_) said->message = message_;
  } else if (auto* const refused = std::get_if<fact::RequestRefused>(&told.fact)) {
    refused->line = line;
  } else if (auto* const lost = std::get_if<fact::RequestLost>(&told.fact)) {
    lost->line = line;
  } else if (auto* const too_long = std::get_if<fact::ChildLineTooLong>(&told.fact)) {
    too_long->head = told.head;
    too_long->tail = told.tail;
  }
  return &told.fact;
}

const Message* HttpLink::read(const OwnedLine& line) {
  ++readings_;
  message_ = reader_.read(line.line());
  return message_;
}

/// `message` is what was read last, if that was this line.
void HttpLink::tell_line(OwnedLine line, const Message* message) {
  Told& told = facts_.emplace_back();
  told.fact.emplace<fact::ChildLine>().gen = gen_;
  told.line = std::move(line);
  if (message != nullptr) told.reading = readings_;
}

void HttpLink::log(Level level, std::string text) {
  logs_.push_back({level, secrets_.masked(std::move(text))});
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

/// The daemon has opened a session. If there is one already, the client has opened another one, and
/// the stream of the former is not wanted any more.
void HttpLink::begin_session(std::string id) {
  session_.set_id(std::move(id));
  std::erase_if(later_, [](const Later& later) { return later.exchange->kind == Kind::stream; });
  abort_all_of(Kind::stream);
  has_asked_stream_ = false;
  had_stream_ = false;
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
  for (const ExchangePtr& sent : exchanges_) {
    const bool is_refused = sent->status != 0 && !is_success(sent->status);
    if (is_refused && sent->kind == Kind::request) refused.push_back(sent->number);
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
  const bool ends_session =
      state_ == State::up && !session_.id().empty() && !options_.keeps_session;
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

/// The exchange with this number, or the end.
HttpLink::Sent HttpLink::find_sent(ExchangeId number) {
  return std::find_if(exchanges_.begin(), exchanges_.end(),
                      [&](const ExchangePtr& sent) { return sent->number == number; });
}

/// Nothing follows from the exchange with this number. Null if there is none.
ExchangePtr HttpLink::take_sent(ExchangeId number) {
  const Sent found = find_sent(number);
  if (found == exchanges_.end()) return nullptr;
  ExchangePtr taken = std::move(*found);
  exchanges_.erase(found);
  return taken;
}

/// Returns the exchange, if there is one with this number.
ExchangePtr HttpLink::abort(ExchangeId number) {
  orders_.push_back({.exchange = number, .is_abort = true});
  return take_sent(number);
}

void HttpLink::abort_all_of(Kind kind) {
  std::erase_if(exchanges_, [&](const ExchangePtr& sent) {
    if (sent->kind != kind) return false;
    orders_.push_back({.exchange = sent->number, .is_abort = true});
    return true;
  });
}

void HttpLink::abort_all() {
  for (const ExchangePtr& sent : exchanges_) {
    orders_.push_back({.exchange = sent->number, .is_abort = true});
  }
  exchanges_.clear();
  outbox_.take_all();
  express_.take_all();
  later_.clear();
}

/// Gives up the exchanges that have not ended in time. Nobody waits for what they might bring.
void HttpLink::give_up_late() {
  std::vector<ExchangeId> late;
  for (const ExchangePtr& sent : exchanges_) {
    if (is_due(sent->over_by, now_)) late.push_back(sent->number);
  }
  for (const ExchangeId number : late) {
    const Sent found = find_sent(number);
    if (found == exchanges_.end()) continue;
    if ((*found)->status != 0 && !is_success((*found)->status)) {
      end_early(number);
      continue;
    }
    const ExchangePtr exchange = abort(number);
    if (exchange->kind != Kind::notification || exchange->status != 0) continue;
    log(Level::warn, fmt::format("the server has not taken a notification or an answer within {}",
                                 duration_text(limits::kHttpTakenWait)));
    open_stream_once();
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
  session_.clear();
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
