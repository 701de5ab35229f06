#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace sitter {

/// An option, as help, man page and completion show it.
struct OptionRow {
  /// With their dashes; a short name stands first.
  std::vector<std::string> names;
  /// What the value is called, or its words with a bar between them. Empty if there is no value.
  std::string value;
  /// What the option means, on one line.
  std::string about;
  std::string group;
};

/// The options of a parser, in the order of their declaration. Help and version come last.
std::vector<OptionRow> option_rows(const CLI::App& app);

/// All options of the bridge, each group together.
std::vector<OptionRow> option_table();

}  // namespace sitter
