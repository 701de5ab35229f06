#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sitter {

/// The columns that help and pages use.
inline constexpr std::size_t kPageWidth = 80;

/// `term` and its explanation beside it, from `column` on; below it if the term is too long.
std::string entry(std::string_view term, std::string_view about, std::size_t column);

}  // namespace sitter
