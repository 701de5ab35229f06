#include "support/simulation_world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace sitter::sim {

using std::chrono::duration_cast;
using std::chrono::microseconds;

namespace {

/// More timeouts than this in one moment never end.
constexpr int kTimeoutsMax = 50;

/// Padded as the shell's lines are.
OwnedLine padded(const std::string& text) { return OwnedLine(std::string_view(text)); }

std::string_view client_word(Scene::Client client) {
  switch (client) {
    case Scene::Client::legacy:
      return "legacy";
    case Scene::Client::modern:
      return "modern";
    case Scene::Client::dual:
      return "dual";
    case Scene::Client::mixed:
      break;
  }
  return "mixed";
}

}  // namespace

Scene World::random_scene(Random& random, Random& outside, bool is_interpreted) {
  using Kind = Scene::Client;
  Scene scene;
  scene.is_interpreted = is_interpreted;
  scene.client =
      std::array{Kind::legacy, Kind::modern, Kind::dual,
                 Kind::mixed}[static_cast<std::size_t>(random.weighted({45, 30, 17, 8}))];
  scene.wildness = random.pick(std::array{0, 20, 50, 100});
  scene.has_outer_tools = random.chance(5);
  scene.has_batches = scene.client == Kind::legacy && random.chance(20);
  scene.has_builds = random.chance(25);
  add_outside(outside, scene);
  return scene;
}

BridgeConfig World::random_config() {
  Random& random = random_;
  const Scene& scene = scene_;
  BridgeConfig config;
  config.command = "./server";
  config.arguments = {"--verbose"};
  config.startup_timeout = random.pick(
      std::array{Milliseconds(50000), Milliseconds(3000), Milliseconds(20000), Milliseconds(0)});
  config.answer_within = random.pick(std::array{Milliseconds(8000), Milliseconds(500)});
  config.kill_grace = random.pick(
      std::array{Milliseconds(500), Milliseconds(50), Milliseconds(3000), Milliseconds(0)});
  config.writes_notices = !random.chance(10);
  if (scene.has_builds) {
    config.build_command = "make";
    config.on_busy_wait = random.pick(std::array{Milliseconds(0), Milliseconds(10000)});
  }
  config.sitter_version = "0.3.0";
  config.seed = random.next();
  add_outside(outside_random_, scene, config);
  return config;
}

World::World(std::uint64_t seed, std::FILE* story)
    : random_(seed),
      outside_random_(~seed),
      story_(story),
      scene_(random_scene(random_, outside_random_, seed % 2 == 0)),
      start_failures_(random_.chance(30) ? random_.between(5, 60) : 0),
      config_(random_config()),
      now_{Instant(std::chrono::hours(100)), WallTime(std::chrono::hours(480'000))},
      begun_(now_.steady),
      promises_(config_, said_, scene_),
      bridge_(config_, now_),
      client_(random_, said_, scene_),
      outside_(outside_random_, scene_) {
  if (!tells()) return;
  tell("config",
       fmt::format("{} client, wildness {}, startup timeout {}, answer within {}, kill grace {}{}",
                   client_word(scene_.client), scene_.wildness, config_.startup_timeout.count(),
                   config_.answer_within.count(), config_.kill_grace.count(),
                   scene_.has_builds
                       ? fmt::format(", builds, busy wait {}", config_.on_busy_wait.count())
                       : "") +
           outside_words());
}

void World::play() {
  promises_.set_now(now_);
  for (int steps = random_.between(80, 250); steps > 0 && !promises_.has_exited(); --steps) step();
  if (scene_.has_watch && !promises_.has_exited()) rest();
  while (!promises_.has_exited()) end();
  // Whatever still comes in, nothing may come out.
  feed(input::OrphanEnded{});
  bridge_.handle_timeout(now_);
  carry_out_all();
  if (bridge_.next_timeout()) throw Broken("a timeout after the end");
}

void World::step() {
  const bool may_speak = !is_input_closed_ && !is_stopped_ && bridge_.reads_client();
  const int outside = scene_.has_outside() ? 10 : 0;
  switch (random_.weighted({may_speak ? 30 : 0, 30, 30, 20, 3, outside})) {
    case 0:
      client_acts();
      break;
    case 1:
      child_acts();
      break;
    case 2:
      child_is_read();
      break;
    case 3:
      time_passes();
      break;
    case 4:
      system_acts();
      break;
    default:
      outside_acts();
  }
}

/// One step of the end, which is begun if need be.
void World::end() {
  if (!is_input_closed_ && !is_stopped_) {
    if (random_.chance(60)) {
      tell("client", "closes stdin");
      is_input_closed_ = true;
      promises_.on_client_closed();
      feed(input::ClientClosedInput{});
    } else {
      is_stopped_ = true;
      promises_.on_stop();
      if (random_.chance(50)) {
        tell("client", "closes stdout");
        feed(input::ClientClosedOutput{});
      } else {
        tell("system", "SIGTERM");
        feed(input::StopSignalled{143});
      }
    }
    return;
  }
  step();
}

void World::client_acts() {
  const bool is_flood = random_.chance(1) && random_.chance(scene_.wildness / 8);
  for (int count = is_flood ? 1100 : random_.between(1, 3); count > 0; --count) {
    if (!bridge_.reads_client()) return;
    const int mark = is_flood ? client_.says_one_of_many() : client_.says();
    if (mark == 0) return;
    const ClientSaid& said = said_.client[static_cast<std::size_t>(mark)];
    if (tells()) tell("client", said.text);
    promises_.on_client_line(said);
    if (said.kind == ClientSaid::Kind::too_long) {
      feed(input::ClientLineTooLong{said.text, "xxxx", 300 * limits::kMiB});
    } else {
      const OwnedLine line = padded(said.text);
      feed(input::ClientLine{line.line()});
    }
  }
}

void World::child_acts() {
  Child* const child = any_child();
  if (child == nullptr) return;
  for (int count = random_.between(1, 4); count > 0; --count) {
    child->act();
    decisions_of(*child);
  }
}

/// What the child has decided happens a little later, as with a real process.
void World::decisions_of(Child& child) {
  if (const auto status = std::exchange(child.exits, std::nullopt)) {
    kill_process(child, child.processes.front().pid, *status, 2);
  }
  if (std::exchange(child.closes_output, false)) {
    later({Event::Kind::output_ends, child.gen, 0, {}}, 2);
  }
  const bool is_full = child.is_deaf() && child.lives();
  if (is_full && random_.chance(30)) {
    if (tells()) tell(who(child.gen), "its input is full");
    promises_.on_child_full(child.gen);
    feed(input::ChildInputFull{child.gen});
  }
}

void World::child_is_read() {
  Child* const child = any_child();
  if (child == nullptr) return;
  // Lines of one read reach the bridge in one moment.
  if (child->has_output_ended) child->output.clear();
  for (int count = random_.between(1, 5); count > 0 && !child->output.empty(); --count) {
    read_line(*child);
    if (find(child->gen) == nullptr) return;
  }
  if (child->output.size() > 100) {
    const Generation gen = child->gen;
    while (find(gen) != nullptr && !child->output.empty()) read_line(*child);
    return;
  }
  if (child->errors.empty()) return;
  const std::string text = std::move(child->errors.front());
  child->errors.pop_front();
  if (tells()) tell(who(child->gen), "stderr: " + text);
  promises_.on_error_line(child->gen, text);
  feed(input::ChildErrorLine{child->gen, text, 0});
}

void World::read_line(Child& child) {
  const Child::Written written = std::move(child.output.front());
  child.output.pop_front();
  if (tells()) tell(who(child.gen), written.text);
  promises_.on_child_line(child.gen, written.numbers);
  if (written.size > 0) {
    feed(input::ChildLineTooLong{child.gen, written.text, "\"}}", written.size});
    return;
  }
  const OwnedLine line = padded(written.text);
  feed(input::ChildLine{child.gen, line.line()});
}

void World::system_acts() {
  Child* const child = any_child();
  switch (random_.below(6)) {
    case 0:
      tell("system", "the command's file changes");
      files_changed_ = true;
      failing_starts_ = 0;
      break;
    case 1:
      stray_fact();
      break;
    case 2:
      if (child == nullptr || !child->is_deaf()) break;
      tell("system", "the child reads on");
      child->character.deaf_after = 1'000'000;
      promises_.on_child_drained(child->gen);
      feed(input::ChildInputDrained{child->gen});
      break;
    case 3:
      if (child == nullptr || !child->is_deaf()) break;
      promises_.on_child_moved(child->gen);
      feed(input::ChildInputMoved{child->gen});
      break;
    case 4:
      if (random_.chance(20) && !is_input_closed_ && !is_stopped_) end();
      break;
    default:
      if (!is_input_closed_ || is_stopped_ || !random_.chance(20)) break;
      tell("system", "SIGTERM");
      is_stopped_ = true;
      promises_.on_stop();
      feed(input::StopSignalled{143});
  }
}

/// Something of a child or a build that is long forgotten.
void World::stray_fact() {
  if (last_build_ != kNoGeneration && random_.chance(40)) {
    stray_fact_of_build();
    return;
  }
  if (last_gen_ < 2) return;
  const Generation gen = random_.between(1, last_gen_);
  if (find(gen) != nullptr) return;
  const OwnedLine line = padded(R"json({"jsonrpc":"2.0","id":1,"result":{}})json");
  tell("system", "a stray fact of a forgotten child");
  switch (random_.below(4)) {
    case 0:
      feed(input::ChildLine{gen, line.line()});
      break;
    case 1:
      feed(input::ChildExited{gen, {1, ""}});
      break;
    case 2:
      feed(input::ChildOutputEnded{gen});
      break;
    default:
      feed(input::OrphanEnded{});
  }
}

void World::stray_fact_of_build() {
  const Generation gen = -random_.between(1, -last_build_);
  if (find(gen) != nullptr) return;
  tell("system", "a stray fact of a forgotten build");
  switch (random_.below(7)) {
    case 0:
      feed(input::ChildErrorLine{gen, "CC late.c", 0});
      break;
    case 1:
      feed(input::ChildExited{gen, {0, ""}});
      break;
    case 2:
      feed(input::ChildOutputEnded{gen});
      break;
    case 3:
      feed(input::ChildErrorEnded{gen});
      break;
    case 4:
      feed(input::UnitSignalled{gen, {}});
      break;
    case 5:
      feed(input::ChildStarted{gen, 7});
      break;
    default:
      feed(input::ChildStartFailed{gen, "too late"});
  }
}

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
    const bool is_event = !events_.empty() && events_.begin()->first <= until &&
                          (!timeout || events_.begin()->first <= *timeout);
    if (!is_event && (!timeout || *timeout > until)) break;
    const Instant at = std::max(now_.steady, is_event ? events_.begin()->first : *timeout);
    now_.wall += duration_cast<WallTime::duration>(at - now_.steady);
    now_.steady = at;
    promises_.set_now(now_);
    if (is_event) {
      const Event event = events_.begin()->second;
      events_.erase(events_.begin());
      happen(event);
      continue;
    }
    if (at != std::exchange(moment, at)) timeouts = 0;
    if (++timeouts > kTimeoutsMax) throw Broken("a timeout is due again and again");
    bridge_.handle_timeout(now_);
    carry_out_all();
    promises_.on_settled(bridge_);
    if (!promises_.has_exited()) promises_.on_timeout_handled(bridge_.next_timeout());
    while (!later_.empty()) {
      const Input next = std::move(later_.front());
      later_.pop_front();
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
    feed(input::OrphanEnded{});
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
      promises_.on_exited(event.gen, event.status);
      feed(input::ChildExited{event.gen, event.status});
      break;
    case Event::Kind::output_ends:
      if (Child* const child = find_child(event.gen)) {
        while (find(event.gen) != nullptr && !child->output.empty()) read_line(*child);
      }
      if (find(event.gen) == nullptr || std::exchange(unit->has_output_ended, true)) return;
      tell(who(event.gen), "its output ends");
      feed(input::ChildOutputEnded{event.gen});
      break;
    case Event::Kind::error_ends:
      if (is_build(event.gen) && unit->has_error_ended) return;
      unit->has_error_ended = true;
      tell(who(event.gen), "its stderr ends");
      feed(input::ChildErrorEnded{event.gen});
      break;
    case Event::Kind::writes: {
      if (!unit->lives() || unit->has_error_ended) return;
      const std::string text = fmt::format("CC {}.c", ++lines_of_builds_);
      tell(who(event.gen), text);
      feed(input::ChildErrorLine{event.gen, text, 0});
      break;
    }
    case Event::Kind::writes_file:
      if (unit->lives()) files_change(outside_.written(is_build(event.gen)), false);
      break;
    case Event::Kind::orphan_ends:
      break;
  }
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

void World::feed(const Input& input) {
  decide(input);
  while (!later_.empty()) {
    const Input next = std::move(later_.front());
    later_.pop_front();
    decide(next);
  }
}

void World::decide(const Input& input) {
  bridge_.handle(input, now_);
  carry_out_all();
  // Answers that the shell gives at once belong to the same moment.
  if (later_.empty()) promises_.on_settled(bridge_);
}

/// One that the bridge has not released; null if there is none.
Child* World::any_child() {
  std::vector<Child*> here;
  for (auto& [gen, child] : children_) {
    if (!released_.contains(gen)) here.push_back(&child);
  }
  if (here.size() < 2) return here.empty() ? nullptr : here.front();
  return random_.pick(here);
}

/// Null for one that the bridge has released.
Unit* World::find(Generation gen) {
  if (Child* const child = find_child(gen)) return child;
  const auto found = builds_.find(gen);
  return found == builds_.end() || released_.contains(gen) ? nullptr : &found->second;
}

Child* World::find_child(Generation gen) {
  const auto found = children_.find(gen);
  return found == children_.end() || released_.contains(gen) ? nullptr : &found->second;
}

std::string World::who(Generation gen) const {
  if (!tells()) return "";
  return is_build(gen) ? fmt::format("build {}", -gen) : fmt::format("child {}", gen);
}

void World::tell(std::string_view who, std::string_view what) {
  if (!tells()) return;
  constexpr std::size_t width = 600;
  const double at = std::chrono::duration<double>(now_.steady - begun_).count();
  fmt::print(story_, "{:>10.4f}  {:<12} {}{}\n", at, who, what.substr(0, width),
             what.size() > width ? "..." : "");
  std::fflush(story_);
}

}  // namespace sitter::sim
