#pragma once

#include <string>
#include <vector>

/// What differs between systems, for code that runs on all of them.
namespace sitter::platform {

/// Makes this process the parent of descendants whose parents end. False if the system does not
/// support this; then only processes of the child's session and their descendants belong to a
/// child.
bool become_subreaper();

/// The command that prints the addresses of the host whose name is its last word.
std::vector<std::string> lookup_command();

long own_pid();

/// Whether there is a process of this number that this user may end.
bool has_own_process(long pid);

/// The absolute path of the program that runs in this process.
std::string own_program();

/// Makes the C library return the memory of a large message to the system when it is freed. Call it
/// once, before anything large is allocated.
void give_back_freed_memory();

/// Gives back the memory of the program's code and constants. The start needs much of them once,
/// and what is needed again is mapped again from the system's cache of the file.
void give_back_program();

}  // namespace sitter::platform
