#pragma once

#include <string>
#include <string_view>

namespace sitter {

/// The word as a shell reads it back: in single quotes if it has to be.
std::string shell_word(std::string_view word);

}  // namespace sitter
