#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sitter {

/// The columns that help and pages use.
inline constexpr std::size_t kPageWidth = 80;

/// Lines of whole words with at most `width` characters each. A longer word has a line of its own.
/// Runs of blanks count as one.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

/// `term` and its explanation beside it, from `column` on; below it if the term is too long.
std::string entry(std::string_view term, std::string_view about, std::size_t column);

}  // namespace sitter
