#include "help/columns.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sitter {
namespace {

/// All but the bytes that continue a character in UTF-8.
std::size_t characters_in(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  constexpr std::string_view kBlanks = " \n";
  std::vector<std::string> lines;
  for (std::size_t begin = text.find_first_not_of(kBlanks); begin != text.npos;) {
    const std::size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    if (!lines.empty() && characters_in(lines.back()) + 1 + characters_in(word) <= width) {
      lines.back() += ' ';
      lines.back() += word;
    } else {
      lines.emplace_back(word);
    }
    begin = text.find_first_not_of(kBlanks, end);
  }
  return lines;
}

std::string entry(std::string_view term, std::string_view about, std::size_t column) {
  std::string text = fmt::format("  {}", term);
  bool is_beside = text.size() + 2 <= column;
  for (const std::string& line : wrapped(about, kPageWidth - column)) {
    if (is_beside) {
      text.resize(column, ' ');
    } else {
      text += '\n';
      text.append(column, ' ');
    }
    text += line;
    is_beside = false;
  }
  return text + '\n';
}

}  // namespace sitter
