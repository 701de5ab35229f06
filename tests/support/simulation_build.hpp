#pragma once

#include <optional>
#include <vector>

#include "sitter/exit_status.hpp"
#include "sitter/time.hpp"
#include "support/simulation_random.hpp"
#include "support/simulation_unit.hpp"

namespace sitter::sim {

/// One run of the build command. All that it does of itself is known from its start on; times are
/// counted from there.
struct Build : Unit {
  Build(Generation generation, Random& random, int wildness);

  bool can_be_started = true;
  /// Empty for one that hangs.
  std::optional<Milliseconds> ends_after;
  ExitStatus status;
  /// When it writes a line.
  std::vector<Milliseconds> writes_after;
  /// When it closes its outputs without an end, as a build does that goes on in the background.
  std::optional<Milliseconds> closes_output_after, closes_error_after;
};

}  // namespace sitter::sim
