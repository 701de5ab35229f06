#include <gtest/gtest.h>

#include <string>

#include "core/base/glob.hpp"
#include "core/base/line_pattern.hpp"

namespace sitter {
namespace {

bool matches(std::string_view pattern, std::string_view path, bool is_folder = false) {
  return Glob(pattern).matches(path, is_folder);
}

TEST(Glob, AStarStopsAtASlash) {
  EXPECT_TRUE(matches("/*.c", "a.c"));
  EXPECT_TRUE(matches("/*.c", ".c"));
  EXPECT_FALSE(matches("/*.c", "src/a.c"));
  EXPECT_FALSE(matches("/*.c", "a.cc"));
}

TEST(Glob, AQuestionMarkIsOneCharacterAndNoSlash) {
  EXPECT_TRUE(matches("/a?c", "abc"));
  EXPECT_FALSE(matches("/a?c", "a/c"));
  EXPECT_FALSE(matches("/a?c", "ac"));
}

TEST(Glob, ANameWithoutASlashIsMeantAtAnyDepth) {
  EXPECT_TRUE(matches("*.c", "a.c"));
  EXPECT_TRUE(matches("*.c", "src/lib/a.c"));
  EXPECT_FALSE(matches("b.c", "src/ab.c"));
}

TEST(Glob, ASlashInFrontOrInTheMiddleCountsFromTheFolder) {
  EXPECT_TRUE(matches("src/a.c", "src/a.c"));
  EXPECT_FALSE(matches("src/a.c", "lib/src/a.c"));
  EXPECT_TRUE(matches("/a.c", "a.c"));
  EXPECT_FALSE(matches("/a.c", "src/a.c"));
}

TEST(Glob, ASlashAtTheEndMeansFoldersOnly) {
  EXPECT_TRUE(matches("out/", "lib/out", true));
  EXPECT_FALSE(matches("out/", "lib/out", false));
}

TEST(Glob, TwoStarsAreAnyNumberOfFolders) {
  EXPECT_TRUE(matches("**/a.c", "a.c"));
  EXPECT_TRUE(matches("**/a.c", "x/y/a.c"));
  EXPECT_TRUE(matches("src/**/a.c", "src/a.c"));
  EXPECT_TRUE(matches("src/**/a.c", "src/x/y/a.c"));
  EXPECT_FALSE(matches("src/**/a.c", "srca.c"));
  EXPECT_TRUE(matches("src/**", "src/x/y"));
  EXPECT_FALSE(matches("src/**", "src"));
}

TEST(Glob, TwoStarsInANameAreOne) {
  EXPECT_TRUE(matches("/a**c", "abbc"));
  EXPECT_FALSE(matches("/a**c", "ab/bc"));
}

TEST(Glob, BracketsAreOneCharacter) {
  EXPECT_TRUE(matches("[a-c]x", "bx"));
  EXPECT_FALSE(matches("[a-c]x", "dx"));
  EXPECT_TRUE(matches("[!a-c]x", "dx"));
  EXPECT_FALSE(matches("[!a-c]x", "ax"));
  EXPECT_TRUE(matches("[]]x", "]x"));
  EXPECT_TRUE(matches("[a-]x", "-x"));
  EXPECT_TRUE(matches("[[:digit:]]x", "7x"));
  EXPECT_TRUE(matches("[\\]]x", "]x"));
}

TEST(Glob, BracketsThatMakeNoSenseMatchNothing) {
  EXPECT_FALSE(matches("[ab", "a"));
  EXPECT_FALSE(matches("[ab", "[ab"));
  EXPECT_FALSE(matches("[z-a]", "b"));
}

TEST(Glob, ABackslashTakesTheNextCharacterAsItIs) {
  EXPECT_TRUE(matches("\\*.c", "*.c"));
  EXPECT_FALSE(matches("\\*.c", "a.c"));
}

TEST(Glob, BytesThatAreNoTextAreCharacters) {
  EXPECT_TRUE(matches("a?b",
                      "a\xff"
                      "b"));
  EXPECT_TRUE(matches("a*", "a\n\xc3"));
}

TEST(IgnoreRules, TheLastLineThatMatchesDecides) {
  const IgnoreRules rules("*.log\n!keep.log\n");
  EXPECT_EQ(rules.ignores("a.log", false), true);
  EXPECT_EQ(rules.ignores("keep.log", false), false);
  EXPECT_EQ(rules.ignores("a.c", false), std::nullopt);
}

TEST(IgnoreRules, CommentsAndEmptyLinesSayNothing) {
  const IgnoreRules rules("# *.c\n\n   \n\\#x\n\\!y\n");
  EXPECT_EQ(rules.ignores("a.c", false), std::nullopt);
  EXPECT_EQ(rules.ignores("# a.c", false), std::nullopt);
  EXPECT_EQ(rules.ignores("#x", false), true);
  EXPECT_EQ(rules.ignores("!y", false), true);
}

TEST(IgnoreRules, BlanksAtTheEndDoNotCountUnlessTakenAsTheyAre) {
  const IgnoreRules rules("a  \r\nb\\ \n");
  EXPECT_EQ(rules.ignores("a", false), true);
  EXPECT_EQ(rules.ignores("b ", false), true);
  EXPECT_EQ(rules.ignores("b", false), std::nullopt);
}

TEST(IgnoreRules, TheLastLineNeedsNoEnd) {
  EXPECT_EQ(IgnoreRules("a").ignores("x/a", false), true);
}

TEST(IgnoreRules, AByteOrderMarkIsNoPartOfTheFirstLine) {
  EXPECT_EQ(IgnoreRules("\xef\xbb\xbf"
                        "a\n")
                .ignores("a", false),
            true);
}

TEST(LinePatternTest, AnEmptyOneMatchesEveryLine) {
  EXPECT_TRUE(LinePattern("").matches(""));
  EXPECT_TRUE(LinePattern("").matches("a line"));
}

TEST(LinePatternTest, ItMatchesAnywhereInALine) {
  const LinePattern pattern("err(or)?:");
  EXPECT_TRUE(pattern.matches("a.c:1: error: no"));
  EXPECT_FALSE(pattern.matches("a.c:1: warning: no"));
}

TEST(LinePatternTest, AWrongOneIsNamedAndMatchesNothing) {
  const LinePattern pattern("(one");
  EXPECT_EQ(pattern.complaint(), "is not a valid RE2 pattern: missing ): (one");
  EXPECT_FALSE(pattern.matches("(one"));
}

TEST(LinePatternTest, APatternThatWouldNeedMuchMemoryIsRefused) {
  EXPECT_NE(LinePattern(R"([\pL\pN]{1000})").complaint(), "");
}

TEST(LinePatternTest, APatternThatOtherMatchersBacktrackOnIsQuick) {
  EXPECT_FALSE(LinePattern("^(a+)+$").matches(std::string(8000, 'a') + "b"));
}

}  // namespace
}  // namespace sitter
