#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "options/options.hpp"
#include "options/raw_options.hpp"

namespace sitter {

/// What `mcp-sitter doctor` is asked to look at.
struct DoctorWords {
  bool as_json = false;
  bool checks_environment = true;
  /// The options for the bridge, as they were written. Options that only change what a bridge does
  /// beside serving (builds, reloads, names, logs) are left out.
  std::vector<GivenOption> kept;
  /// Empty if an option names the server.
  std::vector<std::string> command;
  /// The meaning of all words for a bridge.
  Options options;
};

/// Reads the words after `doctor`. A refusal is the help, or a mistake in the words.
std::variant<DoctorWords, Refusal> read_doctor_words(const std::vector<std::string>& words);

/// The command line of a bridge with which only the server counts: it offers the tools of
/// `doctor_tool`, waits for the server's own opening, and has no socket.
std::vector<std::string> bridge_words(const DoctorWords& words,
                                      std::optional<Milliseconds> startup_timeout = {});

/// The name of a built-in tool (`status`) in that bridge, which no server uses for its own tools.
std::string doctor_tool(std::string_view tool);

}  // namespace sitter
