#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sitter {

/// The candidate that the user probably meant with `word`: the nearest, if at most a third of the
/// letters of `word` are wrong. A letter too many, too few or another, and two letters in the wrong
/// order, are one mistake each.
std::optional<std::string> suggestion(std::string_view word,
                                      const std::vector<std::string>& candidates);

}  // namespace sitter
