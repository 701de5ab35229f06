#pragma once

#include <string>

#include "setup/server_entry.hpp"

namespace sitter::setup {

/// The first executable file of this name in PATH, or an empty text.
std::string program_in_path(const std::string& name);

/// Runs a program of a client without input, and waits for it. Throws Failure with its last words
/// if it fails.
void run_program(const Words& words);

}  // namespace sitter::setup
