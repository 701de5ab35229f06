#include "terminal/hunk.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sitter {
namespace {

using ::testing::ElementsAre;

TEST(HunkTest, SameTextsHaveNone) {
  EXPECT_FALSE(hunk("", "", 3));
  EXPECT_FALSE(hunk("a\nb", "a\nb", 3));
}

TEST(HunkTest, ShowsChangedLinesBetweenTheirNeighbours) {
  const auto changed = hunk("1\n2\n3\n4\n5\n", "1\n2\nx\n4\n5\n", 1);
  ASSERT_TRUE(changed);
  EXPECT_THAT(changed->lines, ElementsAre(" 2\n", "-3\n", "+x\n", " 4\n"));
  EXPECT_EQ(changed->before.begin, 1);
  EXPECT_EQ(changed->before.count, 3);
  EXPECT_EQ(changed->after.begin, 1);
  EXPECT_EQ(changed->after.count, 3);
}

TEST(HunkTest, GoesFromTheFirstChangeToTheLast) {
  EXPECT_THAT(hunk("1\n2\n3\n", "x\n2\ny\n", 0).value().lines,
              ElementsAre("-1\n", "-2\n", "-3\n", "+x\n", "+2\n", "+y\n"));
}

TEST(HunkTest, LinesMayBeAddedOrTakenAwayAtTheEnds) {
  EXPECT_THAT(hunk("", "1\n", 1).value().lines, ElementsAre("+1\n"));
  EXPECT_EQ(hunk("", "1\n", 1).value().before.count, 0);
  EXPECT_THAT(hunk("1\n1\n", "1\n", 1).value().lines, ElementsAre(" 1\n", "-1\n"));
}

TEST(HunkTest, ALastLineWithoutItsEndIsAnotherLine) {
  EXPECT_THAT(hunk("1", "1\n", 1).value().lines, ElementsAre("-1", "+1\n"));
}

}  // namespace
}  // namespace sitter
