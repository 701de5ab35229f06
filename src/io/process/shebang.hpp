#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sitter {

/// The first line of a file, at most 256 bytes of it, without its end. Empty if it can't be read.
std::string first_line_of(const std::string& path);

/// The interpreter and its arguments in a first line that begins with `#!`, else nothing.
std::vector<std::string> shebang_words(std::string_view first_line);

}  // namespace sitter
