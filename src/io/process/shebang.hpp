#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sitter {

/// The first line of a file without its line end, at most 256 bytes. Empty if the file cannot be
/// read.
std::string first_line_of(const std::string& path);

/// The interpreter and its arguments in a first line that begins with `#!`, otherwise nothing.
std::vector<std::string> shebang_words(std::string_view first_line);

}  // namespace sitter
