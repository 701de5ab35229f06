#include "terminal/columns.hpp"

#include <gtest/gtest.h>

namespace sitter {
namespace {

TEST(Columns, AnEntryStandsBesideItsTerm) {
  EXPECT_EQ(entry("--cwd", "the directory", 10), "  --cwd   the directory\n");
}

TEST(Columns, AnEntryStandsBelowATermThatLeavesLessThanTwoBlanks) {
  EXPECT_EQ(entry("123456", "x", 10), "  123456  x\n");
  EXPECT_EQ(entry("1234567", "x", 10), "  1234567\n          x\n");
}

}  // namespace
}  // namespace sitter
