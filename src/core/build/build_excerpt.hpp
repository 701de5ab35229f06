#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sitter/limits.hpp"

namespace sitter {

/// A line of a build's output that is kept.
struct BuildLine {
  /// The number of the line in the whole output, counted from 1.
  std::int64_t number = 0;
  std::string_view text;
};

/// After an error, compilers print its place and a part of the source.
inline constexpr std::int64_t kLinesBehindError = 3;

/// Whether a line looks like an error, or like the place of an error.
bool looks_like_error(std::string_view line);

/// Returns the part of a build's output that a model should read. This is the whole output if it is
/// short; otherwise the lines that look like errors, from the first on, and the last lines. Where
/// lines are left out, an extra line counts them. The excerpt has at most `lines_max` lines of the
/// output, and at most `bytes_max` bytes including the extra lines.
std::string build_excerpt(const std::vector<BuildLine>& lines,
                          std::size_t lines_max = limits::kBuildExcerptLinesMax,
                          std::size_t bytes_max = limits::kBuildExcerptBytesMax);

}  // namespace sitter
