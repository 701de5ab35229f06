#pragma once

namespace sitter {

/// Sees to it that the memory of a large message goes back to the system when it is freed. To be
/// called once, before anything large is allocated.
void give_back_freed_memory();

}  // namespace sitter
