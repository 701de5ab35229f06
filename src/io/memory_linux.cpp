#include <malloc.h>

#include "sitter/core/limits.hpp"
#include "sitter/io/memory.hpp"

namespace sitter {

// Left alone, the C library keeps blocks of up to 32 MiB once it has seen one of that size freed.
void give_back_freed_memory() {
  constexpr int kLarge = limits::kMiB;
  mallopt(M_MMAP_THRESHOLD, kLarge);
  mallopt(M_TRIM_THRESHOLD, kLarge);
}

}  // namespace sitter
