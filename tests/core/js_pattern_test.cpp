#include "core/schema/js_pattern.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace sitter {
namespace {

using ::testing::HasSubstr;

TEST(JsPatternTest, APatternOfJavaScriptHasNoDefect) {
  for (const std::string pattern : {"",
                                    "^a.b$",
                                    "a|b|",
                                    "(a)(?:b)(?<c>d)\\1\\k<c>",
                                    "(?=a)(?!b)(?<=c)(?<!d)",
                                    "a*b+?c??d{2}",
                                    "a{2,}b{2,3}?",
                                    "[a-z\\d_-]",
                                    "[^]",
                                    "[]",
                                    "[\\-\\]^]",
                                    "[\\b]",
                                    "\\d\\D\\w\\s\\b\\B",
                                    "\\x41\\u0041\\u{1F600}\\cA\\0\\t",
                                    "\\p{L}\\P{Script=Greek}",
                                    "\\.\\/\\{\\}",
                                    "é[à-ü]",
                                    "(?i:a)",
                                    "[a-\\x7a]",
                                    "[\\uD83D\\uDE00-\\uD83D\\uDE4F]",
                                    "(?<\\u0061>x)\\k<a>"}) {
    EXPECT_EQ(js_pattern_defect(pattern), "") << pattern;
  }
}

TEST(JsPatternTest, WhatJavaScriptDoesNotReadIsNamed) {
  const std::pair<std::string, std::string> cases[] = {
      {"(?P<x>a)", "a group that begins with (?P"},
      {"(?i)a", "a group that begins with (?i"},
      {"a\\Z", "the escape \\Z"},
      {"\\-", "the escape \\-"},
      {"\\é", "the escape \\"},
      {"*a", "a * without anything before it"},
      {"a**", "a * without anything before it"},
      {"(?=a)*", "a * without anything before it"},
      {"a{2", "a { that begins no {n,m}"},
      {"a{b}", "a { that begins no {n,m}"},
      {"{2}", "a { without anything before it"},
      {"a{3,2}", "repeats {3,2}, which is out of order"},
      {"a}", "a } that must be written as \\}"},
      {"a]", "a ] that must be written as \\]"},
      {"(a", "a group that does not end"},
      {"a)", "a ) too many"},
      {"[a", "a [ that does not end"},
      {"[", "a [ that does not end"},
      {"[z-a]", "a range in [] that is out of order"},
      {"[\\w-z]", "a range in [] that begins or ends with a class"},
      {"[\\B]", "the escape \\B"},
      {"\\", "ends with a backslash"},
      {"\\2(a)", "refers to group 2"},
      {"\\k<b>", "refers to a group b"},
      {"(?<1>a)", "a group without a valid name"},
      {"(?<a>x)(?<a>y)", "two groups with the name a"},
      {"[\\uDE4F-\\uD83D]", "a range in [] that is out of order"},
      {"\\p", "a \\p without {}"},
      {"\\x4", "a \\x without a number"},
      {"\\u{110000}", "a \\u without a number"},
  };
  for (const auto& [pattern, words] : cases) {
    EXPECT_THAT(js_pattern_defect(pattern), HasSubstr(words)) << pattern;
  }
}

}  // namespace
}  // namespace sitter
