#include <cstdint>
#include <cstdlib>

#include "io/system/windows.hpp"

// These come after windows.h.
#include <ntsecapi.h>

// What the compiler compares at the end of a function (-fstack-protector). The library of the
// compiler would also define it, but opens a provider of keys for a random number, which loads so
// many libraries that a start takes a quarter longer.
extern "C" {
std::uintptr_t __stack_chk_guard = 0;
[[noreturn]] void __stack_chk_fail() { std::abort(); }
}

namespace {

/// Before other constructors run. The value changes, so this function cannot have a guard itself.
[[gnu::constructor(101), gnu::no_stack_protector]] void set_stack_guard() {
  RtlGenRandom(&__stack_chk_guard, sizeof __stack_chk_guard);
}

}  // namespace
