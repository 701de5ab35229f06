#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace sitter {

/// The lines at the end of a crashed server's stderr that say most, at most `lines_max`, in their
/// order. Stack frames are left out, because a trace of Node.js or Go is longer than a notice, and
/// the error stands above it. The lines are views into `stderr_tail`.
std::vector<std::string_view> last_words(std::string_view stderr_tail, std::size_t lines_max);

}  // namespace sitter
