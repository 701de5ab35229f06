#include "core/base/line_pattern.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sitter {
namespace {

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
