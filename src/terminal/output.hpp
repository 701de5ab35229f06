#pragma once

#include <string_view>

namespace sitter {

/// Writes the text to stdout. False if not all of it arrived, with the reason in errno.
bool print_all(std::string_view text);

}  // namespace sitter
