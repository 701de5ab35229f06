#include <malloc.h>

#include "io/stream/memory.hpp"
#include "sitter/limits.hpp"

namespace sitter {

// Left alone, the C library keeps blocks of up to 32 MiB once it has seen one of that size freed. A
// block with pages of its own goes back whatever was allocated behind it; the others wait for that.
void give_back_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, 256 * limits::kKiB);
  mallopt(M_TRIM_THRESHOLD, limits::kMiB);
}

}  // namespace sitter
