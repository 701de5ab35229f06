#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sitter {

/// Breaks a line at its spaces into lines of at most `columns` characters. A word that is longer
/// is cut. The spaces at the beginning stay, and those at a break are dropped. With 0 columns, the
/// line stays whole.
std::vector<std::string> wrapped(std::string_view line, std::size_t columns);

}  // namespace sitter
