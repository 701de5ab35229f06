#pragma once

#include <string>
#include <vector>

namespace sitter {

/// `mcp-sitter help` prints the help and the topics, `help TOPIC` a page, and `help --man` the
/// manual page. Returns the exit code: 2 for an unknown topic.
int run_help(const std::vector<std::string>& words);

/// `mcp-sitter completion SHELL` prints a script for the shell. Returns the exit code: 2 for an
/// unknown shell.
int run_completion(const std::vector<std::string>& words);

}  // namespace sitter
