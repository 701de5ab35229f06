#pragma once

#include <optional>
#include <span>
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
  std::string (*words)();
  /// Gets the words after the name, and returns the exit code: kFailed, or kUsageError for a
  /// mistake in the words.
  int (*run)(const std::vector<std::string>& words);
};

inline constexpr int kFailed = 1;
inline constexpr int kUsageError = 2;

/// Puts mcp-sitter in front of servers in the settings of clients, and takes it away again.
int run_setup(const std::vector<std::string>& words);

/// Starts a server as a client would and says what a client would stumble over. Fails if there is a
/// problem.
int run_doctor(const std::vector<std::string>& words);

/// Plays a short story with a real server. Fails if the story did not go as told, and returns 128 +
/// N after signal N.
int run_demo(const std::vector<std::string>& words);

/// Shows and controls the running bridges of this user. Fails if the request did.
int run_ctl(const std::vector<std::string>& words);

/// Prints the help and the topics, a page with TOPIC, and the manual page with `--man`.
int run_help(const std::vector<std::string>& words);

/// Prints a script for a shell.
int run_completion(const std::vector<std::string>& words);

/// All commands, in the order of the help.
std::span<const Command> commands();

/// The command that the first word names, or nothing. A program of the same name is run by
/// `mcp-sitter -- NAME`.
const Command* find_command(const std::vector<std::string>& words);

/// What to say if the first word of a command line was probably meant as a command of mcp-sitter,
/// as a sentence without the program's name. Nothing if it is none.
std::optional<std::string> meant_command(std::string_view word);

}  // namespace sitter
