#include "io/process/env_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sitter {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> entries(std::string_view text) {
  auto result = parse_env_file(text);
  if (auto* error = std::get_if<EnvFileError>(&result)) return {"error", error->what};
  return std::get<std::vector<std::string>>(std::move(result));
}

TEST(EnvFile, KeepsTheOrderAndSkipsBlankLinesAndComments) {
  EXPECT_THAT(entries("B=2\n\n  # note\n\t\nA=1"), ElementsAre("B=2", "A=1"));
}

TEST(EnvFile, TakesQuotedValuesAsTheyStand) {
  EXPECT_THAT(entries("A=\" x # $HOME \\n \"\nB='say \"yes\"' # note\nC=\"\""),
              ElementsAre("A= x # $HOME \\n ", "B=say \"yes\"", "C="));
}

TEST(EnvFile, TakesWhiteSpaceAndCommentsFromPlainValues) {
  EXPECT_THAT(entries("A =  one two  # note\nB=a#b\nC=\nD=# note\nE=x=y"),
              ElementsAre("A=one two", "B=a#b", "C=", "D=", "E=x=y"));
}

TEST(EnvFile, AcceptsExportCarriageReturnsAndAByteOrderMark) {
  EXPECT_THAT(entries("\xEF\xBB\xBF"
                      "A=1\r\nexport B=2\r\nexported=3\r\n"),
              ElementsAre("A=1", "B=2", "exported=3"));
}

TEST(EnvFile, NamesTheLineThatIsWrong) {
  EXPECT_THAT(entries("A=1\nword\n"),
              ElementsAre("error", "line 2: there is no '=' in it (expected NAME=VALUE)"));
  EXPECT_THAT(entries("=1"), ElementsAre("error", "line 1: there is no valid name before the '='"));
  EXPECT_THAT(entries("a b=1"),
              ElementsAre("error", "line 1: there is no valid name before the '='"));
  EXPECT_THAT(entries("A='x"), ElementsAre("error", "line 1: the quote is not closed"));
  EXPECT_THAT(entries("A='x' y"),
              ElementsAre("error", "line 1: there is text after the closing quote"));
  EXPECT_THAT(entries(std::string_view("A=\0", 3)),
              ElementsAre("error", "line 1: there is a NUL byte in it"));
}

}  // namespace
}  // namespace sitter
