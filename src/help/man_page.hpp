#pragma once

#include <string>

namespace sitter {

/// The manual page mcp-sitter(1), in the language of man(7).
std::string man_page();

}  // namespace sitter
