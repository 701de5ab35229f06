#pragma once

#include <string_view>
#include <vector>

namespace sitter {

/// The lines of a text without their ends. A last line may lack its end; an empty text has no line.
std::vector<std::string_view> text_lines(std::string_view text);

}  // namespace sitter
