#include "io/system/memory.hpp"

namespace sitter {

// The system's allocator does this by itself.
void give_back_freed_memory() {}

}  // namespace sitter
