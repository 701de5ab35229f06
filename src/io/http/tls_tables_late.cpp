#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "io/http/tls_tables.hpp"

// The linker calls `__wrap_x` in place of `x`, and knows `x` as `__real_x` (ld(1)). All other names
// here are hidden, because the address of one that is not would have to be relocated itself.
#pragma GCC visibility push(hidden)
extern "C" {
extern const char __ehdr_start;
// See tls_tables.ld.
extern char sitter_tls_tables_begin;
extern char sitter_tls_tables_end;
void __real__dl_relocate_static_pie();
void __wrap__dl_relocate_static_pie();
void __real_OPENSSL_cpuid_setup();
void __wrap_OPENSSL_cpuid_setup();
}
extern ElfW(Dyn) _DYNAMIC[];
#pragma GCC visibility pop

namespace sitter {
namespace {

/// A word is an address, which is even, or marks some of the 63 words behind what the word before
/// it was about: each bit but the lowest stands for one.
using Word = std::uintptr_t;
constexpr std::size_t kMarks = 8 * sizeof(Word) - 1;

struct Relocations {
  const Word* begin = nullptr;
  const Word* end = nullptr;
};

/// Those of the tables.
Relocations late;

bool are_ready() { return late.begin == late.end; }

std::uintptr_t base() { return reinterpret_cast<std::uintptr_t>(&__ehdr_start); }

/// Those at the beginning that are about places before `place`.
Relocations before(const char& place, Relocations all) {
  const std::uintptr_t limit = reinterpret_cast<std::uintptr_t>(&place) - base();
  const Word* end = all.begin;
  while (end != all.end && (*end % 2 == 1 || *end < limit)) ++end;
  return {all.begin, end};
}

void relocate(Relocations words) {
  std::uintptr_t* place = nullptr;
  for (const Word* word = words.begin; word != words.end; ++word) {
    if (*word % 2 == 0) {
      place = reinterpret_cast<std::uintptr_t*>(base() + *word);
      *place++ += base();
      continue;
    }
    for (std::size_t i = 0; i < kMarks; ++i) {
      if ((*word >> (i + 1)) % 2 == 1) place[i] += base();
    }
    place += kMarks;
  }
}

/// Leaves out what is about the tables when the start code of glibc relocates the program. Before
/// that, only hidden names can be used, and no canary of the stack.
void relocate_program() {
  ElfW(Dyn)* begin = nullptr;
  ElfW(Dyn)* size = nullptr;
  for (ElfW(Dyn)* entry = _DYNAMIC; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_RELR) begin = entry;
    if (entry->d_tag == DT_RELRSZ) size = entry;
  }
  if (begin == nullptr || size == nullptr) return;
  const Word* const all = reinterpret_cast<const Word*>(base() + begin->d_un.d_ptr);
  const Word* const end = all + size->d_un.d_val / sizeof(Word);
  const Relocations first = before(sitter_tls_tables_begin, {all, end});
  late = before(sitter_tls_tables_end, {first.end, end});
  relocate(first);
  begin->d_un.d_ptr = reinterpret_cast<std::uintptr_t>(late.end) - base();
  size->d_un.d_val = static_cast<std::size_t>(end - late.end) * sizeof(Word);
}

}  // namespace

bool ready_tls_tables() {
  if (are_ready()) return true;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  char* const begin =
      &sitter_tls_tables_begin - reinterpret_cast<std::uintptr_t>(&sitter_tls_tables_begin) % page;
  const auto size = static_cast<std::size_t>(&sitter_tls_tables_end - begin);
  if (mprotect(begin, size, PROT_READ | PROT_WRITE) != 0) return false;
  relocate(std::exchange(late, {}));
  return mprotect(begin, size, PROT_READ) == 0;
}

}  // namespace sitter

void __wrap__dl_relocate_static_pie() {
  sitter::relocate_program();
  __real__dl_relocate_static_pie();
}

/// OpenSSL looks at the processor when the program starts, and again when it is first used. A
/// virtual machine has to be left for each question, so only the second look is taken.
void __wrap_OPENSSL_cpuid_setup() {
  if (sitter::are_ready()) __real_OPENSSL_cpuid_setup();
}
