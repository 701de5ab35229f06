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

/// Runs a program from PATH in a folder without input, and returns what it writes to stdout. Throws
/// Failure if there is no such program, if it fails, or if it has not ended in time: then it is
/// killed together with what it has started.
std::string output_of(const Words& words, const std::string& folder,
                      std::chrono::milliseconds time);

}  // namespace sitter::setup
