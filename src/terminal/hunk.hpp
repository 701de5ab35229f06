#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sitter {

/// The part in which two texts differ, as a unified diff shows it.
struct Hunk {
  /// The lines of a text that the hunk covers, from the line at index `begin` on.
  struct Range {
    std::size_t begin = 0;
    std::size_t count = 0;
  };

  Range before, after;
  /// Each line with its mark before it, ' ', '-' or '+', and with its own end.
  std::vector<std::string> lines;
};

/// From the first line that differs to the last one, and up to `context` lines around it. Nothing
/// if the texts are the same.
std::optional<Hunk> hunk(std::string_view before, std::string_view after, std::size_t context);

}  // namespace sitter
