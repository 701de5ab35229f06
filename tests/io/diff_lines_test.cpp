#include "demo/diff_lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(DiffLines, EqualTextsDiffInNothing) {
  EXPECT_THAT(diff_lines("a\nb\n", "a\nb\n"), IsEmpty());
  EXPECT_THAT(diff_lines("", ""), IsEmpty());
}

TEST(DiffLines, AChangedLineIsShownBetweenItsNeighbours) {
  EXPECT_THAT(diff_lines("a\nb\nc\nd\ne\n", "a\nb\nC\nd\ne\n"),
              ElementsAre(" b", "-c", "+C", " d"));
}

TEST(DiffLines, ALineIsAddedOrRemovedAtAnyPlace) {
  EXPECT_THAT(diff_lines("a\n", "x\na\n"), ElementsAre("+x", " a"));
  EXPECT_THAT(diff_lines("a\n", "a\nx\n"), ElementsAre(" a", "+x"));
  EXPECT_THAT(diff_lines("a\nb\n", "b\n"), ElementsAre("-a", " b"));
  EXPECT_THAT(diff_lines("", "x\n"), ElementsAre("+x"));
}

TEST(DiffLines, GroupsThatDoNotTouchAreSetApart) {
  EXPECT_THAT(diff_lines("a\nb\nc\nd\n", "A\nb\nc\nD\n"),
              ElementsAre("-a", "+A", " b", " c", "-d", "+D"));
  EXPECT_THAT(diff_lines("a\nb\nc\nd\ne\n", "A\nb\nc\nd\nE\n"),
              ElementsAre("-a", "+A", " b", "@@", " d", "-e", "+E"));
}

}  // namespace
}  // namespace sitter
