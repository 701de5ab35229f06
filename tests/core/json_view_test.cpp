#include "core/wire/json_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sitter {
namespace {

using ::testing::ElementsAre;

TEST(JsonViewTest, MembersComeRawAndInTheOrderOfTheKeys) {
  const std::string object =
      R"json({ "b" : [1, {"a":2}] , "\u0061":1.0,"c":{"b":3},"d":"x\"}" })json";
  EXPECT_THAT((members<4>(object, {"a", "b", "d", "none"})),
              ElementsAre("1.0", "[1, {\"a\":2}]", "\"x\\\"}\"", ""));
}

TEST(JsonViewTest, OfDuplicateKeysTheLastCounts) {
  EXPECT_EQ(member(R"json({"a":1,"a":2})json", "a"), "2");
}

TEST(JsonViewTest, WhatIsNoObjectHasNoMembers) {
  for (const std::string raw : {"", "[]", "7", "\"a\"", "null", "{", "{\"a\"", "{}"}) {
    EXPECT_EQ(member(raw, "a"), "") << raw;
  }
}

TEST(JsonViewTest, MembersAreViewsIntoTheText) {
  const std::string object = R"json({"a":[1]})json";
  EXPECT_EQ(member(object, "a").data(), object.data() + 5);
}

TEST(JsonViewTest, StringsAreDecoded) {
  EXPECT_EQ(string_value(R"json("a\u00fc\n")json"), "a\xC3\xBC\n");
  EXPECT_EQ(string_value("7"), "");
  EXPECT_EQ(string_value(""), "");
  EXPECT_EQ(string_value(R"json("\ud83d")json"), "");
}

class EditsTest : public ::testing::Test {
 protected:
  explicit EditsTest()
      : owned_(std::string_view(R"json({"a":1,"b":[ ],"c":[1, 2 ],"d":{}})json")) {}

  std::string_view part(std::string_view text) const {
    const std::string_view all = owned_.line().text();
    return all.substr(all.find(text), text.size());
  }

  OwnedLine owned_;
};

TEST(IsThereTest, NullCountsAsMissing) {
  EXPECT_FALSE(is_there(""));
  EXPECT_FALSE(is_there("null"));
  for (const std::string_view raw : {"false", "0", "{}", R"json("null")json"}) {
    EXPECT_TRUE(is_there(raw)) << raw;
  }
}

TEST_F(EditsTest, NoEditPassesTheLine) {
  const Edits edits(owned_.line());
  EXPECT_EQ(edits.apply(), owned_.text());
  EXPECT_EQ(edits.outgoing().head.data(), owned_.text().data());
}

TEST_F(EditsTest, OneEditCopiesNothingElse) {
  Edits edits(owned_.line());
  edits.replace(part("1"), "true");
  const Outgoing line = edits.outgoing();
  EXPECT_EQ(line.text(), R"json({"a":true,"b":[ ],"c":[1, 2 ],"d":{}})json");
  EXPECT_EQ(line.head.data(), owned_.text().data());
}

TEST_F(EditsTest, SeveralEditsInAnyOrder) {
  Edits edits(owned_.line());
  edits.append(part("{}"), "\"x\":1");
  edits.replace(part("1"), "0");
  edits.append(part("[ ]"), "9");
  edits.prepend(part("[1, 2 ]"), "0");
  edits.append(part("[1, 2 ]"), "3");
  EXPECT_EQ(edits.apply(), R"json({"a":0,"b":[ 9],"c":[0,1, 2 ,3],"d":{"x":1}})json");
  EXPECT_EQ(edits.outgoing().text(), edits.apply());
}

TEST_F(EditsTest, SeveralAppendsToAnEmptyContainer) {
  Edits edits(owned_.line());
  edits.append(part("{}"), "\"x\":1");
  edits.append(part("{}"), "\"y\":2");
  EXPECT_THAT(edits.apply(), ::testing::HasSubstr(R"json("d":{"x":1,"y":2})json"));
}

TEST_F(EditsTest, AnEmptyContainerIsPrependedWithoutAComma) {
  Edits edits(owned_.line());
  edits.prepend(part("[ ]"), "7");
  EXPECT_THAT(edits.apply(), ::testing::HasSubstr(R"json("b":[7 ])json"));
}

}  // namespace
}  // namespace sitter
