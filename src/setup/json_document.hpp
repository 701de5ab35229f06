#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "setup/document.hpp"

namespace sitter::setup {

/// JSON in which `//` and `/* */` comments, trailing commas and a byte order mark are allowed.
std::unique_ptr<Document> read_json(std::string text, const std::string& name);

/// The same text, of the same length, in which spaces replace the comments and the byte order mark.
std::string without_comments(std::string_view text);

/// Replaces each comma before a closing bracket by a space. The text has no comments.
void blank_trailing_commas(std::string& text);

}  // namespace sitter::setup
