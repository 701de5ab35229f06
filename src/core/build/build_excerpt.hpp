#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sitter/limits.hpp"

namespace sitter {

/// One of those that are kept of a build's output.
struct BuildLine {
  /// Counted from 1, over all that it has written.
  std::int64_t number = 0;
  std::string_view text;
};

/// Behind an error stands where it is, and a part of the source.
inline constexpr std::int64_t kLinesBehindError = 3;

/// Whether a person would take it for one, or for its place.
bool looks_like_error(std::string_view line);

/// The part of a build's output that a model should read: all of it if it is short, else what looks
/// like errors, from the first on, and the last lines. Where lines are left out, one line counts
/// them. At most `lines_max` lines of the output, and `bytes_max` bytes with the counting lines.
std::string build_excerpt(const std::vector<BuildLine>& lines,
                          std::size_t lines_max = limits::kBuildExcerptLinesMax,
                          std::size_t bytes_max = limits::kBuildExcerptBytesMax);

}  // namespace sitter
