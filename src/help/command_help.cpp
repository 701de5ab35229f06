#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "core/base/text.hpp"
#include "help/help.hpp"
#include "options/raw_options.hpp"
#include "terminal/format.hpp"

namespace sitter {
namespace {

constexpr std::size_t kColumn = 24;

std::string paragraph(std::string_view text) {
  return fmt::format("{}\n", fmt::join(wrapped(text, kPageWidth), "\n"));
}

}  // namespace

std::string command_help(const CLI::App& app, std::string_view usage, std::string_view end) {
  std::string text = fmt::format("{}\nUsage:\n{}", paragraph(app.get_description()), usage);
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  if (!commands.empty()) text += "\nCommands:\n";
  for (const CLI::App* const command : commands) {
    text += entry(command->get_name(), command->get_description(), kColumn);
  }
  text += "\nOptions:\n";
  for (const OptionRow& option : option_rows(app)) {
    if (option.names.empty()) continue;
    text += entry(fmt::format("{} {}", fmt::join(option.names, ", "), option.value), option.about,
                  kColumn);
  }
  if (!end.empty()) text += "\n" + paragraph(end);
  return text;
}

std::string wrong_words(const CLI::App& app, const std::vector<std::string>& words,
                        const CLI::ParseError& error) {
  for (const std::string& word : words) {
    if (word == "--") break;
    const std::string name = word.substr(0, word.find('='));
    if (name.size() < 2 || name.front() != '-' || app.get_option_no_throw(name) != nullptr)
      continue;
    return unknown_option(app, name);
  }
  return one_line(complaint_of(error));
}

}  // namespace sitter
