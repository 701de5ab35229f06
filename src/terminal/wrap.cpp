#include "terminal/wrap.hpp"

#include <algorithm>

#include "core/base/text.hpp"

namespace sitter {
namespace {

/// The bytes of the first `count` characters.
std::size_t bytes_of(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  while (at < text.size() && (!begins_character(text[at]) || count-- > 0)) ++at;
  return at;
}

}  // namespace

std::vector<std::string> wrapped(std::string_view line, std::size_t columns) {
  std::vector<std::string> lines;
  while (columns > 0 && character_count(line) > columns) {
    const std::size_t full = bytes_of(line, columns);
    // A space right behind the last column is a place to break, too.
    const std::size_t space = line.rfind(' ', full);
    const bool has_word_before = space != line.npos && line.find_first_not_of(' ') < space;
    const std::size_t end = has_word_before ? space : full;
    std::string_view piece = line.substr(0, end);
    piece = piece.substr(0, piece.find_last_not_of(' ') + 1);
    lines.emplace_back(piece);
    line.remove_prefix(std::min(line.find_first_not_of(' ', end), line.size()));
  }
  if (!line.empty() || lines.empty()) lines.emplace_back(line);
  return lines;
}

}  // namespace sitter
