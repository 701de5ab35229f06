#pragma once

#include <string>
#include <vector>

namespace sitter {

/// Runs `mcp-sitter ctl ...`, which shows and controls the running bridges of this user. `words`
/// are the words after `ctl`. Returns the exit code: 1 if the request failed, 2 for a mistake in
/// the words.
int run_ctl(const std::vector<std::string>& words);

}  // namespace sitter
