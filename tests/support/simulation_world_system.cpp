#include "support/simulation_world.hpp"

/// What the system does by itself, without an order, and facts that come too late.
namespace sitter::sim {

void World::system_acts() {
  Child* const child = any_child();
  switch (random_.below(6)) {
    case 0:
      tell("system", "the command's file changes");
      done_.files_changed = true;
      start_.failing_count = 0;
      break;
    case 1:
      stray_fact();
      break;
    case 2:
      if (child == nullptr || !child->is_deaf()) break;
      tell("system", "the child reads on");
      child->character.deaf_after = 1'000'000;
      promises_.lives().on_full(child->gen, false);
      feed(fact::ChildInputDrained{child->gen});
      break;
    case 3:
      if (child == nullptr || !child->is_deaf()) break;
      feed(fact::ChildInputMoved{child->gen});
      break;
    case 4:
      if (random_.chance(20) && !done_.is_input_closed && !done_.is_stopped) end();
      break;
    default:
      if (!done_.is_input_closed || done_.is_stopped || !random_.chance(20)) break;
      tell("system", "SIGTERM");
      done_.is_stopped = true;
      promises_.on_stop();
      feed(fact::StopSignalled{143});
  }
}

/// Feeds a fact about a child or a build that is long over.
void World::stray_fact() {
  if (lives_.last_build != kNoGeneration && random_.chance(40)) {
    stray_fact_of_build();
    return;
  }
  if (lives_.last_gen < 2) return;
  const Generation gen = random_.between(1, lives_.last_gen);
  if (find(gen) != nullptr || gen == start_.postponed_gen) return;
  const OwnedLine line(std::string_view(R"json({"jsonrpc":"2.0","id":1,"result":{}})json"));
  tell("system", "a stray fact of a forgotten child");
  switch (random_.below(4)) {
    case 0:
      feed(fact::ChildLine{gen, line.line()});
      break;
    case 1:
      feed(fact::ChildExited{gen, {1, ""}});
      break;
    case 2:
      feed(fact::ChildOutputEnded{gen});
      break;
    default:
      feed(fact::OrphanEnded{});
  }
}

void World::stray_fact_of_build() {
  const Generation gen = -random_.between(1, -lives_.last_build);
  if (find(gen) != nullptr) return;
  tell("system", "a stray fact of a forgotten build");
  switch (random_.below(7)) {
    case 0:
      feed(fact::ChildErrorLine{gen, "CC late.c", 0});
      break;
    case 1:
      feed(fact::ChildExited{gen, {0, ""}});
      break;
    case 2:
      feed(fact::ChildOutputEnded{gen});
      break;
    case 3:
      feed(fact::ChildErrorEnded{gen});
      break;
    case 4:
      feed(fact::UnitSignalled{gen, {}});
      break;
    case 5:
      feed(fact::ChildStarted{gen, 7});
      break;
    default:
      feed(fact::ChildStartFailed{gen, "too late"});
  }
}

}  // namespace sitter::sim
