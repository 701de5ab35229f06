#include "commands/commands.hpp"

#include <algorithm>

#include "commands/ctl.hpp"
#include "demo/demo.hpp"

namespace sitter {

const std::vector<Command>& commands() {
  static const std::vector<Command> all = {
      {"ctl", "show and control the mcp-sitters that run", run_ctl},
      {"demo", "show what mcp-sitter is for, with a small server", run_demo},
  };
  return all;
}

const Command* find_command(const std::vector<std::string>& words) {
  if (words.empty()) return nullptr;
  const auto found = std::find_if(commands().begin(), commands().end(),
                                  [&](const Command& each) { return each.name == words.front(); });
  return found == commands().end() ? nullptr : &*found;
}

}  // namespace sitter
