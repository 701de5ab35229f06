#include "options/suggestion.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.hpp"

namespace sitter {
namespace {

/// The number of mistakes between two words (optimal string alignment).
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> before_last, last, row(to.size() + 1);
  for (std::size_t j = 0; j <= to.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    before_last = std::move(last);
    last = row;
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t is_other = from[i - 1] == to[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + is_other});
      const bool is_swapped =
          i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (is_swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row.back();
}

/// A longer word is no mistyped one.
constexpr std::size_t kWordMax = 40;

}  // namespace

std::string shown_value(std::string_view value) {
  return fmt::format("'{}'", brief(value, kWordShownMax));
}

std::optional<std::string> suggestion(std::string_view word,
                                      const std::vector<std::string>& candidates) {
  if (word.size() > kWordMax) return std::nullopt;
  std::optional<std::string> nearest;
  std::size_t least = word.size() / 3 + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t mistakes = distance(word, candidate);
    if (mistakes >= least) continue;
    least = mistakes;
    nearest = candidate;
  }
  return nearest;
}

std::string suggestion_text(std::string_view word, const std::vector<std::string>& candidates) {
  const auto meant = suggestion(word, candidates);
  return meant ? fmt::format(" (did you mean {}?)", *meant) : "";
}

}  // namespace sitter
