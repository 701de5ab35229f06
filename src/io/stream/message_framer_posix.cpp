#include <sys/mman.h>
#include <sys/resource.h>

#include <cstddef>
#include <cstdint>

#include "io/stream/message_framer.hpp"
#include "io/system/platform.hpp"
#include "sitter/bytes.hpp"

namespace sitter {
namespace {

/// The size of a huge page on x86-64, and on arm64 with pages of 4 KiB.
constexpr std::size_t kHugePage = 2 * limits::kMiB;

/// The addresses begin at a huge page.
char* map(std::size_t size) {
  void* const mapped = mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char* const whole = static_cast<char*>(mapped);
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
  const auto in_huge_pages = [](std::size_t bytes) {
    return (bytes + kHugePage - 1) / kHugePage * kHugePage;
  };
  char* bytes = nullptr;
  if (are_addresses_free()) bytes = map(size = in_huge_pages(most));
  if (bytes == nullptr) bytes = map(size = in_huge_pages(size_min));
  return bytes;
}

void give_back(char* bytes, std::size_t size) { munmap(bytes, size); }

}  // namespace

LineFramer message_framer() {
  return LineFramer(limits::kLineMax, limits::kLineEndKept, LineFramer::Ends::newlines,
                    {has_room, take, give_back});
}

}  // namespace sitter
