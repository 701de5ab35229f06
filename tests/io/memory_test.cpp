#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "io/system/platform.hpp"

namespace sitter {
namespace {

/// The resident kilobytes of all code that is mapped from files (proc(5), smaps).
long resident_code() {
  std::ifstream maps("/proc/self/smaps");
  long sum = 0;
  bool is_code = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find(" r-xp ") != line.npos) is_code = line.find('/') != line.npos;
    if (line.find(" r--p ") != line.npos || line.find(" rw-p ") != line.npos) is_code = false;
    if (is_code && line.starts_with("Rss:")) sum += std::atol(line.c_str() + 4);
  }
  return sum;
}

TEST(MemoryTest, ReleasesUnusedCodePages) {
  const long before = resident_code();
  platform::give_back_code();
  EXPECT_LT(resident_code(), before);
}

}  // namespace
}  // namespace sitter
