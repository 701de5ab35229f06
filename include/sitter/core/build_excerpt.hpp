#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sitter/core/limits.hpp"

namespace sitter {

/// The part of a build's output that a model should read: all of it if it is short, else what looks
/// like errors, from the first on, and the last lines. Where lines are left out, one line counts
/// them. At most `lines_max` lines of the output, and `bytes_max` bytes with the counting lines.
std::string build_excerpt(const std::vector<std::string_view>& lines,
                          std::size_t lines_max = limits::kBuildExcerptLinesMax,
                          std::size_t bytes_max = limits::kBuildExcerptBytesMax);

}  // namespace sitter
