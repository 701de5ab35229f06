#include "help/help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>

#include "help/commands.hpp"
#include "options/raw_options.hpp"
#include "options/suggestion.hpp"
#include "terminal/format.hpp"
#include "terminal/terminal.hpp"

namespace sitter {
namespace {

constexpr std::size_t kTermColumn = 30;

constexpr char kBeginning[] =
    R"(mcp-sitter keeps an MCP client connected while you rebuild, kill and restart the
MCP server behind it.

Examples:
  mcp-sitter ./build/my-server
  mcp-sitter --watch src --build "cmake --build build" ./build/my-server
  claude mcp add dev -- mcp-sitter ./build/my-server

Usage:
  mcp-sitter [options] [--] COMMAND [ARGUMENTS...]
  mcp-sitter [options] --http URL [-- COMMAND [ARGUMENTS...]]
  mcp-sitter [options] --cli TOOL

Commands (mcp-sitter -- NAME runs a server of that name):
)";

constexpr char kAfterOptions[] = R"(
mcp-sitter help TOPIC explains more, and mcp-sitter help lists the topics.
)";

int print(const std::string& text) { return print_all(text) ? 0 : kFailed; }

int refuse(const std::string& what) {
  fmt::print(stderr, "mcp-sitter {}\n", what);
  return kUsageError;
}

std::string topic_list() {
  std::string text;
  for (const Topic& topic : topics()) text += entry(topic.name, topic.title(), kTermColumn);
  return text;
}

}  // namespace

std::string help_text() {
  std::string text = kBeginning;
  for (const Command& command : commands()) text += entry(command.name, command.about, kTermColumn);
  std::string group;
  for (const OptionRow& option : option_table()) {
    if (option.group != group) text += fmt::format("\n{}:\n", option.group);
    group = option.group;
    text += entry(fmt::format("{} {}", fmt::join(option.names, ", "), option.value), option.about,
                  kTermColumn);
  }
  return text + kAfterOptions;
}

std::string_view Topic::title() const {
  const std::size_t begin = markdown.find("# ") + 2;
  return markdown.substr(begin, markdown.find('\n', begin) - begin);
}

int run_help(const std::vector<std::string>& words) {
  if (words.empty()) return print(help_text() + "\nTopics:\n" + topic_list());
  const std::string& word = words.front();
  if (word == "--man") return print(man_page());
  if (word == "--help" || word == "-h") {
    return print(
        "mcp-sitter help          shows the options and the topics\n"
        "mcp-sitter help TOPIC    explains a topic\n"
        "mcp-sitter help --man    prints the manual page\n\n"
        "Topics:\n" +
        topic_list());
  }
  const auto topic = std::find_if(topics().begin(), topics().end(),
                                  [&](const Topic& each) { return each.name == word; });
  if (topic == topics().end()) {
    if (const Command* const command = find_command({word})) return command->run({"--help"});
    std::vector<std::string> names;
    for (const Topic& each : topics()) names.emplace_back(each.name);
    return refuse(fmt::format("help: there is no topic {}{}; mcp-sitter help lists the topics",
                              shown_value(word), suggestion_text(word, names)));
  }
  return print(page_text(topic->markdown));
}

int run_completion(const std::vector<std::string>& words) {
  std::vector<std::string_view> names;
  for (const Shell& shell : shells()) names.push_back(shell.name);
  if (!words.empty() && (words.front() == "--help" || words.front() == "-h")) {
    std::string text = "Prints a script with which a shell completes the words of mcp-sitter.\n\n";
    for (const Shell& shell : shells()) text += fmt::format("  {}\n", shell.use);
    return print(text);
  }
  const auto shell = std::find_if(shells().begin(), shells().end(), [&](const Shell& each) {
    return !words.empty() && each.name == words.front();
  });
  if (shell == shells().end()) {
    return refuse(fmt::format("completion: name a shell, one of {}", fmt::join(names, ", ")));
  }
  return print(shell->completion());
}

}  // namespace sitter
