#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "core/wire/message.hpp"
#include "support/link_orders.hpp"
#include "support/reading.hpp"
#include "support/sent_headers.hpp"
#include "support/simulation_http_world.hpp"
#include "support/simulation_said.hpp"

/// The shell between the bridge, the link and the network, and its clock.
namespace sitter::sim {

using Level = order::Log::Level;

namespace {

/// More orders than these without a turn of the clock are a loop.
constexpr int kOrdersMax = 20'000;
constexpr int kTimeoutsMax = 50;

std::string number_of(ExchangeId id) { return std::to_string(static_cast<std::uint64_t>(id)); }

std::string words_of(const HttpOrder& order) {
  if (const auto* const connect = std::get_if<order::HttpConnect>(&order)) {
    return "connect " + number_of(connect->exchange);
  }
  if (const auto* const abort = std::get_if<order::HttpAbort>(&order)) {
    return "abort " + number_of(abort->exchange);
  }
  const auto& send = std::get<order::HttpSend>(order);
  using Verb = order::HttpSend::Method;
  std::string words = send.method == Verb::get    ? "get "
                      : send.method == Verb::post ? "post "
                                                  : "delete ";
  words += number_of(send.exchange) + ' ' + send.target;
  for (const char* const name : {"Mcp-Session-Id", "Last-Event-ID"}) {
    const std::string value = sent_value(send, name);
    if (!value.empty()) words += fmt::format(" [{}]", value);
  }
  return words + ' ' + send.body;
}

std::string words_of(const HttpFact& fact) {
  return std::visit(
      [](const auto& one) -> std::string {
        using One = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<One, fact::HttpIdleClosed>) {
          return "an idle connection is closed";
        } else {
          const std::string number = number_of(one.exchange);
          if constexpr (std::is_same_v<One, fact::HttpConnected>) {
            return number + " is connected";
          } else if constexpr (std::is_same_v<One, fact::HttpHead>) {
            return fmt::format("{} is answered with {} {}", number, one.status,
                               header_value(one.headers, "mcp-session-id"));
          } else if constexpr (std::is_same_v<One, fact::HttpBytes>) {
            return number + ": " + std::string(one.bytes);
          } else if constexpr (std::is_same_v<One, fact::HttpEnded>) {
            return number + " ends";
          } else {
            return fmt::format("{} fails ({}): {}", number, static_cast<int>(one.kind), one.reason);
          }
        }
      },
      fact);
}

}  // namespace

std::optional<Instant> HttpWorld::next_timeout() const {
  auto next = bridge_.next_timeout();
  earlier(next, link_.next_timeout());
  if (!events_.empty()) earlier(next, events_.begin()->first);
  return next;
}

void HttpWorld::time_passes() {
  const auto next = next_timeout();
  switch (random_.weighted({40, 25, next ? 25 : 0, 5, 1})) {
    case 0:
      pass_until(now_.steady + Milliseconds(random_.below(5)));
      break;
    case 1:
      pass_until(now_.steady + Milliseconds(random_.below(200)));
      break;
    case 2:
      pass_until(std::max(now_.steady, *next));
      break;
    case 3:
      pass_until(now_.steady + Milliseconds(random_.below(5000)));
      break;
    default:
      pass_until(now_.steady + Milliseconds(random_.below(40000)));
  }
}

void HttpWorld::pass_until(Instant until) {
  int timeouts = 0;
  while (!is_over_) {
    const auto next = next_timeout();
    if (!next || *next > until) break;
    if (*next > now_.steady) timeouts = 0;
    turn_to(std::max(now_.steady, *next));
    if (!events_.empty() && events_.begin()->first <= now_.steady) {
      const auto event = std::move(events_.extract(events_.begin()).mapped());
      event();
      continue;
    }
    if (++timeouts > kTimeoutsMax) throw Broken("a timeout is due again and again");
    fire_deadlines();
  }
  if (!is_over_) turn_to(std::max(now_.steady, until));
}

void HttpWorld::turn_to(Instant instant) {
  if (instant > now_.steady) orders_ = 0;
  now_.wall += std::chrono::duration_cast<WallTime::duration>(instant - now_.steady);
  said_.now = now_.steady = instant;
}

void HttpWorld::fire_deadlines() {
  link_.handle_timeout(now_);
  facts_.act([this] {
    bridge_.handle_timeout(now_);
    carry_out_all();
  });
  feed_from_link();
}

void HttpWorld::on_http(const HttpFact& fact) {
  if (tells()) tell("  http", words_of(fact));
  link_.handle(HttpFact(fact), now_);
  if (is_reading_) {
    carry_out_link();
  } else {
    feed_from_link();
  }
}

void HttpWorld::feed_from_link() {
  carry_out_link();
  while (true) {
    if (!of_process_.empty()) {
      const Fact fact = std::move(of_process_.front());
      of_process_.pop_front();
      feed(fact);
    } else if (const Fact* const fact = link_.poll_fact()) {
      check_fact(*fact);
      feed(*fact);
    } else {
      return;
    }
    carry_out_link();
  }
}

void HttpWorld::decide(const Fact& fact) {
  if (digest_ != nullptr) digest_->add(fact, now_);
  bridge_.handle(fact, now_);
  carry_out_all();
}

void HttpWorld::carry_out_all() {
  while (const auto order = bridge_.poll_order()) {
    if (digest_ != nullptr) digest_->add(*order);
    check_steps();
    carry_out(*order);
  }
}

void HttpWorld::check_steps() {
  if (++orders_ > kOrdersMax) throw Broken("there is no end to the orders of one moment");
}

void HttpWorld::carry_out_link() {
  while (const auto order = link_.poll_order()) {
    check_steps();
    if (tells()) tell("  link", words_of(*order));
    std::visit([this](const auto& one) { network_.take(one, now_.steady); }, *order);
  }
  while (const auto line = link_.poll_log()) tell("  log", line->text);
  while (const auto order = link_.poll_process_order()) {
    check_steps();
    carry_out_for_process(*order);
  }
}

/// Notes what a child is ordered to do.
void HttpWorld::note(const Order& order) {
  if (const auto* const start = std::get_if<order::StartChild>(&order)) {
    tell("  bridge", fmt::format("starts child {}", start->gen));
    lives_[start->gen] = {};
    network_.on_child_ordered(start->gen);
  } else if (const auto* const sent = std::get_if<order::SendToChild>(&order)) {
    const OwnedLine line(sent->line.text());
    if (tells()) tell(fmt::format("  to child {}", sent->gen), line.text());
    MessageReader reader;
    const Message* const message = reader.read(line.line());
    if (!is_reading_of(sent->message, line.text())) throw Broken("a line says something else");
    Life& life = lives_[sent->gen];
    if (!life.is_started) throw Broken("a line to a child that is not there");
    if (message != nullptr && message->kind == Message::Kind::request && !life.is_over) {
      life.open.insert(std::string(message->id));
    }
  } else if (const auto* const close = std::get_if<order::CloseChildInput>(&order)) {
    tell("  bridge", fmt::format("closes child {}", close->gen));
  }
}

void HttpWorld::carry_out(const Order& order) {
  if (is_over_) throw Broken("something was done after the end");
  note(order);
  if (pass_to_link(link_, order, now_)) {
    carry_out_link();
    return;
  }
  if (const auto* const a = std::get_if<order::SendToClient>(&order)) {
    const std::string text = a->line.text();
    if (tells()) tell("  to client", text);
    client_.hears(text);
  } else if (const auto* const b = std::get_if<order::StartBuild>(&order)) {
    start_build(*b);
  } else if (const auto* const c = std::get_if<order::SignalUnit>(&order)) {
    feed(fact::UnitSignalled{c->gen, {}});
  } else if (std::holds_alternative<order::SweepImage>(order)) {
    feed(fact::ImageSwept{});
  } else if (const auto* const d = std::get_if<order::InspectBinary>(&order)) {
    feed(fact::BinaryInspected{d->look, {}, {}, {}});
  } else if (std::holds_alternative<order::CheckCommandFiles>(order)) {
    feed(fact::CommandFilesChecked{random_.chance(20)});
  } else if (const auto* const e = std::get_if<order::LookAtSources>(&order)) {
    feed(fact::SourcesChecked{e->gen, "", {}});
  } else if (const auto* const f = std::get_if<order::Log>(&order)) {
    tell("  log", f->text);
  } else if (std::holds_alternative<order::Exit>(order)) {
    tell("  bridge", "exits");
    is_over_ = true;
  }
}

void HttpWorld::start_build(const order::StartBuild& order) {
  const Generation gen = order.gen;
  tell("  bridge", fmt::format("starts build {}", -gen));
  feed(fact::ChildStarted{gen, 500});
  later(3000, [this, gen] {
    tell("build", "ends");
    feed(fact::ChildExited{gen, {random_.chance(70) ? 0 : 1, ""}});
    feed(fact::ChildOutputEnded{gen});
    feed(fact::ChildErrorEnded{gen});
    feed_from_link();
  });
}

/// What the link tells must be what a child could tell.
void HttpWorld::check_fact(const Fact& fact) {
  if (const auto* const a = std::get_if<fact::ChildStarted>(&fact)) {
    tell("  link", fmt::format("child {} has started", a->gen));
    if (std::exchange(lives_[a->gen].is_started, true)) throw Broken("a child starts twice");
  } else if (const auto* const b = std::get_if<fact::ChildStartFailed>(&fact)) {
    tell("  link", fmt::format("child {} can't be started: {}", b->gen, b->reason));
    if (lives_[b->gen].is_started) throw Broken("a start fails that has succeeded");
  } else if (const auto* const c = std::get_if<fact::ChildLine>(&fact)) {
    if (tells()) tell(fmt::format("  child {}", c->gen), c->line.text());
    if (!is_reading_of(c->message, c->line.text())) throw Broken("a line says something else");
    check_line(lives_[c->gen], c->line, "an answer", true);
  } else if (const auto* const d = std::get_if<fact::RequestRefused>(&fact)) {
    if (tells()) {
      tell(fmt::format("  child {}", d->gen),
           fmt::format("refuses: {} {}", d->why, d->line.text()));
    }
    check_line(lives_[d->gen], d->line, "a refusal", false);
  } else if (const auto* const e = std::get_if<fact::RequestLost>(&fact)) {
    if (tells()) {
      tell(fmt::format("  child {}", e->gen), fmt::format("loses: {} {}", e->why, e->line.text()));
    }
    check_line(lives_[e->gen], e->line, "a loss", false);
  } else if (const auto* const f = std::get_if<fact::ChildLost>(&fact)) {
    tell(fmt::format("  child {}", f->gen), "is lost: " + f->why);
    Life& life = lives_[f->gen];
    if (!life.is_started || std::exchange(life.is_over, true)) throw Broken("a child ends twice");
  } else if (const auto* const g = std::get_if<fact::ChildExited>(&fact)) {
    tell(fmt::format("  child {}", g->gen), "has exited");
    if (std::exchange(lives_[g->gen].has_exited, true)) throw Broken("a child exits twice");
  } else if (const auto* const h = std::get_if<fact::ChildOutputEnded>(&fact)) {
    tell(fmt::format("  child {}", h->gen), "its output ends");
    Life& life = lives_[h->gen];
    if (!life.is_started || std::exchange(life.is_over, true)) throw Broken("a child ends twice");
  }
}

/// Each request of a child is answered or given back once.
void HttpWorld::check_line(Life& life, const Line& line, std::string_view what, bool is_answer) {
  if (!life.is_started || life.is_over) throw Broken("a child speaks that is not there");
  MessageReader reader;
  const Message* const message = reader.read(line);
  if (message == nullptr) throw Broken("a line that is no message");
  const bool ends =
      !is_answer || message->kind == Message::Kind::result || message->kind == Message::Kind::error;
  if (ends && life.open.erase(std::string(message->id)) == 0) {
    throw Broken(fmt::format("{} of a request that is not open", what));
  }
}

}  // namespace sitter::sim
