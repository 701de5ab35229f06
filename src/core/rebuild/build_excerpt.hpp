#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/rebuild/build_errors.hpp"
#include "sitter/bytes.hpp"

namespace sitter {

namespace limits {

/// Lines of the first errors of a build, which are kept even when the log no longer holds them:
/// enough for the first ten errors with the lines that follow each of them. The second bound is for
/// the bytes of such a line, as an excerpt shows it.
inline constexpr std::size_t kBuildErrorsKept = 40;
inline constexpr std::size_t kBuildErrorBytesMax = 500;

/// How much of the build's output the result of a rebuild shows: enough for the first errors, which
/// a model mends first, and little beside the rest of its conversation. sitter_build_log shows
/// more.
inline constexpr std::size_t kBuildExcerptLinesMax = 80;
inline constexpr std::size_t kBuildExcerptBytesMax = 3 * kKiB;

}  // namespace limits

/// Returns the part of a build's output that a model should read. This is the whole output if it is
/// short; otherwise the lines that look like errors, from the first on, and the last lines. Where
/// lines are left out, an extra line counts them. The excerpt has at most `lines_max` lines of the
/// output, and at most `bytes_max` bytes including the extra lines.
std::string build_excerpt(const std::vector<BuildLine>& lines,
                          std::size_t lines_max = limits::kBuildExcerptLinesMax,
                          std::size_t bytes_max = limits::kBuildExcerptBytesMax);

/// Returns the same for a build that has failed. If the output holds errors, the excerpt begins
/// with their number and the errors themselves. Then come the last lines of the output, and as far
/// as there is room the notes and warnings, and the rest.
std::string failure_excerpt(const std::vector<BuildLine>& lines,
                            std::size_t lines_max = limits::kBuildExcerptLinesMax,
                            std::size_t bytes_max = limits::kBuildExcerptBytesMax);

}  // namespace sitter
