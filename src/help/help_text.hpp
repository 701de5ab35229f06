#pragma once

#include <string>

namespace sitter {

/// What `mcp-sitter --help` prints: examples, commands and options, at most 80 columns wide.
std::string help_text();

/// The manual page mcp-sitter(1), in the language of man(7).
std::string man_page();

}  // namespace sitter
