#include "support/simulation_world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/child/own_restart.hpp"
#include "sitter/bytes.hpp"

namespace sitter::sim {

namespace {

/// The habits of a seed have random numbers of their own. So habits change nothing in a scene that
/// has none.
constexpr std::uint64_t kHabits = 0xd1b54a32d192ed03;
constexpr std::uint64_t kOwnRestarts = 0x8cb92ba72f3d8dd7;

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

Scene World::random_scene(Random& random, Random& outside, Random habits, bool is_interpreted) {
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
  add_habits(habits, scene);
  return scene;
}

/// Most seeds have none of these habits.
void World::add_habits(Random& random, Scene& scene) {
  using BigIds = Scene::BigIds;
  struct Name {
    std::string_view text;
    bool lists_again = true, needs_pause = false;
  };
  static constexpr std::array names = {Name{"codex-mcp-client", false},
                                       Name{"qwen-cli-mcp-client-server", false},
                                       Name{"@cline/core", false},
                                       Name{"gemini-cli-mcp-client", true, true},
                                       Name{"gemini-cli-mcp-client-server", true, true},
                                       Name{"codex-mcp-clients"}};
  if (random.chance(12)) {
    const Name& name = random.pick(names);
    scene.client_name = name.text;
    scene.lists_again = name.lists_again;
    scene.needs_pause = name.needs_pause;
  }
  scene.notifies_early = random.chance(20);
  scene.has_late_progress = random.chance(10);
  if (random.chance(6)) scene.big_ids = random.pick(std::array{BigIds::kept, BigIds::rounded});
  scene.has_large_requests = random.below(500) == 0;
  scene.has_own_restarts = random.chance(30);
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
  // The promises do not tell what is wrong with a tool or a result.
  config.lints = false;
  if (scene.has_builds) {
    config.build_command = "make";
    config.on_busy_wait = random.pick(std::array{Milliseconds(0), Milliseconds(10000)});
  }
  config.sitter_version = "0.3.0";
  config.seed = random.next();
  add_outside(outside_random_, scene, config);
  return config;
}

World::World(std::uint64_t seed, std::FILE* story, Digest* digest)
    : random_(seed),
      outside_random_(~seed),
      own_random_(seed * kOwnRestarts),
      story_(story),
      digest_(digest),
      scene_(random_scene(random_, outside_random_, Random(seed * kHabits), seed % 2 == 0)),
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
  // After the exit, no fact and no timeout may lead to an order.
  feed(fact::OrphanEnded{});
  bridge_.handle_timeout(now_);
  carry_out_all();
  if (bridge_.next_timeout()) throw Broken("a timeout after the end");
}

void World::step() {
  const bool may_speak = !done_.is_input_closed && !done_.is_stopped && bridge_.reads_client();
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

/// Begins the end, or takes one step after it has begun.
void World::end() {
  if (!done_.is_input_closed && !done_.is_stopped) {
    if (random_.chance(60)) {
      tell("client", "closes stdin");
      done_.is_input_closed = true;
      promises_.on_client_closed();
      feed(fact::ClientClosedInput{});
    } else {
      done_.is_stopped = true;
      promises_.on_stop();
      if (random_.chance(50)) {
        tell("client", "closes stdout");
        feed(fact::ClientClosedOutput{});
      } else {
        tell("system", "SIGTERM");
        feed(fact::StopSignalled{143});
      }
    }
    return;
  }
  step();
}

void World::client_acts() {
  const bool is_flood = random_.chance(1) && random_.chance(scene_.wildness / 8);
  const bool is_heavy = scene_.has_large_requests && random_.chance(8);
  const int count_max = is_flood ? 1100 : is_heavy ? 24 : random_.between(1, 3);
  for (int count = count_max; count > 0; --count) {
    if (!bridge_.reads_client()) return;
    const int mark = is_flood   ? client_.says_one_of_many()
                     : is_heavy ? client_.says_much()
                                : client_.says();
    if (mark == 0) return;
    const ClientSaid& said = said_.client[static_cast<std::size_t>(mark)];
    if (tells()) tell("client", said.text);
    promises_.on_client_line(said);
    if (said.kind == ClientSaid::Kind::too_long) {
      feed(fact::ClientLineTooLong{said.text, "xxxx", 300 * limits::kMiB});
    } else {
      const OwnedLine line(said.text);
      feed(fact::ClientLine{line.line()});
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

/// The decisions of a child take effect a little later, as with a real process.
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
    promises_.lives().on_full(child.gen, true);
    feed(fact::ChildInputFull{child.gen});
  }
}

void World::child_is_read() {
  Child* const child = any_child();
  if (child == nullptr) return;
  // All lines of one read reach the bridge at the same moment.
  if (child->has_output_ended) child->output.clear();
  for (int count = random_.between(1, 5); count > 0 && !child->output.empty(); --count) {
    read_line(*child);
    if (find(child->gen) == nullptr) return;
  }
  if (child->output.size() > 100) {
    read_all(*child);
    return;
  }
  if (child->errors.empty()) return;
  const std::string text = std::move(child->errors.front());
  child->errors.pop_front();
  if (tells()) tell(who(child->gen), "stderr: " + text);
  promises_.on_error_line(child->gen, text);
  feed(fact::ChildErrorLine{child->gen, text, 0});
}

/// Each line may end the child, or give it another number.
void World::read_all(Child& child) {
  while (find(child.gen) != nullptr && !child.output.empty()) read_line(child);
}

void World::read_line(Child& child) {
  const Child::Written written = std::move(child.output.front());
  child.output.pop_front();
  if (tells()) tell(who(child.gen), written.text);
  promises_.on_child_line(child.gen, written.numbers);
  if (written.size > 0) {
    feed(fact::ChildLineTooLong{child.gen, written.text, "\"}}", written.size});
    return;
  }
  // The watcher takes a moment to end the former server, less than the bridge allows for.
  if (written.text == Child::kAnnouncement) {
    const Milliseconds wait(
        own_random_.below(static_cast<int>(limits::kOwnRestartWait.count()) - 100));
    queue_.events.emplace(now_.steady + wait, Event{Event::Kind::starts_anew, child.gen, 0, {}});
  }
  const OwnedLine line(written.text);
  feed(fact::ChildLine{child.gen, line.line()});
}

/// A random child that the bridge has not released; null if there is none.
Child* World::any_child() {
  std::vector<Child*> here;
  for (auto& [gen, child] : lives_.children) {
    if (!lives_.released.contains(gen)) here.push_back(&child);
  }
  if (here.size() < 2) return here.empty() ? nullptr : here.front();
  return random_.pick(here);
}

/// Null for a child or a build that the bridge has released.
Unit* World::find(Generation gen) {
  if (Child* const child = find_child(gen)) return child;
  const auto found = lives_.builds.find(gen);
  return found == lives_.builds.end() || lives_.released.contains(gen) ? nullptr : &found->second;
}

Child* World::find_child(Generation gen) {
  const auto found = lives_.children.find(gen);
  return found == lives_.children.end() || lives_.released.contains(gen) ? nullptr : &found->second;
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
