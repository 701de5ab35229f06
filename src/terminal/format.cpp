#include "terminal/format.hpp"

#include <fmt/format.h>

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

std::string entry(std::string_view term, std::string_view about, std::size_t column) {
  std::string text = fmt::format("  {}", term);
  bool is_beside = character_count(text) + 2 <= column;
  for (const std::string& line : wrapped(about, kPageWidth - column)) {
    if (is_beside) {
      text.append(column - character_count(text), ' ');
    } else {
      text += '\n';
      text.append(column, ' ');
    }
    text += line;
    is_beside = false;
  }
  return text + '\n';
}

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], character_count(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      text += fmt::format("{:<{}}  ", row[i], widths[i]);
    }
    text += row.back() + '\n';
  }
  return text;
}

}  // namespace sitter
