#include "core/wire/salvage.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LenientIdTest, TheIdOfTheTopLevelIsFoundFromTheStart) {
  EXPECT_EQ(lenient_id(R"json({"jsonrpc":"2.0","id":7,"result":{"a)json"), "7");
  EXPECT_EQ(lenient_id(R"json(xx { "id" : "a\"b" , )json"), R"json("a\"b")json");
  EXPECT_EQ(lenient_id(R"json({"params":{"id":1,"x":[{"id":2}]},"id":3)json"), "3");
  EXPECT_EQ(lenient_id(R"json({"x":"\"id\":9","id":4)json"), "4");
  EXPECT_EQ(lenient_id(R"json({"x":"id","id":5})json"), "5");
}

TEST(LenientIdTest, WithoutAnIdNoneIsFound) {
  for (const std::string text :
       {"", "id", "{", "{\"id\"", "{\"id\":", "{\"id\":}", "{\"id\":null}", "{\"id\":tru",
        "{\"id\":{}}", "{\"id\":\"unclosed", "{\"params\":{\"id\":1"}) {
    EXPECT_EQ(lenient_id(text), "") << text;
  }
}

TEST(LenientIdTest, WhereTheStartLeadsNowhereTheEndIsLookedAt) {
  EXPECT_EQ(lenient_id(R"json({"result":{"a":"x},"jsonrpc":"2.0","id":1})json"), "1");
  EXPECT_EQ(lenient_id(R"json({"result":{"a":[1,2},"jsonrpc":"2.0","id":"b"})json"), "\"b\"");
  EXPECT_EQ(lenient_id(R"json({"result":{}},"jsonrpc":"2.0","id":3})json"), "3");
  EXPECT_EQ(lenient_id(R"json(y"},"jsonrpc":"2.0","id":4})json"), "4");
}

TEST(LenientIdTest, TheIdAtTheVeryEndIsFound) {
  EXPECT_EQ(lenient_id("{", R"json(xxx"},"id":5})json"), "5");
  EXPECT_EQ(lenient_id("{", R"json(xxx"},"id" : "a" } )json"), "\"a\"");
  for (const std::string text : {"", "5}", "\"id\":5}", "x\"id\":5}", ",\"id\":5,\"x\":1}",
                                 ",\"id\":5}}", ",\"id\":5", ",\"id\":{}}"}) {
    EXPECT_EQ(lenient_id("{", text), "") << text;
  }
}

TEST(SplitTest, ObjectsAndTheTextAroundThem) {
  const SplitLine split = split_objects(" a {\"x\":\"}\"} b{}, [c] {\"y\":{}} ");
  EXPECT_THAT(split.objects, ElementsAre("{\"x\":\"}\"}", "{}", "{\"y\":{}}"));
  EXPECT_THAT(split.texts, ElementsAre("a", "b", ", [c]"));
}

TEST(SplitTest, TheMarksOfAnArrayAreNoText) {
  const SplitLine split = split_objects(" [ {} , {}\t] ");
  EXPECT_THAT(split.objects, ElementsAre("{}", "{}"));
  EXPECT_THAT(split.texts, IsEmpty());
}

TEST(SplitTest, WithoutAnObjectAllIsText) {
  EXPECT_THAT(split_objects(" [] ").texts, ElementsAre("[]"));
  EXPECT_THAT(split_objects("{ {").texts, ElementsAre("{ {"));
  EXPECT_THAT(split_objects("{ {").objects, IsEmpty());
}

TEST(SplitTest, AValueInWhatIsNotClosedIsNoObjectOfItsOwn) {
  for (const std::string line :
       {R"json({"id":1,"result":{"a":{}})json", R"json({"a":[{},{})json"}) {
    EXPECT_THAT(split_objects(line).objects, IsEmpty()) << line;
    EXPECT_THAT(split_objects(line).texts, ElementsAre(line));
  }
  EXPECT_THAT(split_objects("{mode {\"a\":1}").objects, ElementsAre("{\"a\":1}"));
}

TEST(SplitTest, BracesThatNeverCloseAreTriedUpToABound) {
  EXPECT_THAT(split_objects(std::string(15, '{') + "{}").objects, ElementsAre("{}"));
  EXPECT_THAT(split_objects(std::string(16, '{') + "{}").objects, IsEmpty());
}

TEST(LooksLikeAnswerTest, AnAnswerIsToldFromARequestAndALogLine) {
  EXPECT_TRUE(looks_like_answer(R"json({"id":1,"result":{)json"));
  EXPECT_TRUE(looks_like_answer(R"json({"id":1,"error":{"message":"method)json"));
  EXPECT_TRUE(looks_like_answer(R"json({"jsonrpc":"2.0","id":1)json"));
  EXPECT_FALSE(looks_like_answer(R"json({"method":"x","params":{"result":1)json"));
  EXPECT_FALSE(looks_like_answer(R"json({"level":"info","message":"x"})json"));
  EXPECT_FALSE(looks_like_answer("Server is listening"));
}

}  // namespace
}  // namespace sitter
