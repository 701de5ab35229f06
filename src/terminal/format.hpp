#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sitter {

/// The columns that help and pages use.
inline constexpr std::size_t kPageWidth = 80;

/// Breaks a line at its spaces into lines of at most `columns` characters. A word that is longer
/// is cut. The spaces at the beginning stay, and those at a break are dropped. With 0 columns, the
/// line stays whole.
std::vector<std::string> wrapped(std::string_view line, std::size_t columns);

/// `term` and its explanation beside it, from `column` on; below it if the term is too long.
std::string entry(std::string_view term, std::string_view about, std::size_t column);

/// Formats rows, of which the first is the header. Each column is as wide as its widest entry; the
/// last column is not padded.
std::string table(const std::vector<std::vector<std::string>>& rows);

}  // namespace sitter
