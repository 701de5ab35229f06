#pragma once

#include <optional>
#include <vector>

#include "sitter/exit_status.hpp"
#include "sitter/time.hpp"
#include "support/simulation_random.hpp"
#include "support/simulation_unit.hpp"

namespace sitter::sim {

/// One run of the build command. Everything that the build does by itself is chosen at its start.
/// Times are measured from its start.
struct Build : Unit {
  Build(Generation generation, Random& random, int wildness);

  bool can_be_started = true;
  /// Empty if the build hangs.
  std::optional<Milliseconds> ends_after;
  ExitStatus status;
  /// When the build writes each of its lines.
  std::vector<Milliseconds> writes_after;
  /// When the build closes its outputs before it ends, as a build does that continues in the
  /// background.
  std::optional<Milliseconds> closes_output_after, closes_error_after;
};

}  // namespace sitter::sim
