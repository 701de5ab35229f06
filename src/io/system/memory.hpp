#pragma once

namespace sitter {

/// Makes the C library return the memory of a large message to the system when it is freed. Call it
/// once, before anything large is allocated.
void give_back_freed_memory();

}  // namespace sitter
