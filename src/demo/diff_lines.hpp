#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sitter {

/// One line of a unified diff, with its first character: ' ', '-' or '+'.
using DiffLine = std::string;

/// The difference between two texts of at most a few hundred lines: the changed lines, with at most
/// one unchanged line before and after each group of them. Between groups that do not touch stands
/// a line "@@". Nothing if the texts are the same.
std::vector<DiffLine> diff_lines(std::string_view before, std::string_view after);

}  // namespace sitter
