#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sitter {

/// What mcp-sitter does instead of running as a bridge.
struct Command {
  std::string_view name;
  /// One line for the help.
  std::string_view about;
  /// The words that may follow, with blanks between them.
  std::string words;
  /// Gets the words after the name, and returns the exit code: 2 for a mistake in the words.
  int (*run)(const std::vector<std::string>& words);
};

/// All commands, in the order of the help.
const std::vector<Command>& commands();

/// The command that the first word names, or nothing. A program of the same name is run by
/// `mcp-sitter -- NAME`.
const Command* find_command(const std::vector<std::string>& words);

/// What to say if the first word of a command line was probably meant as a command of mcp-sitter,
/// as a sentence without the program's name. Nothing if it is none.
std::optional<std::string> meant_command(std::string_view word);

}  // namespace sitter
