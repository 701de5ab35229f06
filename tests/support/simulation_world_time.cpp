#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "support/simulation_world.hpp"

/// How time passes, and what happens meanwhile.
namespace sitter::sim {

using std::chrono::duration_cast;
using std::chrono::microseconds;

namespace {

/// If more timeouts than this are due at one moment, they never end.
constexpr int kTimeoutsMax = 50;

}  // namespace

void World::time_passes() {
  const auto next = bridge_.next_timeout();
  switch (random_.weighted({30, 25, 15, next ? 25 : 0, 6, 1})) {
    case 0:
      pass_until(now_.steady + microseconds(random_.below(1500)));
      break;
    case 1:
      pass(Milliseconds(random_.below(30)));
      break;
    case 2:
      pass(Milliseconds(random_.below(800)));
      break;
    case 3:
      pass_until(std::max(now_.steady, *next));
      break;
    case 4:
      pass(Milliseconds(random_.below(5000)));
      break;
    default:
      pass(Milliseconds(random_.below(60000)));
  }
}

void World::pass(Milliseconds time) { pass_until(now_.steady + time); }

void World::pass_until(Instant until) {
  int timeouts = 0;
  Instant moment = now_.steady;
  while (!promises_.has_exited()) {
    const auto timeout = bridge_.next_timeout();
    const bool is_event = !queue_.events.empty() && queue_.events.begin()->first <= until &&
                          (!timeout || queue_.events.begin()->first <= *timeout);
    if (!is_event && (!timeout || *timeout > until)) break;
    const Instant at = std::max(now_.steady, is_event ? queue_.events.begin()->first : *timeout);
    now_.wall += duration_cast<WallTime::duration>(at - now_.steady);
    now_.steady = at;
    promises_.set_now(now_);
    if (is_event) {
      const Event event = queue_.events.begin()->second;
      queue_.events.erase(queue_.events.begin());
      happen(event);
      continue;
    }
    if (at != std::exchange(moment, at)) timeouts = 0;
    if (++timeouts > kTimeoutsMax) throw Broken("a timeout is due again and again");
    bridge_.handle_timeout(now_);
    carry_out_all();
    promises_.on_settled(bridge_);
    if (!promises_.has_exited()) promises_.on_timeout_handled(bridge_.next_timeout());
    while (!queue_.later.empty()) {
      const Fact next = std::move(queue_.later.front());
      queue_.later.pop_front();
      decide(next);
    }
  }
  if (promises_.has_exited()) return;
  if (until > now_.steady) {
    now_.wall += duration_cast<WallTime::duration>(until - now_.steady);
    now_.steady = until;
    promises_.set_now(now_);
  }
}

void World::happen(const Event& event) {
  Unit* const unit = find(event.gen);
  if (event.kind == Event::Kind::orphan_ends) {
    feed(fact::OrphanEnded{});
    return;
  }
  if (unit == nullptr) return;
  switch (event.kind) {
    case Event::Kind::process_dies:
      process_dies(*unit, event);
      break;
    case Event::Kind::exits:
      if (tells()) {
        tell(who(event.gen),
             fmt::format("exits with {} {}", event.status.code, event.status.signal));
      }
      promises_.lives().on_exited(event.gen);
      feed(fact::ChildExited{event.gen, event.status});
      break;
    case Event::Kind::output_ends:
      if (Child* const child = find_child(event.gen)) read_all(*child);
      if (find(unit->gen) == nullptr || std::exchange(unit->has_output_ended, true)) return;
      tell(who(unit->gen), "its output ends");
      feed(fact::ChildOutputEnded{unit->gen});
      break;
    case Event::Kind::error_ends:
      if (is_build(event.gen) && unit->has_error_ended) return;
      unit->has_error_ended = true;
      tell(who(event.gen), "its stderr ends");
      feed(fact::ChildErrorEnded{event.gen});
      break;
    case Event::Kind::starts_anew:
      starts_anew(event.gen);
      break;
    case Event::Kind::writes: {
      if (!unit->lives() || unit->has_error_ended) return;
      const std::string text = fmt::format("CC {}.c", ++counts_.lines_of_builds);
      tell(who(event.gen), text);
      feed(fact::ChildErrorLine{event.gen, text, 0});
      break;
    }
    case Event::Kind::writes_file:
      if (unit->lives()) files_change(outside_.written(is_build(event.gen)), false);
      break;
    case Event::Kind::orphan_ends:
      break;
  }
}

/// The former server is gone, and everything that it has written is read.
void World::starts_anew(Generation gen) {
  Child* const child = find_child(gen);
  if (child == nullptr || !child->lives()) return;
  read_all(*child);
  if (find(child->gen) == nullptr) return;
  tell(who(child->gen), "its server is started anew");
  child->start_anew();
}

void World::process_dies(Unit& unit, const Event& event) {
  const auto process = std::find_if(unit.processes.begin(), unit.processes.end(),
                                    [&](const Unit::Process& p) { return p.pid == event.pid; });
  if (!std::exchange(process->lives, false)) return;
  if (process->is_leader) later({Event::Kind::exits, event.gen, 0, event.status}, 3);
  if (!process->is_leader && !unit.lives()) later({Event::Kind::orphan_ends, event.gen, 0, {}}, 3);
  if (unit.are_pipes_held()) return;
  later({Event::Kind::output_ends, event.gen, 0, {}}, 3);
  later({Event::Kind::error_ends, event.gen, 0, {}}, 3);
}

void World::feed(const Fact& fact) {
  decide(fact);
  while (!queue_.later.empty()) {
    const Fact next = std::move(queue_.later.front());
    queue_.later.pop_front();
    decide(next);
  }
}

void World::decide(const Fact& fact) {
  if (digest_ != nullptr) digest_->add(fact, now_);
  bridge_.handle(fact, now_);
  carry_out_all();
  // Facts with which the shell answers an order at once belong to the same moment.
  if (queue_.later.empty()) promises_.on_settled(bridge_);
}

}  // namespace sitter::sim
