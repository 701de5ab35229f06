#pragma once

#include <string>
#include <vector>

#include "io/system/file_descriptor.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// The path of a program: as it is if it has a slash, otherwise from PATH. Empty if there is no
/// such program.
std::string find_program(const std::string& name);

/// Starts a program that ends at the latest when the limit has passed, or with this process.
/// Returns the non-blocking end of the pipe that its output comes from; not open if the system
/// refuses, with the reason in errno. `words` begin with the name of the program. It leads a
/// process group, and `pid` gets its number. Whoever handles SIGCHLD reaps it.
FileDescriptor start_short_program(const std::string& program, std::vector<std::string> words,
                                   Milliseconds limit, long* pid = nullptr);

}  // namespace sitter
