#include "terminal/format.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/base/shell_word.hpp"
#include "core/base/text.hpp"

namespace sitter {
namespace {

using ::testing::ElementsAre;

TEST(Wrap, BreaksAtTheLastSpaceThatFits) {
  EXPECT_THAT(wrapped("one two three", 13), ElementsAre("one two three"));
  EXPECT_THAT(wrapped("one two three", 12), ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped("one two three", 6), ElementsAre("one", "two", "three"));
}

TEST(Wrap, KeepsTheSpacesAtTheBeginningAndDropsThoseAtABreak) {
  EXPECT_THAT(wrapped("  one   two", 6), ElementsAre("  one", "two"));
  EXPECT_THAT(wrapped("one   ", 4), ElementsAre("one"));
}

TEST(Wrap, CutsAWordThatIsTooLong) {
  EXPECT_THAT(wrapped("a 1234567 b", 3), ElementsAre("a", "123", "456", "7 b"));
  EXPECT_THAT(wrapped("  12345", 4), ElementsAre("  12", "345"));
}

TEST(Wrap, CountsCharactersAndCutsNone) {
  EXPECT_EQ(character_count("⚠ ä"), 3);
  EXPECT_THAT(wrapped("⚠⚠⚠⚠⚠", 2), ElementsAre("⚠⚠", "⚠⚠", "⚠"));
}

TEST(Wrap, WithoutALimitTheLineStaysWhole) {
  EXPECT_THAT(wrapped(std::string(500, 'x'), 0), ElementsAre(std::string(500, 'x')));
  EXPECT_THAT(wrapped("", 0), ElementsAre(""));
  EXPECT_THAT(wrapped("", 5), ElementsAre(""));
}

TEST(Columns, AnEntryStandsBesideItsTerm) {
  EXPECT_EQ(entry("--cwd", "the directory", 10), "  --cwd   the directory\n");
}

TEST(Columns, AnEntryStandsBelowATermThatLeavesLessThanTwoBlanks) {
  EXPECT_EQ(entry("123456", "x", 10), "  123456  x\n");
  EXPECT_EQ(entry("1234567", "x", 10), "  1234567\n          x\n");
}

TEST(ShellWordTest, OnlyWhatAShellWouldChangeIsQuoted) {
  EXPECT_EQ(shell_word("a/b-c.d"), "a/b-c.d");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's"), R"('it'\''s')");
}

}  // namespace
}  // namespace sitter
