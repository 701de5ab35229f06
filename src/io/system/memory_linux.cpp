#include <malloc.h>

#include "io/system/memory.hpp"
#include "sitter/limits.hpp"

namespace sitter {

// By default, the C library keeps blocks of up to 32 MiB once it has freed a block of that size. A
// block with its own pages returns to the system whatever was allocated after it; other blocks must
// wait until the blocks after them are free.
void give_back_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, 256 * limits::kKiB);
  mallopt(M_TRIM_THRESHOLD, limits::kMiB);
}

}  // namespace sitter
