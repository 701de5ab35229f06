#pragma once

#include "options.hpp"

namespace sitter::fake {

/// Serves over HTTP, without sessions, until a signal ends the process. Every answer is one write,
/// and connections are kept. A request must have a Content-Length. Returns the exit code.
int serve_fast_http(const Options& options);

}  // namespace sitter::fake
