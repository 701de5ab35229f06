#include "help/help_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "help/commands.hpp"
#include "options/option_table.hpp"
#include "terminal/format.hpp"

namespace sitter {
namespace {

constexpr std::size_t kOptionColumn = 30;

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

Commands (mcp-sitter -- NAME runs a server of such a name):
)";

constexpr char kAfterOptions[] = R"(
mcp-sitter help TOPIC explains more, and mcp-sitter help lists the topics.
)";

}  // namespace

std::string help_text() {
  std::string text = kBeginning;
  for (const Command& command : commands())
    text += entry(command.name, command.about, kOptionColumn);
  std::string group;
  for (const OptionRow& option : option_table()) {
    if (option.group != group) text += fmt::format("\n{}:\n", option.group);
    group = option.group;
    text += entry(fmt::format("{} {}", fmt::join(option.names, ", "), option.value), option.about,
                  kOptionColumn);
  }
  return text + kAfterOptions;
}

}  // namespace sitter
