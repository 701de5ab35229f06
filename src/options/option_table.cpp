#include "options/option_table.hpp"

#include <CLI/CLI.hpp>

#include "options/raw_options.hpp"

namespace sitter {

std::vector<OptionRow> option_rows(const CLI::App& app) {
  // The parser puts the flags for help and version first.
  std::vector<OptionRow> rows, others;
  for (const CLI::Option* const option : app.get_options()) {
    OptionRow row;
    for (const std::string& name : option->get_snames()) row.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) row.names.push_back("--" + name);
    if (option->get_items_expected_max() > 0) {
      // The parser appends what it checks, behind a colon.
      const std::string type = option->get_type_name();
      row.value = type.substr(0, type.find(':'));
    }
    row.about = option->get_description();
    row.group = option->get_group();
    const bool is_help = option == app.get_help_ptr() || option == app.get_version_ptr();
    (is_help ? others : rows).push_back(std::move(row));
  }
  rows.insert(rows.end(), others.begin(), others.end());
  return rows;
}

std::vector<OptionRow> option_table() {
  CLI::App app;
  RawOptions raw;
  declare_options(app, raw);
  return option_rows(app);
}

}  // namespace sitter
