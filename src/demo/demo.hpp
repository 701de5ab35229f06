#pragma once

#include <string>
#include <vector>

namespace sitter {

/// Runs `mcp-sitter demo ...`, which plays a short story with a real server. `words` are the words
/// after `demo`. Returns the exit code: 0 if the story went as told, 1 otherwise, 2 for a mistake
/// in the words, and 128 + N after signal N.
int run_demo(const std::vector<std::string>& words);

}  // namespace sitter
