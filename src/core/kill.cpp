#include "sitter/core/kill.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sitter/core/limits.hpp"

namespace sitter {

std::string refusal_text(const SharedImage& shared) {
  std::string text = fmt::format(
      "Nothing was ended. The scope same-executable would end every process that runs {}, and "
      "other programs run it too. ",
      shared.path);
  if (shared.others.empty()) {
    text += "At the moment none does.";
  } else {
    text += "These would have ended:";
  }
  const std::size_t shown = std::min(shared.others.size(), limits::kShownStrangersMax);
  for (std::size_t i = 0; i < shown; ++i) {
    text += fmt::format("\n{} {}", shared.others[i].pid, shared.others[i].command);
  }
  if (shown < shared.others.size()) {
    text += fmt::format("\nand {} more", shared.others.size() - shown);
  }
  return text +
         "\nThe scope auto ends the server and all that it started, and leaves those alone. Only "
         "the user can allow more, by starting mcp-sitter with --allow-wide-kill.";
}

}  // namespace sitter
