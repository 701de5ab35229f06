#include "help/commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "core/base/text.hpp"
#include "help/help.hpp"
#include "options/suggestion.hpp"
#include "setup/clients.hpp"

namespace sitter {
namespace {

template <class Named>
std::string names_of(const std::vector<Named>& all) {
  std::string names;
  for (const Named& each : all) {
    if (!names.empty()) names += ' ';
    names += each.name;
  }
  return names;
}

/// Commands that other programs have, and what does the same here.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kOtherWords = {{
    {"version", "mcp-sitter --version"},
    {"init", "mcp-sitter setup"},
    {"install", "mcp-sitter setup"},
    {"check", "mcp-sitter doctor"},
    {"list", "mcp-sitter ctl list"},
    {"status", "mcp-sitter ctl status"},
    {"reload", "mcp-sitter ctl reload"},
    {"kill", "mcp-sitter ctl kill"},
    {"stderr", "mcp-sitter ctl stderr"},
}};

constexpr Command kCommands[] = {
    {"setup", "put mcp-sitter in front of a server that a client has registered, or register one",
     [] {
       return names_of(setup::clients()) +
              " --wrap --undo --scope --build --no-build --watch --no-watch --always-load "
              "--dry-run";
     },
     run_setup},
    {"doctor", "try a server out, and say what a client would stumble over",
     [] { return std::string(); }, run_doctor},
    {"demo", "show in 45 seconds what mcp-sitter is for",
     [] { return std::string("--fast --no-fast --color --no-color"); }, run_demo},
    {"ctl", "show and control the mcp-sitters that run",
     [] {
       return std::string(
           "list status reload kill stderr --json --cwd --mode --lines --grep --follow");
     },
     run_ctl},
    {"help", "explain a topic, as in mcp-sitter help watching", [] { return names_of(topics()); },
     run_help},
    {"completion", "print a script that completes these words in a shell",
     [] { return names_of(shells()); }, run_completion},
};

}  // namespace

std::span<const Command> commands() { return kCommands; }

const Command* find_command(const std::vector<std::string>& words) {
  if (words.empty()) return nullptr;
  const auto* const found =
      std::find_if(std::begin(kCommands), std::end(kCommands),
                   [&](const Command& each) { return each.name == words.front(); });
  return found == std::end(kCommands) ? nullptr : found;
}

std::optional<std::string> meant_command(std::string_view word) {
  std::vector<std::string> names;
  for (const Command& command : commands()) names.emplace_back(command.name);
  for (const auto& [name, meant] : kOtherWords) names.emplace_back(name);
  const auto nearest = suggestion(word, names);
  if (!nearest) return std::nullopt;
  const auto other = std::find_if(kOtherWords.begin(), kOtherWords.end(),
                                  [&](const auto& pair) { return pair.first == *nearest; });
  const std::string meant =
      other == kOtherWords.end() ? "mcp-sitter " + *nearest : std::string(other->second);
  const std::string shown = brief(word, kWordShownMax);
  return fmt::format(
      "there is no command and no program {}; did you mean {}? (mcp-sitter -- {} runs a server of "
      "this name, even if it is not built yet)",
      shown, meant, shown);
}

}  // namespace sitter
