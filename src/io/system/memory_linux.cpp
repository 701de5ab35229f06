#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "io/system/memory.hpp"
#include "sitter/bytes.hpp"

// Where the linker has placed the code (ld(1)).
extern "C" const char __executable_start;
extern "C" const char etext;

namespace sitter {

// By default, the C library keeps blocks of up to 32 MiB once it has freed a block of that size. A
// block with its own pages returns to the system whatever was allocated after it; other blocks must
// wait until the blocks after them are free.
void give_back_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, 256 * limits::kKiB);
  mallopt(M_TRIM_THRESHOLD, limits::kMiB);
}

// These pages are never written, so nothing of them is lost (madvise(2)).
void give_back_code() {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(&__executable_start) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(&etext) / page * page;
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace sitter
