#pragma once

#include <string>

#include "setup/server_entry.hpp"

namespace sitter::setup {

/// The words that run `program`, which is this program, from a client: its name if PATH leads to
/// it, `npx` if it is in a cache of npx, which may be emptied, or else its path.
Words own_command(const std::string& program);

/// The first executable file of this name in PATH, or an empty text.
std::string program_in_path(const std::string& name);

}  // namespace sitter::setup
