#pragma once

#include "options.hpp"

namespace sitter::fake {

/// Serves until the end of input at the lowest cost: ids and methods are found by a scan, nothing
/// is allocated per line, and all lines of one read are answered in one write. Returns the exit
/// code.
int serve_fast(const Options& options);

}  // namespace sitter::fake
