#include "terminal/hunk.hpp"

#include <algorithm>

namespace sitter {
namespace {

/// The lines with their ends.
std::vector<std::string_view> whole_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::size_t length = end == text.npos ? text.size() : end + 1;
    lines.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return lines;
}

}  // namespace

std::optional<Hunk> hunk(std::string_view before, std::string_view after, std::size_t context) {
  const auto old_lines = whole_lines(before);
  const auto new_lines = whole_lines(after);
  const std::size_t shorter = std::min(old_lines.size(), new_lines.size());
  std::size_t same = 0;
  while (same < shorter && old_lines[same] == new_lines[same]) ++same;
  if (same == old_lines.size() && same == new_lines.size()) return std::nullopt;
  std::size_t tail = 0;
  while (tail < shorter - same &&
         old_lines[old_lines.size() - 1 - tail] == new_lines[new_lines.size() - 1 - tail]) {
    ++tail;
  }
  const std::size_t begin = same - std::min(same, context);
  const std::size_t old_end = old_lines.size() - tail;
  const std::size_t new_end = new_lines.size() - tail;
  const std::size_t behind = std::min(tail, context);

  Hunk hunk;
  hunk.before = {begin, old_end + behind - begin};
  hunk.after = {begin, new_end + behind - begin};
  const auto add = [&](char mark, std::string_view line) {
    hunk.lines.push_back(mark + std::string(line));
  };
  for (std::size_t i = begin; i < same; ++i) add(' ', old_lines[i]);
  for (std::size_t i = same; i < old_end; ++i) add('-', old_lines[i]);
  for (std::size_t i = same; i < new_end; ++i) add('+', new_lines[i]);
  for (std::size_t i = old_end; i < old_end + behind; ++i) add(' ', old_lines[i]);
  return hunk;
}

}  // namespace sitter
