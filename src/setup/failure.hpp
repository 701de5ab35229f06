#pragma once

#include <string>

namespace sitter::setup {

/// Why nothing was done: one sentence for stderr, which says what the user can do.
struct Failure {
  std::string what;
  /// 2 for a mistake in the words, 1 for anything else.
  int exit_code = 1;
};

}  // namespace sitter::setup
