#pragma once

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "soak/findings.hpp"
#include "support/simulation_random.hpp"

namespace sitter::soak {

/// Set by a signal. The test then ends soon and prints what it has found so far.
extern volatile std::sig_atomic_t is_asked_to_end;

struct SessionSetup {
  std::string sitter, fake_mcp;
  bool has_namespace = false;
  int calls_per_second = 1000;
  std::chrono::milliseconds length{15'000};
  /// The time from one rest to the next. Everything is counted at a rest.
  std::chrono::milliseconds between_rests{60'000};
  /// Additional options of the bridge.
  std::vector<std::string> more_options = {};
};

/// Resident memory of the bridge, in kB.
struct Memory {
  std::size_t at_work = 0;      ///< the median since the last rest
  std::size_t at_rest = 0;      ///< without a server and without requests
  std::size_t own_at_rest = 0;  ///< without the pages of the program itself
};

/// Plays one session with a bridge from its start to its end. Prints a row for each rest. Returns
/// the memory of the bridge at each rest.
std::vector<Memory> play_session(const SessionSetup& setup, sim::Random& random,
                                 Findings& findings);

void print_head_of_table();

}  // namespace sitter::soak
