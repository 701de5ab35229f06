#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace sitter {

namespace limits {

/// How many lines of source an excerpt shows below an error. rustc, which prints the most, needs
/// seven for an error that shows two places in a file, and one more for each further label.
inline constexpr std::size_t kErrorSourceLinesMax = 8;

}  // namespace limits

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

/// An error in the output of a build.
struct BuildError {
  /// The index of the line that says what is wrong.
  std::size_t line = 0;
  /// The lines that show the place in the source. They follow the error, or precede it in a
  /// traceback. The range may be empty.
  std::size_t source_begin = 0;
  std::size_t source_end = 0;
};

/// The errors of a build, and which lines only explain them.
struct BuildErrors {
  std::vector<BuildError> errors;
  /// For each line of the output, whether it belongs to a note, a warning or a candidate, says from
  /// where a file was included or a template was instantiated, or repeats an error.
  std::vector<bool> is_remark;
};

/// Finds the errors in the output of a failed build, each of them once. These are the errors with a
/// place in a file; if there are none, the lines that look like errors and do not only sum up.
BuildErrors find_errors(const std::vector<BuildLine>& lines);

}  // namespace sitter
