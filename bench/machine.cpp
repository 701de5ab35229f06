#include "machine.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include "program.hpp"
#include "run.hpp"

namespace sitter::bench {
namespace {

constexpr int kTries = 9;
/// More than the second cache of any core; a third one may be as large, but many cores share it.
constexpr std::size_t kLarge = std::size_t{128} << 20;
/// As much as one read of a pipe gets by default.
constexpr std::size_t kCached = std::size_t{64} << 10;

std::string lscpu() {
  std::string text;
  FILE* const output = popen("LC_ALL=C lscpu 2>/dev/null", "r");
  if (output == nullptr) return text;
  char buffer[4096];
  while (const std::size_t count = fread(buffer, 1, sizeof buffer, output)) {
    text.append(buffer, count);
  }
  pclose(output);
  return text;
}

/// The value of this line, or what stands for none.
std::string value_of(std::string_view text, std::string_view name, std::string_view none) {
  const std::size_t at = text.find(fmt::format("\n{}:", name));
  if (at == text.npos) return std::string(none);
  const std::size_t begin = text.find_first_not_of(' ', at + name.size() + 2);
  return std::string(text.substr(begin, text.find('\n', begin) - begin));
}

/// `undo` takes no part of the time.
template <class Work, class Undo>
Micros median_time(Work work, Undo undo) {
  std::vector<double> times;
  for (int i = 0; i < kTries; ++i) {
    const auto begin = Clock::now();
    work();
    times.push_back(Micros(Clock::now() - begin).count());
    undo();
  }
  return Micros(median(times));
}

/// The bytes of the copy, not those that were read and written for it.
double gigabytes_per_second(std::size_t size) {
  const std::vector<char> from(size, 'x');
  std::vector<char> to(size);
  const auto copy = [&] {
    for (std::size_t copied = 0; copied < kLarge; copied += size) {
      std::memcpy(to.data(), from.data(), size);
      // Otherwise the compiler leaves out all copies but the last.
      asm volatile("" : : "r"(to.data()) : "memory");
    }
  };
  return double{kLarge} / median_time(copy, [] {}).count() / 1000;
}

Micros page_fault() {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* memory = nullptr;
  const auto touch = [&] {
    memory = mmap(nullptr, kLarge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) die("there is no memory");
    // One fault would bring 2 MB where the system is set up like this.
    madvise(memory, kLarge, MADV_NOHUGEPAGE);
    for (std::size_t at = 0; at < kLarge; at += page) static_cast<volatile char*>(memory)[at] = 'x';
  };
  return median_time(touch, [&] { munmap(memory, kLarge); }) / (kLarge / page);
}

}  // namespace

std::string machine() {
  const std::string text = "\n" + lscpu();
  utsname system{};
  uname(&system);
  return fmt::format("{}, {} cores, {} {}, hypervisor: {}",
                     value_of(text, "Model name", system.machine), value_of(text, "CPU(s)", "?"),
                     system.sysname, system.release,
                     value_of(text, "Hypervisor vendor", "none known"));
}

std::string speed_of_core() {
  return fmt::format(
      "copies 64 KiB with {:.1f} GB/s and 128 MiB with {:.1f} GB/s, page fault {:.2f} us",
      gigabytes_per_second(kCached), gigabytes_per_second(kLarge), page_fault().count());
}

}  // namespace sitter::bench
