#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/tool_server/cli_server.hpp"
#include "io/cli_backend.hpp"
#include "io/process/launch_plan.hpp"

namespace sitter {

inline double in_seconds(Milliseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

inline Milliseconds milliseconds(double seconds) {
  return Milliseconds(static_cast<std::int64_t>(std::llround(seconds * 1000)));
}

/// What the command line says about a command-line tool, as it was written.
struct RawCli {
  std::string tool;
  std::string schema_arguments = "schema --json";
  std::string schema_file;
  int calls_max = static_cast<int>(limits::kCallsMaxDefault);
  double call_timeout = in_seconds(limits::kCallTimeoutDefault);
};

/// The words of a text, with blanks between them. Quotes (' and ") keep blanks together, and a
/// backslash keeps the next character as it is, also within ". Nothing if a quote does not end.
std::optional<std::vector<std::string>> split_words(const std::string& text);

/// The pattern of --watch that only this file matches.
std::string pattern_of_file(const std::string& path);

/// The options of a tool, or what is wrong with them, as a sentence without the program's name.
/// Sets the command that runs the tool.
std::variant<CliBackend::Options, std::string> cli_options(const RawCli& raw,
                                                           const std::string& cwd,
                                                           LaunchRequest& command);

}  // namespace sitter
