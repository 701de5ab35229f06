#include <fmt/format.h>

#include <chrono>
#include <utility>
#include <variant>

#include "core/child/child_lifecycle.hpp"
#include "support/simulation_world.hpp"

/// How the shell and the system carry out the orders of the bridge.
namespace sitter::sim {

using std::chrono::microseconds;

namespace {

/// If one fact or timeout leads to more orders than this, they never end.
constexpr int kOrdersMax = 100'000;

/// Every so many looks, the sources of the server have changed.
constexpr int kLooksWithoutChange = 3;

std::string_view how_word(order::SignalUnit::How how) {
  switch (how) {
    case order::SignalUnit::How::look:
      return "look at";
    case order::SignalUnit::How::terminate:
      return "terminate";
    case order::SignalUnit::How::kill:
      break;
  }
  return "kill";
}

}  // namespace

void World::carry_out_all() {
  int count = 0;
  while (auto order = bridge_.poll_order()) {
    if (++count > kOrdersMax) throw Broken("orders without end");
    if (promises_.has_exited()) throw Broken("an order after the end");
    if (digest_ != nullptr) digest_->add(*order);
    std::visit([this](auto& one) { carry_out(one); }, *order);
  }
}

void World::carry_out(order::SendToClient& order) {
  const std::string line = order.line.text();
  if (tells()) tell("  to client", line);
  for (const Heard& heard : promises_.on_send_to_client(line)) client_.hears(heard);
}

void World::carry_out(order::SendToChild& order) {
  const std::string line = order.line.text();
  if (tells()) tell(fmt::format("  to child {}", order.gen), line);
  promises_.on_send_to_child(order.gen, line);
  if (Child* const child = find_child(order.gen)) child->hears(line);
}

void World::carry_out(order::StartChild& order) {
  if (tells()) tell("  bridge", fmt::format("starts child {}", order.gen));
  promises_.on_start(order.gen);
  if (std::exchange(lives_.last_gen, order.gen) != order.gen) start_.begun = now_.steady;
  done_.files_changed = false;
  // Several starts in a row fail, as they do while a build writes the binary.
  if (start_.failing_count == 0 && random_.chance(start_failures_)) {
    start_.failing_count = random_.between(1, 8);
    // The bridge tries a start of a busy file again and again, for a while.
    start_.is_file_busy = random_.chance(30);
    if (start_.is_file_busy) start_.failing_count = random_.between(1, 25);
  }
  start_.postponed_gen = kNoGeneration;
  if (start_.failing_count > 0) {
    --start_.failing_count;
    const bool is_tried_again =
        start_.is_file_busy && now_.steady < start_.begun + limits::kBusyFileWait;
    if (is_tried_again) start_.postponed_gen = order.gen;
    promises_.lives().on_start_failed(order.gen, is_tried_again);
    queue_.later.push_back(fact::ChildStartFailed{
        order.gen, start_.is_file_busy ? "text file busy" : "no such file", start_.is_file_busy});
    return;
  }
  Character character =
      random_character(random_, scene_, lives_.last_character ? &*lives_.last_character : nullptr);
  lives_.last_character = character;
  if (scene_.has_own_restarts) add_own_restarts(own_random_, character);
  lives_.children.try_emplace(order.gen, order.gen, std::move(character), random_, own_random_,
                              said_);
  promises_.lives().on_started(order.gen);
  // The writes come within the time in which the bridge may take them for the work of the start.
  if (scene_.children_write && !scene_.children_write_late) {
    writes_files(order.gen, config_.debounce);
  }
  if (scene_.children_write_late) {
    queue_.events.emplace(now_.steady + Milliseconds(2500),
                          Event{Event::Kind::writes_file, order.gen, 0, {}});
  }
  queue_.later.push_back(fact::ChildStarted{order.gen, 1000 * order.gen});
}

void World::carry_out(order::StartBuild& order) {
  if (tells()) tell("  bridge", fmt::format("starts build {}", -order.gen));
  promises_.on_start(order.gen);
  lives_.last_build = order.gen;
  // Most builds write the file that the command starts.
  if (random_.chance(70)) {
    done_.files_changed = true;
    start_.failing_count = 0;
  }
  Build& build =
      lives_.builds.try_emplace(order.gen, order.gen, random_, scene_.wildness).first->second;
  if (!build.can_be_started) {
    promises_.lives().on_start_failed(order.gen, false);
    lives_.released.insert(order.gen);
    queue_.later.push_back(fact::ChildStartFailed{order.gen, "no such file"});
    return;
  }
  promises_.lives().on_started(order.gen);
  if (scene_.builds_write) writes_files(order.gen, build.ends_after.value_or(Milliseconds(500)));
  const std::int64_t pid = build.processes.front().pid;
  const auto after = [&](const std::optional<Milliseconds>& time, const Event& event) {
    if (time) queue_.events.emplace(now_.steady + *time, event);
  };
  for (const Milliseconds time : build.writes_after) {
    after(time, {Event::Kind::writes, order.gen, 0, {}});
  }
  after(build.ends_after, {Event::Kind::process_dies, order.gen, pid, build.status});
  after(build.closes_output_after, {Event::Kind::output_ends, order.gen, 0, {}});
  after(build.closes_error_after, {Event::Kind::error_ends, order.gen, 0, {}});
  queue_.later.push_back(fact::ChildStarted{order.gen, pid});
}

/// Everything that comes from the process from now on comes from the new child.
void World::carry_out(order::RenumberChild& order) {
  if (tells()) tell("  bridge", fmt::format("calls child {} child {}", order.from, order.gen));
  const Child* const former = find_child(order.from);
  if (former == nullptr || !former->was_started_anew()) {
    throw Broken("a server that has not restarted itself is another generation");
  }
  promises_.on_renumber_child(order.from, order.gen);
  auto entry = lives_.children.extract(order.from);
  entry.key() = order.gen;
  lives_.children.insert(std::move(entry)).position->second.renumber(order.gen);
  for (auto& [at, event] : queue_.events) {
    if (event.gen == order.from) event.gen = order.gen;
  }
  lives_.last_gen = order.gen;
  // The new server has read the files at the latest now.
  done_.files_changed = false;
  ++counts_.own_restarts;
}

void World::carry_out(order::CloseChildInput& order) {
  if (tells()) tell("  bridge", fmt::format("closes the input of {}", who(order.gen)));
  promises_.lives().on_close_input(order.gen);
  Unit* const unit = find(order.gen);
  if (unit == nullptr || unit->ignores_closed_input) return;
  kill_process(*unit, unit->processes.front().pid, {0, ""}, 100);
}

void World::carry_out(order::SignalUnit& order) {
  using How = order::SignalUnit::How;
  if (tells()) tell("  bridge", fmt::format("{} {}", how_word(order.how), who(order.gen)));
  Unit* const unit = find(order.gen);
  if (unit == nullptr) throw Broken("a signal to a child or a build that is not there");
  fact::UnitSignalled fact{order.gen, {}};
  for (const Unit::Process& process : unit->processes) {
    if (!process.lives) continue;
    const bool is_refused = unit->refuses_signals && order.how != How::look;
    fact.processes.push_back({process.pid, process.is_leader, "server",
                              is_refused ? "operation not permitted" : "", unit->is_remote_runner});
    if (is_refused || order.how == How::look) continue;
    if (order.how == How::terminate && !process.ignores_terminate) {
      kill_process(*unit, process.pid, {143, "SIGTERM"}, 100);
    }
    if (order.how == How::kill && !process.ignores_kill) {
      kill_process(*unit, process.pid, {137, "SIGKILL"}, 1);
    }
  }
  queue_.later.push_back(std::move(fact));
}

void World::carry_out(order::ReleaseChild& order) {
  if (tells()) tell("  bridge", fmt::format("releases {}", who(order.gen)));
  promises_.on_release(order.gen);
  forget_events_of(order.gen);
  lives_.released.insert(order.gen);
}

void World::carry_out(order::SweepImage& order) {
  using How = order::SignalUnit::How;
  if (tells()) tell("  bridge", fmt::format("sweeps the image: {}", how_word(order.how)));
  if (order.scope == KillScope::same_executable) throw Broken("strangers are ended");
  fact::ImageSwept fact;
  if (order.how == How::terminate) counts_.swept = random_.chance(70) ? 0 : random_.between(1, 2);
  if (order.how == How::kill && random_.chance(50)) counts_.swept = 0;
  for (int i = 0; i < counts_.swept; ++i) fact.processes.push_back({9000 + i, "stranger"});
  queue_.later.push_back(std::move(fact));
}

void World::carry_out(order::InspectBinary& order) {
  promises_.on_inspect(order.gen);
  fact::BinaryInspected fact;
  fact.look = order.look;
  fact.facts.path = "/srv/server";
  fact.facts.exists = random_.chance(90);
  if (fact.facts.exists) fact.facts.modified = now_.wall;
  if (order.finds_strangers && scene_.is_interpreted) {
    fact.shared = SharedImage{"/usr/bin/node", {{9000, "stranger"}}};
  }
  queue_.later.push_back(std::move(fact));
}

void World::carry_out(order::CheckCommandFiles&) {
  const bool changed = std::exchange(done_.files_changed, false);
  if (tells()) {
    tell("  bridge", fmt::format("checks the command's files: {}", changed ? "changed" : "same"));
  }
  if (changed) promises_.lives().on_asked();
  queue_.later.push_back(fact::CommandFilesChecked{changed});
}

/// Now and then a source has changed. No random number decides this, so that the other events of a
/// seed stay the same.
void World::carry_out(order::LookAtSources& order) {
  fact::SourcesChecked fact{order.gen, {}, {}, std::chrono::milliseconds(50)};
  if (++counts_.source_looks % kLooksWithoutChange == 0) {
    fact.changed = fmt::format("source{}.py", counts_.source_looks);
    fact.changed_at = now_.wall;
  }
  if (tells()) {
    tell("  bridge", fmt::format("looks at the sources of child {}: {}", order.gen,
                                 fact.changed.empty() ? "same" : fact.changed));
  }
  queue_.later.push_back(std::move(fact));
}

void World::carry_out(order::LookAtProcess& order) {
  queue_.later.push_back(fact::ProcessSeen{order.gen, ""});
}

void World::carry_out(order::SendToControl& order) {
  if (tells()) tell(fmt::format("  to ctl {}", order.connection), order.line);
  promises_.controls().on_line(order.connection, order.line);
}

void World::carry_out(order::Log& order) {
  if (tells()) tell("  log", order.text);
}

void World::carry_out(order::Exit& order) {
  if (tells()) tell("  bridge", fmt::format("exits with {}", order.code));
  promises_.on_exit();
}

void World::kill_process(Unit& unit, std::int64_t pid, ExitStatus status, int after_max) {
  later({Event::Kind::process_dies, unit.gen, pid, std::move(status)}, after_max);
}

void World::later(Event event, int milliseconds_max) {
  queue_.events.emplace(now_.steady + microseconds(random_.below(1000 * milliseconds_max + 1)),
                        std::move(event));
}

void World::forget_events_of(Generation gen) {
  std::erase_if(queue_.events, [&](const auto& entry) { return entry.second.gen == gen; });
}

}  // namespace sitter::sim
