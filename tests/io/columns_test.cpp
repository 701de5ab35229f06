#include "help/columns.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Columns, ALineHoldsWholeWordsUpToTheWidth) {
  EXPECT_THAT(wrapped("aa bb  cc\ndd", 5), ElementsAre("aa bb", "cc dd"));
  EXPECT_THAT(wrapped("aa bb", 4), ElementsAre("aa", "bb"));
  EXPECT_THAT(wrapped(" ", 4), IsEmpty());
}

TEST(Columns, ALongWordHasALineOfItsOwn) {
  EXPECT_THAT(wrapped("a bcdefg h", 4), ElementsAre("a", "bcdefg", "h"));
}

TEST(Columns, CharactersCountAndNotBytes) {
  EXPECT_THAT(wrapped("éé éé", 5), ElementsAre("éé éé"));
}

TEST(Columns, AnEntryStandsBesideItsTerm) {
  EXPECT_EQ(entry("--cwd", "the directory", 10), "  --cwd   the directory\n");
}

TEST(Columns, AnEntryStandsBelowATermThatLeavesLessThanTwoBlanks) {
  EXPECT_EQ(entry("123456", "x", 10), "  123456  x\n");
  EXPECT_EQ(entry("1234567", "x", 10), "  1234567\n          x\n");
}

}  // namespace
}  // namespace sitter
