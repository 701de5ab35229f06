#include <algorithm>

#include "core/base/json_text.hpp"
#include "setup/json_document.hpp"

namespace sitter::setup {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::size_t behind_string(std::string_view text, std::size_t at) {
  return std::min(behind_json_string(text, at), text.size());
}

/// The end of the comment that begins here. A comment that does not end takes the rest.
std::size_t behind_comment(std::string_view text, std::size_t at) {
  if (text[at + 1] == '/') return std::min(text.find('\n', at), text.size());
  const std::size_t end = text.find("*/", at + 2);
  return end == text.npos ? text.size() : end + 2;
}

}  // namespace

std::string without_comments(std::string_view text) {
  std::string blank(text);
  std::size_t at = 0;
  const auto blank_until = [&](std::size_t end) {
    for (; at < end; ++at) {
      if (blank[at] != '\n' && blank[at] != '\r') blank[at] = ' ';
    }
  };
  if (text.starts_with(kByteOrderMark)) blank_until(kByteOrderMark.size());
  while (at < text.size()) {
    const std::string_view rest = text.substr(at);
    if (rest.front() == '"') {
      at = behind_string(text, at);
    } else if (rest.starts_with("//") || rest.starts_with("/*")) {
      blank_until(behind_comment(text, at));
    } else {
      ++at;
    }
  }
  return blank;
}

void blank_trailing_commas(std::string& text) {
  std::size_t at = 0;
  // A comma counts as trailing only behind a value: `[,]` stays broken.
  bool follows_value = false;
  while (at < text.size()) {
    if (text[at] == '"') {
      at = behind_string(text, at);
      follows_value = true;
      continue;
    }
    if (text[at] == ',' && follows_value) {
      const std::size_t next = text.find_first_not_of(" \t\r\n", at + 1);
      if (next != text.npos && (text[next] == '}' || text[next] == ']')) text[at] = ' ';
    }
    if (!is_json_space(text[at])) {
      follows_value = text[at] != ',' && text[at] != '[' && text[at] != '{' && text[at] != ':';
    }
    ++at;
  }
}

}  // namespace sitter::setup
