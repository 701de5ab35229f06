#pragma once

#include <string>

namespace sitter {

/// What `mcp-sitter --help` prints: examples, commands and options, at most 80 columns wide.
std::string help_text();

}  // namespace sitter
