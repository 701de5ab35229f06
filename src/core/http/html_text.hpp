#pragma once

#include <string>
#include <string_view>

namespace sitter {

/// The text of an HTML page, for a person. Blanks are not folded, and entities may have brought
/// control characters.
struct HtmlText {
  std::string title;
  std::string text;
};

/// Reads a page without its tags, comments, scripts and styles. Tags of blocks become a space. No
/// page is an error: what is cut off within a tag is dropped.
HtmlText html_text(std::string_view html);

}  // namespace sitter
