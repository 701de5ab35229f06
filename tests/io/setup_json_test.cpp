#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "setup/document.hpp"
#include "setup/failure.hpp"
#include "setup/json_document.hpp"

namespace sitter::setup {
namespace {

using ::testing::HasSubstr;

const Path kEntry = {"mcpServers", "notes"};

std::string rewrite(const std::string& text, const Json& wanted, const Path& path = kEntry) {
  return rewritten(Notation::json, text, "settings.json", path, wanted);
}

std::string refusal(const std::string& text) {
  try {
    read_json(text, "settings.json");
  } catch (const Failure& failure) {
    return failure.what;
  }
  return "read";
}

TEST(SetupJsonTest, CommentsAreBlankedWithoutChangeOfLength) {
  EXPECT_EQ(without_comments("{ // a\r\n \"b//\": /* c\n */ 1 }"),
            "{     \r\n \"b//\":     \n    1 }");
  EXPECT_EQ(without_comments("\xEF\xBB\xBF{}"), "   {}");
  EXPECT_EQ(without_comments("{} // a"), "{}     ");
  EXPECT_EQ(without_comments("{} /* a"), "{}     ");
}

TEST(SetupJsonTest, OnlyACommaBehindAValueIsATrailingOne) {
  std::string text = R"([1, {"a,}": "b",}, ] [,] {,})";
  blank_trailing_commas(text);
  EXPECT_EQ(text, R"([1, {"a,}": "b" }  ] [,] {,})");
}

TEST(SetupJsonTest, AValueIsReplacedAndAllElseStays) {
  EXPECT_EQ(
      rewrite("{ // x\n\t\"mcpServers\": {\n\t\t\"notes\": {\n\t\t\t\"command\": \"a\", // "
              "the program\n\t\t\t\"args\": [\n\t\t\t\t\"b\",\n\t\t\t],\n\t\t},\n\t},\n}\n",
              {{"command", "s"}, {"args", {"--", "a", "b"}}}),
      "{ // x\n\t\"mcpServers\": {\n\t\t\"notes\": {\n\t\t\t\"command\": \"s\", // "
      "the program\n\t\t\t\"args\": [\n\t\t\t\t\"--\",\n\t\t\t\t\"a\",\n\t\t\t\t\"b\"\n\t\t\t],"
      "\n\t\t},\n\t},\n}\n");
}

TEST(SetupJsonTest, LineEndsAndAByteOrderMarkStay) {
  EXPECT_EQ(rewrite("\xEF\xBB\xBF{\r\n  \"mcpServers\": {\r\n    \"notes\": {\r\n      "
                    "\"command\": \"a\"\r\n    }\r\n  }\r\n}\r\n",
                    {{"command", "s"}, {"args", {"a"}}}),
            "\xEF\xBB\xBF{\r\n  \"mcpServers\": {\r\n    \"notes\": {\r\n      "
            "\"command\": \"s\",\r\n      \"args\": [\"a\"]\r\n    }\r\n  }\r\n}\r\n");
}

TEST(SetupJsonTest, AMemberIsAddedInTheLineOfItsNeighbour) {
  EXPECT_EQ(rewrite(R"({"mcpServers":{"notes":{"command":"a","env":{"A":"b"}}}})",
                    {{"command", "s"}, {"args", {"a"}}, {"env", {{"A", "b"}}}}),
            R"({"mcpServers":{"notes":{"command":"s", "args": ["a"],"env":{"A":"b"}}}})");
}

TEST(SetupJsonTest, AMemberIsAddedBeforeATrailingComma) {
  EXPECT_EQ(rewrite("{\"mcpServers\": {\n  \"notes\": {\n    \"command\": \"a\",\n  },\n}}",
                    {{"command", "a"}, {"args", {"b"}}}),
            "{\"mcpServers\": {\n  \"notes\": {\n    \"command\": \"a\",\n    \"args\": "
            "[\"b\"],\n  },\n}}");
}

TEST(SetupJsonTest, WhatIsMissingIsMadeWithTheIndentOfTheFile) {
  const Json entry = {{"command", "s"}, {"args", {"a"}}};
  const std::string made =
      "{\n  \"mcpServers\": {\n    \"notes\": {\n      \"command\": \"s\",\n      \"args\": "
      "[\"a\"]\n    }\n  }\n}";
  EXPECT_EQ(rewrite("", entry), made + "\n");
  EXPECT_EQ(rewrite("{}", entry), made);
  EXPECT_EQ(rewrite("{\n  \"mcpServers\": {}\n}", entry), made);
  EXPECT_EQ(rewrite("{\n\t\"a\": 1\n}\n", entry),
            "{\n\t\"a\": 1,\n\t\"mcpServers\": {\n\t\t\"notes\": {\n\t\t\t\"command\": "
            "\"s\",\n\t\t\t\"args\": [\"a\"]\n\t\t}\n\t}\n}\n");
}

TEST(SetupJsonTest, ARemovedMemberTakesOneCommaAndNoComment) {
  const auto without = [](const std::string& text, const Path& path) {
    return read_json(text, "settings.json")->without(path);
  };
  EXPECT_EQ(without("{\n  \"a\": 1, // one\n  \"b\": 2\n}", {"b"}), "{\n  \"a\": 1 // one\n}");
  EXPECT_EQ(without("{\n  \"a\": 1,\n  \"b\": 2\n}", {"a"}), "{\n  \"b\": 2\n}");
  EXPECT_EQ(without(R"({"a": 1, "b": 2, "c": 3})", {"b"}), R"({"a": 1, "c": 3})");
  EXPECT_EQ(without(R"({"a": 1, "b": 2})", {"b"}), R"({"a": 1})");
  EXPECT_EQ(without("{\n  \"a\": { \"b\": 2 }\n}", {"a", "b"}), "{\n  \"a\": {}\n}");
  EXPECT_EQ(without("{\n  \"a\": 1,\n}", {"a"}), "{\n}");
}

TEST(SetupJsonTest, TheLastOfTwoEqualKeysIsTheOneThatCounts) {
  const std::string text = R"({"mcpServers": {"notes": {"command": "a", "command": "b"}}})";
  EXPECT_EQ(rewrite(text, {{"command", "s"}}),
            R"({"mcpServers": {"notes": {"command": "a", "command": "s"}}})");
}

TEST(SetupJsonTest, AContainerThatIsNullBecomesAnObject) {
  const auto document = Document::read(Notation::json, R"({"servers": null, "b": 1})", "x");
  const std::string text = document->with({"servers", "a"}, Json::object({{"c", 2}}), "");
  EXPECT_EQ(Json::parse(text), Json::parse(R"({"servers": {"a": {"c": 2}}, "b": 1})"));
}

TEST(SetupJsonTest, KeysMayHaveEscapes) {
  const std::string text = R"({"a\\": {"\"b\u00e9\\\"": 1}})";
  EXPECT_EQ(rewrite(text, 2, {"a\\", "\"b\u00e9\\\""}), R"({"a\\": {"\"b\u00e9\\\"": 2}})");
}

TEST(SetupJsonTest, ABrokenFileIsRefusedWithItsPlaceAndWithoutItsText) {
  EXPECT_THAT(refusal("{\n  \"a\": secret\n}"), HasSubstr("settings.json is not valid JSON at line "
                                                          "2, column "));
  EXPECT_THAT(refusal("{\n  \"a\": secret\n}"), ::testing::Not(HasSubstr("secret")));
  EXPECT_THAT(refusal("{\"a\": 1"), HasSubstr("at line 1, column 8"));
  EXPECT_THAT(refusal("{\"a\": \"\xFF\"}"), HasSubstr("at line 1"));
  EXPECT_THAT(refusal("{,}"), HasSubstr("at line 1"));
  EXPECT_THAT(refusal("[]"), HasSubstr("no JSON object"));
  EXPECT_THAT(refusal(std::string(5000, '[')), HasSubstr("nested too deeply"));
}

TEST(SetupJsonTest, AValueThatIsNoObjectHoldsNoServers) {
  EXPECT_THROW(rewrite(R"({"mcpServers": []})", {{"command", "s"}}), Failure);
}

}  // namespace
}  // namespace sitter::setup
