#pragma once

#include <string>
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

/// A page of the documentation as a terminal shows it, at most 80 columns wide but for code. Reads
/// the Markdown that these pages use: headings, paragraphs, lists, code and tables. A row of a
/// table becomes its first cell, and the other cells below it, with their titles if there are three
/// columns or more. A link to a topic says how to read it.
std::string page_text(std::string_view markdown);

}  // namespace sitter
