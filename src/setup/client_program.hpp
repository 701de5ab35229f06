#pragma once

#include <chrono>
#include <string>

#include "setup/server_entry.hpp"

namespace sitter::setup {

/// The first executable file of this name in PATH, or an empty text.
std::string program_in_path(const std::string& name);

/// Runs a program of a client without input, and waits for it. Throws Failure with its last words
/// if it fails.
void run_program(const Words& words);

/// Runs a build tool from PATH in a folder without input, and returns what it writes to stdout. It
/// may not download anything, and what it has started ends with it. Throws Failure if there is no
/// such program, if it fails, or if it is killed because it has not ended in time or writes too
/// much.
std::string output_of(const Words& words, const std::string& folder,
                      std::chrono::milliseconds time);

}  // namespace sitter::setup
