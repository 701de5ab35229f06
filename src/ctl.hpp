#pragma once

#include <string>
#include <vector>

namespace sitter {

/// `mcp-sitter ctl ...`: shows and controls the bridges of this user that run. `words` are those
/// behind `ctl`. Returns the exit code: 1 if what was asked for failed, 2 for a mistake in the
/// words.
int run_ctl(const std::vector<std::string>& words);

}  // namespace sitter
