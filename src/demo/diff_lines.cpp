#include "demo/diff_lines.hpp"

#include <algorithm>
#include <cstddef>

namespace sitter {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// For each pair of positions, how many lines the rests of both texts have in common.
std::vector<std::vector<std::size_t>> common_counts(const std::vector<std::string_view>& before,
                                                    const std::vector<std::string_view>& after) {
  std::vector<std::vector<std::size_t>> counts(before.size() + 1,
                                               std::vector<std::size_t>(after.size() + 1));
  for (std::size_t i = before.size(); i-- > 0;) {
    for (std::size_t j = after.size(); j-- > 0;) {
      counts[i][j] = before[i] == after[j] ? counts[i + 1][j + 1] + 1
                                           : std::max(counts[i + 1][j], counts[i][j + 1]);
    }
  }
  return counts;
}

/// The difference with all unchanged lines.
std::vector<DiffLine> whole_diff(std::string_view text_before, std::string_view text_after) {
  const auto before = lines_of(text_before);
  const auto after = lines_of(text_after);
  const auto counts = common_counts(before, after);
  std::vector<DiffLine> lines;
  const auto add = [&lines](char mark, std::string_view line) {
    lines.push_back(mark + std::string(line));
  };
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < before.size() || j < after.size()) {
    if (i < before.size() && j < after.size() && before[i] == after[j]) {
      add(' ', before[i++]);
      ++j;
    } else if (j == after.size() || (i < before.size() && counts[i + 1][j] >= counts[i][j + 1])) {
      add('-', before[i++]);
    } else {
      add('+', after[j++]);
    }
  }
  return lines;
}

}  // namespace

std::vector<DiffLine> diff_lines(std::string_view before, std::string_view after) {
  const std::vector<DiffLine> all = whole_diff(before, after);
  const auto is_changed = [&all](std::size_t at) { return at < all.size() && all[at][0] != ' '; };
  std::vector<DiffLine> shown;
  bool is_gap = false;
  for (std::size_t at = 0; at < all.size(); ++at) {
    if (is_changed(at) || is_changed(at + 1) || (at > 0 && is_changed(at - 1))) {
      if (is_gap && !shown.empty()) shown.emplace_back("@@");
      is_gap = false;
      shown.push_back(all[at]);
    } else {
      is_gap = true;
    }
  }
  return shown;
}

}  // namespace sitter
