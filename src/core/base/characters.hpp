#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace sitter {

/// Whether a byte of valid UTF-8 is the first of a character.
inline bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

/// The number of characters of valid UTF-8.
inline std::size_t character_count(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

}  // namespace sitter
