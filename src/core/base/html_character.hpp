#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sitter {

/// A character that a text in HTML writes as a reference.
struct HtmlCharacter {
  std::string text;
  /// The size of the reference.
  std::size_t size = 0;
};

/// The character at the beginning of the text, if a reference stands there: `&amp;` and the other
/// names that servers use for what HTML has in its markup, or a number up to U+FFFF.
std::optional<HtmlCharacter> html_character(std::string_view html);

}  // namespace sitter
