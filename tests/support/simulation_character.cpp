#include "support/simulation_character.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace sitter::sim {

using Opening = Character::Opening;
using Era = Character::Era;
using Unopened = Character::Unopened;
using Acknowledges = Character::Acknowledges;
using Rounds = Character::Rounds;

namespace {

/// Mostly the era of the client, because otherwise the two would hardly understand each other.
Era random_era(Random& random, Scene::Client client) {
  switch (client) {
    case Scene::Client::legacy:
      return random.chance(95) ? Era::legacy : random.pick(std::array{Era::modern, Era::dual});
    case Scene::Client::modern:
      return random.chance(75) ? Era::modern : random.pick(std::array{Era::legacy, Era::dual});
    case Scene::Client::dual:
    case Scene::Client::mixed:
      break;
  }
  return random.pick(std::array{Era::legacy, Era::modern, Era::dual});
}

void choose_for_streams(Random& random, int w, Character& c) {
  c.acknowledges =
      random.chance(60)
          ? Acknowledges::fully
          : random.pick(std::array{Acknowledges::partly, Acknowledges::never,
                                   Acknowledges::does_not_know_streams, Acknowledges::refuses});
  c.tells_changes = random.chance(60) ? random.between(2, 15) : 0;
  c.misdirects_changes = random.chance(w / 2) ? random.between(5, 40) : 0;
  c.ends_streams = random.chance(30) ? random.between(1, 6) : 0;
  c.is_incomplete = random.chance(40) ? random.between(5, 40) : 0;
}

}  // namespace

ExitStatus random_exit(Random& random) {
  switch (random.below(6)) {
    case 0:
      return {0, ""};
    case 1:
      return {1, ""};
    case 2:
      return {3, ""};
    case 3:
      return {139, "SIGSEGV"};
    case 4:
      return {137, "SIGKILL"};
    default:
      return {143, "SIGTERM"};
  }
}

Character random_character(Random& random, const Scene& scene, const Character* predecessor) {
  // Many faults can only happen when nearly everything else works.
  const int w = random.chance(30) ? 0 : scene.wildness;
  if (predecessor != nullptr && random.chance(50)) {
    Character same = *predecessor;
    if (random.chance(10)) same.era = random_era(random, scene.client);
    if (random.chance(50)) same.tools = random.below(8);
    return same;
  }
  static constexpr std::array<std::string_view, 3> versions = {"2025-06-18", "2025-11-25",
                                                               "2024-11-05"};
  Character c;
  c.era = random_era(random, scene.client);
  c.at_probe = random.pick(
      std::array{Unopened::refuses, Unopened::refuses, Unopened::ignores, Unopened::exits});
  c.at_request = random.pick(std::array{Unopened::refuses, Unopened::serves, Unopened::ignores});
  choose_for_streams(random, w, c);
  if (random.chance(w / 2)) {
    c.opening = random.pick(std::array{Opening::never, Opening::refuses, Opening::refuses_as_modern,
                                       Opening::has_no_version, Opening::is_unreadable,
                                       Opening::has_a_strange_version, Opening::exits});
  }
  c.version = scene.has_batches && random.chance(90) ? kBatchRevision : random.pick(versions);
  c.has_tools = !random.chance(w / 8);
  c.has_prompts = random.chance(40);
  c.has_resources = random.chance(40);
  c.has_logging = random.chance(40);
  c.tools = random.below(8);
  c.has_outer_tools = scene.has_outer_tools && random.chance(40);
  c.page_count = random.chance(80) ? 1 : random.between(2, 3);
  c.pages_in_a_circle = random.chance(w / 15);

  c.keeps_order = random.chance(60);
  c.answers = random.chance(w / 8) ? 0 : random.between(20, 90);
  c.answers_twice = random.chance(w / 4) ? 20 : 0;
  c.answers_unreadably = random.chance(w / 6) ? 15 : 0;
  c.refuses = random.chance(40) ? random.between(2, 20) : 0;
  c.shows_progress = random.chance(50) ? random.between(20, 100) : 0;
  c.has_structure = random.chance(30) ? random.between(20, 100) : 0;
  c.respells_ids = random.chance(20);
  if (scene.big_ids == Scene::BigIds::rounded) {
    c.rounds_ids = random.pick(std::array{Rounds::never, Rounds::plainly, Rounds::with_exponent});
  }
  if (scene.has_late_progress) c.shows_late_progress = random.pick(std::array{0, 30, 80});
  c.heeds_cancellations = random.pick(std::array{0, 50, 100});

  c.asks = random.chance(40) ? random.between(2, 15) : 0;
  c.notifies = random.between(0, 10);
  c.changes_lists = random.chance(20) ? random.between(1, 5) : 0;
  c.writes_errors = random.between(0, 10);
  c.writes_noise = random.chance(w / 3) ? random.between(2, 15) : 0;
  c.glues_lines = random.chance(w / 4) ? 30 : 0;
  c.exits = random.chance(20 + w / 2) ? random.between(2, 12) : 0;
  c.closes_output = random.chance(w / 10) ? 4 : 0;
  c.floods = random.chance(w / 50) ? 3 : 0;

  c.is_remote_runner = random.chance(5);
  c.ignores_closed_input = random.chance(w / 3);
  c.ignores_terminate = random.chance(w / 4);
  c.ignores_kill = random.chance(w / 20);
  c.refuses_signals = random.chance(w / 30);
  c.grandchildren = random.chance(w / 3) ? random.between(1, 2) : 0;
  c.grandchildren_hold_pipes = random.chance(50);
  c.grandchildren_ignore_terminate = random.chance(50);
  if (random.chance(w / 8)) c.deaf_after = random.between(1, 20);
  return c;
}

void add_own_restarts(Random& random, Character& c) {
  using StartedAnew = Character::StartedAnew;
  c.starts_anew = 0;
  if (random.chance(20)) return;
  struct Error {
    int code;
    std::string_view words;
  };
  static constexpr std::array errors = {
      Error{-32602, "Invalid request parameters"}, Error{-32002, "Server not initialized"},
      Error{-32600, "Bad Request: the session is not initialised"}};
  c.starts_anew = random.between(1, 6);
  c.started_anew =
      random.pick(std::array{StartedAnew::refuses, StartedAnew::refuses_after_announcement,
                             StartedAnew::serves_after_announcement});
  if (c.era != Era::legacy) c.started_anew = StartedAnew::serves_after_announcement;
  const Error error = random.pick(errors);
  c.unopened_code = error.code;
  c.unopened_words = error.words;
  c.misleads = random.chance(30) ? random.between(5, 40) : 0;
}

}  // namespace sitter::sim
