#pragma once

#include <string>
#include <vector>

namespace sitter {

/// Runs `mcp-sitter setup ...`, which puts mcp-sitter in front of servers in the settings of
/// clients, and takes it away again. `words` are the words after `setup`. Returns the exit code: 1
/// if nothing could be done, 2 for a mistake in the words.
int run_setup(const std::vector<std::string>& words);

}  // namespace sitter
