#include "core/base/json_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string nested(std::size_t depth, std::string_view inside = "") {
  return std::string(depth, '[') + std::string(inside) + std::string(depth, ']');
}

TEST(JsonElementsTest, AreRaw) {
  EXPECT_THAT(json_elements(R"json( [ 1.0 , "a,]\"" ,{"b" : [2 , 3]}, [] , null ] )json"),
              ElementsAre("1.0", R"json("a,]\"")json", R"json({"b" : [2 , 3]})json", "[]", "null"));
  EXPECT_THAT(json_elements("[]"), IsEmpty());
  EXPECT_THAT(json_elements(" [ ] "), IsEmpty());
}

TEST(JsonElementsTest, OfTextThatIsNoArrayThereAreNone) {
  for (const char* raw : {"", "1", "{}", "null", "[", "[\"", "[{"}) {
    EXPECT_THAT(json_elements(raw), IsEmpty()) << raw;
  }
  EXPECT_THAT(json_elements("[1,[2"), ElementsAre("1"));
}

TEST(JsonElementsTest, DepthDoesNotMatter) {
  const std::string deep = nested(100'000);
  EXPECT_THAT(json_elements("[" + deep + "]"), ElementsAre(deep));
}

TEST(JsonMembersTest, HaveDecodedKeysAndRawValues) {
  const auto members = json_members(R"json({ "\u0061" : 1.0, "":{} ,"b\"":"\u00fc"})json");
  ASSERT_EQ(members.size(), 3u);
  EXPECT_EQ(members[0].key, "a");
  EXPECT_EQ(members[0].value, "1.0");
  EXPECT_EQ(members[1].key, "");
  EXPECT_EQ(members[1].value, "{}");
  EXPECT_EQ(members[2].key, "b\"");
  EXPECT_EQ(members[2].value, R"json("\u00fc")json");
}

TEST(JsonMembersTest, OfBrokenTextThoseBeforeTheBreak) {
  EXPECT_EQ(json_members(R"json({"a":1,"b")json").size(), 1u);
  EXPECT_EQ(json_members(R"json({"a":1,2:3})json").size(), 1u);
  EXPECT_THAT(json_members("{"), IsEmpty());
  EXPECT_THAT(json_members("[1]"), IsEmpty());
}

TEST(JsonDecodedTest, OnlyStringsAreDecoded) {
  EXPECT_EQ(json_decoded(R"json("a\n\u00fc")json"), "a\nü");
  EXPECT_EQ(json_decoded("1"), std::nullopt);
  EXPECT_EQ(json_decoded(""), std::nullopt);
  EXPECT_EQ(json_decoded(R"json("\ud800")json"), std::nullopt);
}

TEST(HasJsonGrammarTest, OneValueAndNothingElse) {
  for (const std::string text :
       {"1", " -0.5e+3 ", "true", "null", R"json("a\"]")json", "[]", " [ ] ", "{}",
        "[1,[2,{}],\"\"]", R"json({"a":{"b":[null,{}]},"c":-1})json"}) {
    EXPECT_TRUE(has_json_grammar(text)) << text;
  }
  for (const std::string text : {"",
                                 " ",
                                 "nul",
                                 "truex",
                                 "01",
                                 "+1",
                                 "1 2",
                                 "[",
                                 "[1",
                                 "[1,]",
                                 "[,1]",
                                 "[1 2]",
                                 "]",
                                 "{",
                                 R"json({"a"})json",
                                 R"json({"a":})json",
                                 R"json({"a" 1})json",
                                 R"json({"a":1,})json",
                                 R"json({,"a":1})json",
                                 R"json({a:1})json",
                                 R"json({"a":1]})json",
                                 R"json({"a":[1})json",
                                 R"json({"a":1}})json",
                                 R"json(["a)json",
                                 "[1:2]",
                                 "{1:2}"}) {
    EXPECT_FALSE(has_json_grammar(text)) << text;
  }
}

TEST(HasJsonGrammarTest, DepthDoesNotMatter) {
  EXPECT_TRUE(has_json_grammar(nested(100000)));
  EXPECT_FALSE(has_json_grammar(nested(100000) + "]"));
}

TEST(BehindJsonStringTest, EscapedQuotesDoNotEndIt) {
  EXPECT_EQ(behind_json_string(R"json(["a\"\\",1])json", 1), 8u);
  EXPECT_EQ(behind_json_string(R"json("")json", 0), 2u);
  EXPECT_EQ(behind_json_string(R"json("a\")json", 0), std::string_view::npos);
}

TEST(IsNestedDeeperTest, CountsLevelsOutsideOfStrings) {
  EXPECT_FALSE(is_nested_deeper(nested(3), 3));
  EXPECT_TRUE(is_nested_deeper(nested(4), 3));
  EXPECT_FALSE(is_nested_deeper(R"json(["[[[[\"[[[["])json", 1));
  EXPECT_FALSE(is_nested_deeper("[[],[],[],[]]", 2));
}

TEST(JsonSameTest, SpellingDoesNotCount) {
  EXPECT_TRUE(json_same(R"json({"a":1,"b":[true,null]})json",
                        R"json( { "b" : [ true , null ] , "\u0061" : 1 } )json"));
  EXPECT_TRUE(json_same(R"json("ü/")json", R"json("\u00FC\/")json"));
}

TEST(JsonSameTest, NumbersAreComparedByValue) {
  for (const char* one : {"1", "1.0", "1e0", "10E-1", "0.1e+1", "1.000"}) {
    EXPECT_TRUE(json_same("1", one)) << one;
  }
  EXPECT_TRUE(json_same("0", "-0.0"));
  EXPECT_TRUE(json_same("1200", "12e2"));
  EXPECT_FALSE(json_same("1", "-1"));
  EXPECT_FALSE(json_same("1", "10"));
  EXPECT_FALSE(json_same("1", "\"1\""));
}

TEST(JsonSameTest, IntegersOf64BitsStayApartAndLargerOnesAreDoubles) {
  EXPECT_FALSE(json_same("9007199254740992", "9007199254740993"));
  EXPECT_FALSE(json_same("18446744073709551614", "18446744073709551615"));
  EXPECT_TRUE(json_same("123456789012345678901234567890", "123456789012345678901234567891"));
  EXPECT_TRUE(json_same("123456789012345678901234567890", "12345678901234567890123456789e1"));
}

TEST(JsonSameTest, OrderCountsInArraysButNotInSetsOfNames) {
  EXPECT_FALSE(json_same("[1,2]", "[2,1]"));
  EXPECT_FALSE(json_same(R"json({"enum":["a","b"]})json", R"json({"enum":["b","a"]})json"));
  EXPECT_TRUE(json_same(R"json({"required":["a","b"]})json", R"json({"required":["b","a"]})json"));
  EXPECT_TRUE(json_same(R"json({"type":["a","b"]})json", R"json({"type":["b","a"]})json"));
}

TEST(JsonSameTest, AnEmptyKeyIsAKey) {
  EXPECT_FALSE(json_same(R"json({"":1})json", R"json({"":2})json"));
  EXPECT_FALSE(json_same(R"json({"":1})json", "{}"));
}

TEST(JsonSameTest, ADepthOf100IsComparedByMeaningAndMoreAsItIsWritten) {
  EXPECT_TRUE(json_same(nested(100, "1"), nested(100, " 1.0")));
  EXPECT_FALSE(json_same(nested(101, "1"), nested(101, " 1.0")));
  EXPECT_TRUE(json_same(nested(100'000), nested(100'000)));
  EXPECT_FALSE(json_same(nested(100'000), nested(100'000, " ")));
}

TEST(JsonSameTest, WhatIsNotValidIsComparedAsItIsWritten) {
  EXPECT_TRUE(json_same(R"json("\ud800")json", R"json("\ud800")json"));
  EXPECT_FALSE(json_same(R"json("\ud800")json", R"json("\uD800")json"));
  EXPECT_FALSE(json_same("1e400", "1e401"));
}

}  // namespace
}  // namespace sitter
