#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/rebuild/rebuild.hpp"
#include "support/simulation_world.hpp"

/// Everybody who acts on the bridge besides its client, and the configuration for that.
namespace sitter::sim {

/// Most seeds have none of these.
void World::add_outside(Random& random, Scene& scene) {
  if (!random.chance(30)) return;
  scene.has_reloads = random.chance(35);
  scene.has_watch = random.chance(40);
  scene.is_controlled = random.chance(40);
  scene.has_restarts = random.chance(40);
  scene.has_replays = random.chance(35);
  scene.has_call_tool = random.chance(20);
  scene.builds_write = scene.has_watch && scene.has_builds && random.chance(40);
  scene.children_write = scene.has_watch && random.chance(30);
  scene.writes_new_names = random.chance(50);
  scene.children_write_late = scene.children_write && !scene.writes_new_names;
}

void World::add_outside(Random& random, const Scene& scene, BridgeConfig& config) {
  using Policy = BridgeConfig::Restarts;
  if (scene.has_watch) {
    if (random.chance(80)) config.watch_patterns = {"src"};
    config.watches_binary = config.watch_patterns.empty() || random.chance(30);
    config.debounce =
        random.pick(std::array{Milliseconds(300), Milliseconds(20), Milliseconds(2000)});
  }
  if (scene.has_outside()) {
    config.on_busy_wait = random.pick(std::array{Milliseconds(0), Milliseconds(10000)});
  }
  if (scene.has_restarts) {
    config.restarts = random.pick(std::array{Policy::eager, Policy::on_crash});
    config.restarts_max = random.pick(std::array{10, 2, 1});
  }
  if (scene.has_replays) {
    config.replayed_tools = {"echo"};
    if (random.chance(50)) config.replayed_tools.insert(config.replayed_tools.begin(), "add");
  }
  if (scene.has_call_tool) config.call_tool = BridgeConfig::CallTool::on;
}

std::string World::outside_words() const {
  using Policy = BridgeConfig::Restarts;
  std::string words;
  if (scene_.has_reloads) words += ", reloads";
  if (config_.watches()) words += fmt::format(", watch, debounce {}", config_.debounce.count());
  if (scene_.is_controlled) words += ", ctl";
  if (scene_.has_outside()) words += fmt::format(", busy wait {}", config_.on_busy_wait.count());
  if (config_.restarts != Policy::lazy) {
    words +=
        fmt::format(", restarts {}, {} at most",
                    config_.restarts == Policy::eager ? "eager" : "on crash", config_.restarts_max);
  }
  for (const std::string& tool : config_.replayed_tools) words += ", replays " + tool;
  if (scene_.has_call_tool) words += ", sitter_call";
  return words;
}

void World::outside_acts() {
  switch (outside_.next()) {
    case Outside::Act::asks_for_reload:
      tell("outside", "SIGHUP");
      promises_.lives().on_asked();
      promises_.lives().on_build_asked(std::chrono::seconds(limits::kBuildSecondsDefault));
      feed(fact::ReloadAsked{"SIGHUP"});
      break;
    case Outside::Act::asks_for_status:
      tell("outside", "SIGUSR1");
      feed(fact::StatusAsked{});
      break;
    case Outside::Act::saves:
      files_change(outside_.saved(), true);
      break;
    case Outside::Act::watch_changes: {
      const fact::WatchChanged fact = outside_.watched();
      tell("outside", "the watch changes: " + fact.problem);
      feed(fact);
      break;
    }
    case Outside::Act::asks:
      somebody_asks();
      break;
    case Outside::Act::leaves:
      somebody_leaves();
  }
}

void World::somebody_asks() {
  const ControlAsked asked = outside_.asks();
  if (tells()) tell(fmt::format("ctl {}", asked.connection), asked.text);
  promises_.on_control_line(asked);
  feed(fact::ControlLine{asked.connection, asked.text});
}

void World::somebody_leaves() {
  const ControlId connection = outside_.leaves();
  if (connection == 0) return;
  if (tells()) tell(fmt::format("ctl {}", connection), "leaves");
  promises_.controls().on_closed(connection);
  feed(fact::ControlClosed{connection});
}

void World::files_change(const fact::FilesChanged& fact, bool is_by_person) {
  if (tells()) {
    std::string names;
    for (const auto& file : fact.files)
      names += " " + file.path + (file.is_usable ? "" : " (empty)");
    tell(is_by_person ? "outside" : "system", "changed:" + names);
  }
  promises_.lives().on_asked();
  if (is_by_person) promises_.on_saved(fact);
  feed(fact);
}

/// Makes the unit write watched files at random moments during this time.
void World::writes_files(Generation gen, Milliseconds until) {
  for (int count = outside_random_.between(1, 2); count > 0; --count) {
    const Milliseconds after(outside_random_.below(static_cast<int>(until.count()) + 1));
    queue_.events.emplace(now_.steady + after, Event{Event::Kind::writes_file, gen, 0, {}});
  }
}

/// Only the children still act: they serve and may write files. Time passes until everything has
/// settled that is going to settle.
void World::rest() {
  tell("outside", "rests");
  const bool writes = scene_.children_write_late && !scene_.has_restarts;
  std::size_t started = 0;
  // A bridge may need ten starts to find out who writes.
  for (int rounds = writes ? 500 : 150; rounds > 0 && !promises_.has_exited(); --rounds) {
    if (rounds == 100) started = lives_.children.size();
    for (int i = 0; i < 4 && !promises_.has_exited(); ++i) {
      child_acts();
      if (!promises_.has_exited()) child_is_read();
    }
    if (promises_.has_exited()) return;
    const auto next = bridge_.next_timeout();
    const Instant soon = now_.steady + Milliseconds(500);
    pass_until(next ? std::clamp(*next, now_.steady, soon) : soon);
  }
  // What was saved before may still lead to two.
  if (writes && !promises_.has_exited() && lives_.children.size() > started + 2) {
    throw Broken("a server that writes a watched file is started without end");
  }
}

}  // namespace sitter::sim
