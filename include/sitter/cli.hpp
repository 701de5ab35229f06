#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sitter/bytes.hpp"
#include "sitter/fact.hpp"
#include "sitter/generation.hpp"
#include "sitter/order.hpp"

// The words between the server that is played for a command-line tool and the shell that runs the
// tool. A run is a process like a child, with a number of its own.

namespace sitter {

namespace limits {

/// What a run writes is kept up to this size, and beyond it both ends. Models read far less, and
/// clients cut results at 100 kB or so.
inline constexpr std::size_t kRunOutputMax = 1 * kMiB;

}  // namespace limits

namespace order {

/// Start one command of the tool. The shell answers with `ChildStarted` or `ChildStartFailed`.
struct StartRun {
  Generation gen = kNoGeneration;
  /// What follows the tool itself.
  std::vector<std::string> arguments;
  /// What the command reads before the end of its stdin.
  std::string input = {};
  /// NAME=VALUE entries, over the environment of the tool.
  std::vector<std::string> environment = {};
  /// Relative to the directory of the tool. Empty: this directory itself.
  std::string cwd = {};
};
/// Read the file that describes the tool, for this child. The shell answers with `DescriptionRead`,
/// and reads no more than `limits::kRunOutputMax` bytes.
struct ReadDescription {
  Generation gen = kNoGeneration;
};

}  // namespace order

/// What the shell does for the tool. The numbers of the last three are those of runs.
using CliOrder = std::variant<order::StartRun, order::ReadDescription, order::SignalUnit,
                              order::CloseChildInput, order::ReleaseChild>;

namespace fact {

/// The next bytes that a run has written to its stdout. A view; it is valid until the next fact.
struct RunOutput {
  Generation gen = kNoGeneration;
  std::string_view bytes;
};
/// The answer to `ReadDescription`.
struct DescriptionRead {
  Generation gen = kNoGeneration;
  std::string text;
  /// Why the file could not be read, as a clause without a full stop; empty if it was.
  std::string problem = {};
};

}  // namespace fact

/// What the shell reports of runs, and of the file that describes the tool.
using CliFact = std::variant<fact::ChildStarted, fact::ChildStartFailed, fact::RunOutput,
                             fact::ChildOutputEnded, fact::ChildErrorLine, fact::ChildErrorEnded,
                             fact::ChildExited, fact::ChildOutputMoved, fact::UnitSignalled,
                             fact::OrphanEnded, fact::DescriptionRead>;

}  // namespace sitter
