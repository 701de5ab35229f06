#pragma once

namespace sitter {

/// Makes the C library return the memory of a large message to the system when it is freed. Call it
/// once, before anything large is allocated.
void give_back_freed_memory();

/// Gives back the memory of the program's code. The start needs much of the code once, and what is
/// needed again is mapped again from the system's cache of the file.
void give_back_code();

}  // namespace sitter
