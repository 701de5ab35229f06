#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace sitter {

/// Whether a line has one of the words with which most programs report an error.
bool has_error_word(std::string_view line);

/// The lines of a program's stderr that say most about its end, at most `lines_max`, in their
/// order. Stack frames are left out, because a trace of Node.js or Go is longer than most places
/// for it, and the error stands above it. If the last error stands before the last lines, the lines
/// from it on are taken. The lines are views into `stderr_tail`.
std::vector<std::string_view> last_words(std::string_view stderr_tail, std::size_t lines_max);

}  // namespace sitter
