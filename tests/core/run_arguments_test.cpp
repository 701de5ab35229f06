#include "core/cli/run_arguments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

using Kind = RunArguments::Kind;

Kind kind_of(const std::string& value) {
  const std::string raw = "{\"p\":" + value + "}";
  return RunArguments(raw).kind("p");
}

std::optional<std::string> text_of(const std::string& value) {
  const std::string raw = "{\"p\":" + value + "}";
  return RunArguments(raw).text("p");
}

std::optional<std::vector<std::string>> texts_of(const std::string& value) {
  const std::string raw = "{\"p\":" + value + "}";
  return RunArguments(raw).texts("p");
}

TEST(RunArgumentsTest, NullAndAnEmptyListCountAsMissing) {
  EXPECT_EQ(RunArguments("{}").kind("p"), Kind::missing);
  EXPECT_EQ(kind_of("null"), Kind::missing);
  EXPECT_EQ(kind_of("[]"), Kind::missing);
  EXPECT_EQ(kind_of("[ \n]"), Kind::missing);
  EXPECT_EQ(kind_of("[null]"), Kind::list);
  EXPECT_EQ(kind_of("[[]]"), Kind::list);
  EXPECT_EQ(kind_of("true"), Kind::boolean);
  EXPECT_EQ(kind_of("false"), Kind::boolean);
  for (const char* const text : {"\"\"", "\"null\"", "\"true\"", "0", "-1e400", "{}"}) {
    EXPECT_EQ(kind_of(text), Kind::text) << text;
  }
}

TEST(RunArgumentsTest, AStringIsDecodedAndEverythingElseIsJson) {
  EXPECT_THAT(text_of(R"json("a\n\u00fc\ud83d\ude00\\\"")json"),
              Optional(std::string("a\nü😀\\\"")));
  EXPECT_THAT(text_of(R"json("a\u0000b")json"), Optional(std::string("a\0b", 3)));
  EXPECT_THAT(text_of("1.50e3"), Optional(std::string("1.50e3")));
  EXPECT_THAT(text_of("123456789012345678901234567890"),
              Optional(std::string("123456789012345678901234567890")));
  EXPECT_THAT(text_of(R"json({"a": "\u00fc"})json"),
              Optional(std::string(R"json({"a": "\u00fc"})json")));
  EXPECT_THAT(texts_of(R"json(["a",1,null,true,[2],{"b": 3}])json"),
              Optional(ElementsAre("a", "1", "null", "true", "[2]", R"json({"b": 3})json")));
}

TEST(RunArgumentsTest, HalfOfASurrogatePairIsNoText) {
  EXPECT_EQ(text_of(R"json("\ud83d")json"), std::nullopt);
  EXPECT_EQ(text_of(R"json("\ude00\ud83d")json"), std::nullopt);
  EXPECT_EQ(texts_of(R"json(["a","\ud83d"])json"), std::nullopt);
}

TEST(RunArgumentsTest, OfANameThatIsWrittenTwiceTheLastValueCounts) {
  const RunArguments arguments(R"json({"p":"a","\u0070":"b","q":true,"q":null})json");
  EXPECT_THAT(arguments.text("p"), Optional(std::string("b")));
  EXPECT_EQ(arguments.kind("q"), Kind::missing);
  EXPECT_FALSE(arguments.is_true("q"));
}

}  // namespace
}  // namespace sitter
