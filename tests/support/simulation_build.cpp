#include "support/simulation_build.hpp"

namespace sitter::sim {
namespace {

std::optional<Milliseconds> random_duration(Random& random) {
  switch (random.weighted({35, 35, 15, 5, 10})) {
    case 0:
      return Milliseconds(random.below(20));
    case 1:
      return Milliseconds(random.below(800));
    case 2:
      return Milliseconds(random.below(10'000));
    case 3:
      return Milliseconds(random.below(100'000));
    default:
      return std::nullopt;
  }
}

ExitStatus random_status(Random& random) {
  switch (random.weighted({75, 18, 4, 3})) {
    case 0:
      return {0, ""};
    case 1:
      return {2, ""};
    case 2:
      return {139, "SIGSEGV"};
    default:
      // Another process than the bridge sends this signal.
      return {143, "SIGTERM"};
  }
}

}  // namespace

Build::Build(Generation generation, Random& random, int wildness)
    : Unit(generation), can_be_started(!random.chance(8)), ends_after(random_duration(random)) {
  const int w = random.chance(50) ? 0 : wildness;
  status = random_status(random);
  const Milliseconds lasts = ends_after.value_or(Milliseconds(5000));
  const auto any_moment = [&] {
    return Milliseconds(random.below(static_cast<int>(lasts.count()) + 1));
  };
  for (int count = random.chance(20) ? 0 : random.between(1, 12); count > 0; --count) {
    writes_after.push_back(any_moment());
  }
  if (random.chance(w / 5)) closes_output_after = any_moment();
  if (random.chance(w / 5)) closes_error_after = any_moment();

  // Most builds do not read their input, so they do not see its end.
  ignores_closed_input = random.chance(80);
  refuses_signals = random.chance(w / 30);
  const std::int64_t pid = 500'000 - 1000 * generation;
  processes.push_back({pid, true, true, true, random.chance(w / 3), random.chance(w / 20)});
  for (int i = random.chance(w / 3) ? random.between(1, 2) : 0; i > 0; --i) {
    processes.push_back({pid + i, false, true, random.chance(50), random.chance(50), false});
  }
}

}  // namespace sitter::sim
