#include "terminal/columns.hpp"

#include <fmt/format.h>

#include "core/base/text.hpp"
#include "terminal/wrap.hpp"

namespace sitter {
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

}  // namespace sitter
