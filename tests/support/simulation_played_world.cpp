#include "support/simulation_played_world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/wire/message.hpp"
#include "support/reading.hpp"
#include "support/simulation_said.hpp"

namespace sitter::sim {

namespace {

/// More orders than these without a turn of the clock are a loop.
constexpr int kOrdersMax = 20'000;
constexpr int kTimeoutsMax = 50;

}  // namespace

PlayedWorld::PlayedWorld(Random random, const BridgeConfig& config, std::FILE* story,
                         Digest* digest)
    : random_(random),
      now_{Instant(std::chrono::hours(100)), WallTime(std::chrono::hours(480'000))},
      bridge_(config, now_),
      story_(story),
      digest_(digest),
      begun_(now_.steady) {}

void PlayedWorld::client_says(const std::string& text) {
  tell("client", text);
  const OwnedLine line(text);
  feed(fact::ClientLine{line.line()});
  feed_from_played();
}

std::optional<Instant> PlayedWorld::next_timeout() const {
  auto next = bridge_.next_timeout();
  earlier(next, timeout_of_played());
  if (!events_.empty()) earlier(next, events_.begin()->first);
  return next;
}

void PlayedWorld::time_passes() {
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

void PlayedWorld::pass_until(Instant until) {
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

void PlayedWorld::rest_a_moment() {
  const auto next = next_timeout();
  const Instant soon = now_.steady + Milliseconds(500);
  pass_until(next ? std::clamp(*next, now_.steady, soon) : soon);
}

void PlayedWorld::turn_to(Instant instant) {
  if (instant > now_.steady) orders_ = 0;
  now_.wall += std::chrono::duration_cast<WallTime::duration>(instant - now_.steady);
  now_.steady = instant;
  on_turned();
}

void PlayedWorld::later(int milliseconds_max, std::function<void()> event) {
  const std::chrono::microseconds after(random_.below(1000 * milliseconds_max + 1));
  at(now_.steady + after, std::move(event));
}

void PlayedWorld::at(Instant instant, std::function<void()> event) {
  events_.emplace(instant, std::move(event));
}

void PlayedWorld::fire_deadlines() {
  handle_timeout_of_played();
  facts_.act([this] {
    bridge_.handle_timeout(now_);
    carry_out_all();
  });
  feed_from_played();
}

void PlayedWorld::feed_from_played() {
  carry_out_played();
  while (const Fact* const fact = next_fact()) {
    feed(*fact);
    carry_out_played();
  }
  on_settled();
}

void PlayedWorld::decide(const Fact& fact) {
  if (digest_ != nullptr) digest_->add(fact, now_);
  bridge_.handle(fact, now_);
  carry_out_all();
}

void PlayedWorld::carry_out_all() {
  while (const auto order = bridge_.poll_order()) {
    if (digest_ != nullptr) digest_->add(*order);
    check_steps();
    carry_out(*order);
  }
}

void PlayedWorld::check_steps() {
  if (++orders_ > kOrdersMax) throw Broken("there is no end to the orders of one moment");
}

/// Notes what a child is ordered to do.
void PlayedWorld::note(const Order& order) {
  if (const auto* const start = std::get_if<order::StartChild>(&order)) {
    tell("  bridge", fmt::format("starts child {}", start->gen));
    lives_[start->gen] = {};
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

void PlayedWorld::carry_out(const Order& order) {
  if (is_over_) throw Broken("something was done after the end");
  note(order);
  if (takes(order)) {
    carry_out_played();
    return;
  }
  if (const auto* const a = std::get_if<order::SendToClient>(&order)) {
    const std::string text = a->line.text();
    if (tells()) tell("  to client", text);
    client_hears(text);
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
    feed(fact::SourcesChecked{e->gen, "", {}, std::chrono::milliseconds(50)});
  } else if (const auto* const h = std::get_if<order::LookAtProcess>(&order)) {
    feed(fact::ProcessSeen{h->gen, ""});
  } else if (const auto* const f = std::get_if<order::SendToControl>(&order)) {
    if (tells()) tell(fmt::format("  to ctl {}", f->connection), f->line);
    control_hears(f->connection, f->line);
  } else if (const auto* const g = std::get_if<order::Log>(&order)) {
    tell("  log", g->text);
  } else if (std::holds_alternative<order::Exit>(order)) {
    tell("  bridge", "exits");
    is_over_ = true;
  }
}

void PlayedWorld::start_build(const order::StartBuild& order) {
  const Generation gen = order.gen;
  tell("  bridge", fmt::format("starts build {}", -gen));
  feed(fact::ChildStarted{gen, 500});
  later(3000, [this, gen] {
    tell("build", "ends");
    feed(fact::ChildExited{gen, {random_.chance(70) ? 0 : 1, ""}});
    feed(fact::ChildOutputEnded{gen});
    feed(fact::ChildErrorEnded{gen});
    feed_from_played();
  });
}

void PlayedWorld::check_fact(const Fact& fact) {
  if (const auto* const a = std::get_if<fact::ChildStarted>(&fact)) {
    tell("  child", fmt::format("child {} has started", a->gen));
    if (std::exchange(lives_[a->gen].is_started, true)) throw Broken("a child starts twice");
  } else if (const auto* const b = std::get_if<fact::ChildStartFailed>(&fact)) {
    tell("  child", fmt::format("child {} can't be started: {}", b->gen, b->reason));
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
void PlayedWorld::check_line(Life& life, const Line& line, std::string_view what, bool is_answer) {
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

void PlayedWorld::tell(std::string_view who, std::string_view what) const {
  if (!tells()) return;
  const double seconds = std::chrono::duration<double>(now_.steady - begun_).count();
  std::fprintf(story_, "%10.6f %-12s %s\n", seconds, std::string(who).c_str(),
               std::string(what).c_str());
}

}  // namespace sitter::sim
