#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sitter {

/// What mcp-sitter does instead of running as a bridge.
struct Command {
  std::string_view name;
  /// One line for the help.
  std::string_view about;
  /// Gets the words after the name, and returns the exit code: 2 for a mistake in the words.
  int (*run)(const std::vector<std::string>& words);
};

/// All commands, in the order of the help.
const std::vector<Command>& commands();

/// The command that the first word names, or nothing. A program of the same name is run by
/// `mcp-sitter -- NAME`.
const Command* find_command(const std::vector<std::string>& words);

}  // namespace sitter
