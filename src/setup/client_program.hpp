#pragma once

#include <string>

#include "setup/server_entry.hpp"

namespace sitter::setup {

/// Runs a program of a client without input, and waits for it. Throws Failure with its last words
/// if it fails.
void run_program(const Words& words);

}  // namespace sitter::setup
