#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "io/system/posix.hpp"

namespace sitter {
namespace {

/// The resident kilobytes of all that is mapped from files with these permissions (proc(5), smaps).
long resident(const std::string& permissions) {
  std::ifstream maps("/proc/self/smaps");
  long sum = 0;
  bool counts = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("-") < line.find(' ')) {
      counts = line.find(' ' + permissions + ' ') != line.npos && line.find('/') != line.npos;
    }
    if (counts && line.starts_with("Rss:")) sum += std::atol(line.c_str() + 4);
  }
  return sum;
}

TEST(MemoryTest, ReleasesUnusedCodeAndConstants) {
  const long code = resident("r-xp");
  const long constants = resident("r--p");
  platform::give_back_program();
  EXPECT_LT(resident("r-xp"), code);
  EXPECT_LT(resident("r--p"), constants);
}

}  // namespace
}  // namespace sitter
