#include "soak/findings.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace sitter::soak {
namespace {

constexpr std::size_t kCasesShown = 10;

constexpr std::array<const char*, kPromiseCount> kWords = {
    "requests lost",
    "requests answered twice",
    "answers or progress mixed up",
    "calls run twice",
    "calls that ran although the client was told that they did not",
    "processes left",
    "files left",
    "unexpected exits of the bridge or of ctl",
    "times that memory grew",
};

}  // namespace

void Findings::add(Promise promise, std::string what) {
  Broken& broken = of(promise);
  if (++broken.count <= kCasesShown) broken.cases.push_back(std::move(what));
}

void Findings::pass_over(Promise promise) { of(promise).is_passed_over = true; }

bool Findings::is_empty() const {
  return std::all_of(broken_.begin(), broken_.end(),
                     [](const Broken& broken) { return broken.count == 0; });
}

void Findings::print() const {
  std::size_t passed = 0, failed = 0;
  for (std::size_t i = 0; i < kPromiseCount; ++i) {
    const Broken& broken = broken_[i];
    if (broken.is_passed_over) {
      std::printf("--     %s: not counted, since the sessions were too short\n", kWords[i]);
      continue;
    }
    ++(broken.count == 0 ? passed : failed);
    std::printf("%s %zu %s\n", broken.count == 0 ? "ok    " : "BROKEN", broken.count, kWords[i]);
    for (const std::string& what : broken.cases) std::printf("         %s\n", what.c_str());
  }
  std::printf("%zu passed, %zu failed\n", passed, failed);
}

}  // namespace sitter::soak
