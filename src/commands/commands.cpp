#include "commands/commands.hpp"

#include <algorithm>

#include "commands/ctl.hpp"
#include "doctor/doctor.hpp"

namespace sitter {

const std::vector<Command>& commands() {
  static const std::vector<Command> all = {
      {"ctl", "show and control the mcp-sitters that run", run_ctl},
      {"doctor", "examine a server as a client would see it", run_doctor},
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
