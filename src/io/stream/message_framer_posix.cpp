#include <sys/mman.h>
#include <sys/resource.h>

#include <cstddef>
#include <cstdint>

#include "io/stream/message_framer.hpp"
#include "io/system/posix.hpp"
#include "sitter/bytes.hpp"

namespace sitter {
namespace {

/// The size of a huge page on x86-64, and on arm64 with pages of 4 KiB.
constexpr std::size_t kHugePage = 2 * limits::kMiB;

/// Returns null if there is no memory.
char* map(std::size_t size) {
  void* const mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return mapped == MAP_FAILED ? nullptr : static_cast<char*>(mapped);
}

/// The same for whole huge pages.
char* map_huge(std::size_t size) {
  char* const whole = map(size + kHugePage);
  if (whole == nullptr) return nullptr;
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(whole) % kHugePage;
  char* const bytes = whole + before;
  if (before > 0) munmap(whole, before);
  munmap(bytes + size, kHugePage - before);
  platform::prefer_huge_pages(bytes, size);
  return bytes;
}

/// Addresses without memory cost nothing, unless the user has set a limit to them.
bool are_addresses_free() {
  rlimit limit{};
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
}

char* take(std::size_t size_min, std::size_t most, std::size_t& size) {
  size = (most + kHugePage - 1) / kHugePage * kHugePage;
  char* const bytes = are_addresses_free() ? map_huge(size) : nullptr;
  if (bytes != nullptr) return bytes;
  size = size_min;
  return map(size);
}

void give_back(char* bytes, std::size_t size) { munmap(bytes, size); }

}  // namespace

LineFramer message_framer() {
  return LineFramer(limits::kLineMax, limits::kLineEndKept, LineFramer::Ends::newlines,
                    {has_room, take, give_back});
}

}  // namespace sitter
