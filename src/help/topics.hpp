#pragma once

#include <string_view>
#include <vector>

namespace sitter {

/// A page of the documentation, which is part of the program.
struct Topic {
  /// As in `mcp-sitter help NAME`.
  std::string_view name;
  std::string_view markdown;

  /// The first heading.
  std::string_view title() const;
};

/// Made from docs/*.md by the build.
const std::vector<Topic>& topics();

}  // namespace sitter
