#include "terminal/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "core/base/text.hpp"

namespace sitter {

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
