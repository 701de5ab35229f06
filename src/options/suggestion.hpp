#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sitter {

/// A wrong word is shown up to this length.
inline constexpr std::size_t kWordShownMax = 100;

/// A wrong word as an error shows it, in quotes.
std::string shown_value(std::string_view value);

/// The candidate that the user probably meant with `word`: the nearest, if at most a third of the
/// letters of `word` are wrong. A letter too many, too few or another, and two letters in the wrong
/// order, are one mistake each.
std::optional<std::string> suggestion(std::string_view word,
                                      const std::vector<std::string>& candidates);

/// The same as a part of an error: " (did you mean --watch?)". Empty if there is no suggestion.
std::string suggestion_text(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace sitter
