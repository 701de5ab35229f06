#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sitter {

/// A shell for which there is a completion.
struct Shell {
  std::string_view name;
  /// The script that completes the words of mcp-sitter.
  std::string (*completion)();
  /// How to use the script, on one line.
  std::string_view use;
};

const std::vector<Shell>& shells();

}  // namespace sitter
