#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sitter/exit_status.hpp"
#include "sitter/time.hpp"
#include "support/simulation_cli_scene.hpp"
#include "support/simulation_random.hpp"
#include "support/simulation_unit.hpp"

namespace sitter::sim {

/// One run of a command-line tool. Everything that the run does by itself is chosen at its start.
/// Times are measured from its start.
struct CliRun : Unit {
  struct Piece {
    Milliseconds after{};
    std::string bytes;
  };

  /// A run that describes the tool, or that carries out the call with this mark. `faults` is the
  /// chance that it does not just do its work.
  CliRun(Generation generation, int mark, std::string text, Random& random, int faults);

  bool is_description() const { return call == 0; }
  /// The bridge is told that it has exited.
  bool has_exited() const { return told_status.has_value(); }
  bool is_there(const Process& process) const {
    return process.lives && !departed.contains(process.pid);
  }

  int call;
  std::vector<Piece> writes, writes_errors;
  /// Empty if it hangs.
  std::optional<Milliseconds> ends_after;
  ExitStatus status;
  /// A run may close its stdout and go on.
  std::optional<Milliseconds> closes_output_after;
  /// When the processes that it has started begin a session of their own; empty if they do not.
  std::optional<Milliseconds> departs_after;

  /// What is in the pipe of its stdout.
  std::string pipe;
  /// The processes in a session of their own.
  std::set<std::int64_t> departed;
  bool is_released = false;

  // What the bridge was told of it.
  std::string told_output;
  std::optional<ExitStatus> told_status;
};

/// What the run of this call writes first, in one of several forms.
std::string run_text(int mark, Random& random);
/// The text in every line that the run of this call writes.
std::string run_word(int mark);

}  // namespace sitter::sim
