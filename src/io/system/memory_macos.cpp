#include "io/system/memory.hpp"

namespace sitter {

// The system's allocator does this by itself.
void give_back_freed_memory() {}

// The system takes code back by itself when memory is short.
void give_back_code() {}

}  // namespace sitter
