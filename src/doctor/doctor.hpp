#pragma once

#include <string>
#include <vector>

namespace sitter {

/// Runs `mcp-sitter doctor ...`, which starts a server as a client would and says what a client
/// would stumble over. `words` are the words after `doctor`. Returns the exit code: 1 if there is a
/// problem, 2 for a mistake in the words.
int run_doctor(const std::vector<std::string>& words);

}  // namespace sitter
