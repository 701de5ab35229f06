#include "core/report/lint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/json_text.hpp"
#include "support/messages.hpp"

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> lint(const std::string& result, const std::string& schema = "",
                              Revision revision = Revision::session) {
  return lint_result(revision, "t", result, schema);
}

/// A result whose structured content is this raw value.
std::string structured(const std::string& value) {
  return R"json({"content":[],"structuredContent":)json" + value + "}";
}

std::string beside_text(const std::string& text, const std::string& value) {
  return R"json({"content":[{"type":"text","text":)json" + nlohmann::json(text).dump() +
         R"json(}],"structuredContent":)json" + value + "}";
}

constexpr char kTextDiffers[] =
    R"(tool "t": the text of a result says something other than structuredContent, and some clients )"
    "show the model only one of the two";

TEST(LintTest, AResultMustFitTheProtocol) {
  const std::string so = ", so clients reject the result";
  EXPECT_THAT(lint(R"json({"content":[],"isError":"true"})json"),
              ElementsAre(R"(tool "t": isError is not of type boolean)" + so));
  EXPECT_THAT(lint(R"json({"content":[{"text":"a"}]})json"),
              ElementsAre(R"(tool "t": content[0] has no member `type`)" + so));
  EXPECT_THAT(lint(R"json({"content":[{"type":"image","data":"aGk="}]})json"),
              ElementsAre(R"(tool "t": content[0] has no member `mimeType`)" + so));
  EXPECT_THAT(lint(R"json({"content":[{"type":"image","data":"x","mimeType":"a/b"}]})json"),
              ElementsAre(R"(tool "t": content[0].data is not of the format byte)" + so));
  EXPECT_THAT(lint(R"json({"content":[{"type":"picture"}]})json"),
              ElementsAre(R"(tool "t": content[0].type is none of the allowed values)" + so));
  EXPECT_THAT(lint("{}"), IsEmpty());
  EXPECT_THAT(lint("{}", "", Revision::stateless),
              ElementsAre(R"(tool "t": a result has no member `content`)" + so));
}

TEST(LintTest, AResultThatIsNotCompleteHasNoFinding) {
  for (const std::string result :
       {R"json({"task":{"taskId":"1"},"isError":1})json",
        R"json({"content":[],"resultType":"input_required","isError":1})json"}) {
    EXPECT_THAT(lint(result, R"json({"type":"object"})json"), IsEmpty()) << result;
  }
  EXPECT_THAT(lint(R"json({"content":[],"resultType":"complete","isError":1})json"), SizeIs(1));
}

TEST(LintTest, StructuredContentMustFitTheOutputSchemaAtEachLevel) {
  const std::string schema =
      R"json({"type":"object","properties":{"a":{"type":"object","properties":{)json"
      R"json("b":{"type":"string","format":"date"},"c":{"type":"string","nullable":true}}}}})json";
  EXPECT_THAT(lint(structured(R"json({"a":{"b":"2026-01-31","c":null}})json"), schema), IsEmpty());
  EXPECT_THAT(lint(structured(R"json({"a":{"b":7}})json"), schema),
              ElementsAre(R"(tool "t": structuredContent.a.b is not of type string, but )"
                          "outputSchema asks for that, so clients reject the result"));
  EXPECT_THAT(lint(structured("{}"), R"json({"required":["n"]})json"),
              ElementsAre(HasSubstr(": structuredContent has no member `n`, but outputSchema")));
  EXPECT_THAT(lint(structured(R"json({"a":{"b":"2026-02-31"}})json"), schema),
              ElementsAre(HasSubstr("structuredContent.a.b is not of the format date")));
}

TEST(LintTest, OtherResultsAndNotificationsMustFitTheProtocol) {
  const auto lint_one = [](Method method, const std::string& message) {
    return lint_message(Revision::session, method, message);
  };
  EXPECT_EQ(lint_one(Method::prompts_get, R"json({"messages":[{"role":"system","content":)json"
                                          R"json({"type":"text","text":"a"}}]})json"),
            "prompts/get: messages[0].role is none of the allowed values, so clients reject the "
            "result");
  EXPECT_EQ(lint_one(Method::resources_read, "{}"),
            "resources/read: the result has no member `contents`, so clients reject the result");
  EXPECT_EQ(
      lint_one(Method::progress, R"json({"jsonrpc":"2.0","method":"notifications/progress",)json"
                                 R"json("params":{"progressToken":1,"progress":"1"}})json"),
      "notifications/progress: params.progress is not of type number, so clients reject the "
      "notification");
  EXPECT_EQ(lint_one(Method::server_discover, R"json({"supportedVersions":[]})json"),
            "server/discover: the result has no member `capabilities`, so clients reject the "
            "result");
  std::string values = "\"a\"";
  for (int i = 1; i < 100; ++i) values += ",\"a\"";
  const auto completion = [](const std::string& items) {
    return R"json({"completion":{"values":[)json" + items + "]}}";
  };
  EXPECT_EQ(lint_one(Method::completion_complete, completion(values)), "");
  EXPECT_EQ(lint_one(Method::completion_complete, completion(values + R"(,"a")")),
            "completion/complete: completion.values has 101 items, and may have at most 100, so "
            "clients reject the result");
  EXPECT_EQ(lint_one(Method::logging_set_level, "7"), "");
}

TEST(LintTest, AnOutputSchemaCallsForStructuredContent) {
  const std::string schema = R"json({"type":"object"})json";
  for (const std::string more : {"", R"json(,"isError":false)json"}) {
    const std::string result = R"json({"content":[])json" + more + "}";
    EXPECT_THAT(lint(result, schema),
                ElementsAre(R"(tool "t": a result has no structuredContent, but the tool has an )"
                            "outputSchema, so clients reject the result"));
    EXPECT_THAT(lint(result, ""), IsEmpty());
    EXPECT_THAT(lint(result, "null"), IsEmpty());
  }
  EXPECT_THAT(lint(R"json({"content":[],"isError":true})json", schema), IsEmpty());
  EXPECT_THAT(lint(R"json({"content":[],"isError":true,"structuredContent":[]})json", schema),
              ElementsAre(HasSubstr("structuredContent is not of type object")));
  EXPECT_THAT(lint(structured("{}"), schema), IsEmpty());
}

TEST(LintTest, ALongOutputSchemaIsNotComparedWithTheResult) {
  std::string schema = R"json({"required":["a"]})json";
  schema.insert(1, limits::kLintSchemaMax - schema.size(), ' ');
  EXPECT_THAT(lint(structured("{}"), schema), SizeIs(1));
  EXPECT_THAT(lint(structured("{}"), schema + " "), IsEmpty());
}

TEST(LintTest, ATextInJsonMustMeanTheSameAsTheStructuredContent) {
  EXPECT_THAT(lint(beside_text(R"json({ "b":2.0, "a":1 })json", R"json({"a":1,"b":2})json"), ""),
              IsEmpty());
  EXPECT_THAT(lint(beside_text(R"json({"a":1})json", R"json({"a":2})json"), ""),
              ElementsAre(kTextDiffers));
  EXPECT_THAT(lint(beside_text("3", R"json({"sum":4})json"), ""), ElementsAre(kTextDiffers));
}

TEST(LintTest, MembersThatAreNullNeedNotStandInBoth) {
  EXPECT_THAT(lint(beside_text(R"json({"a":1,"b":null})json", R"json({"a":1})json")), IsEmpty());
  EXPECT_THAT(lint(beside_text(R"json({"a":[{}]})json", R"json({"a":[{"b":null}]})json")),
              IsEmpty());
}

TEST(LintTest, APatternThatTakesLongToCompileIsNotChecked) {
  const auto with_pattern = [](const std::string& pattern) {
    return R"json({"type":"object","properties":{"a":{"pattern":")json" + pattern + "\"}}}";
  };
  const std::string value = structured(R"json({"a":"?"})json");
  EXPECT_THAT(lint(value, with_pattern("^[a-z]{1,100}$")), SizeIs(1));
  EXPECT_THAT(lint(value, with_pattern("^[\\\\p{L}\\\\p{N} ]{1,100}$")), IsEmpty());
}

TEST(LintTest, ATextThatIsNoJsonIsNotCompared) {
  for (const std::string text : {"three", "", "{\"a\":1", "{} {}"}) {
    EXPECT_THAT(lint(beside_text(text, R"json({"a":2})json"), ""), IsEmpty()) << text;
  }
}

TEST(LintTest, OnlyASingleTextIsCompared) {
  const std::string text = R"json({"type":"text","text":"{}"})json";
  const std::string image = R"json({"type":"image","data":"","mimeType":"image/png"})json";
  const auto lint_blocks = [](const std::string& blocks) {
    return lint(R"json({"content":[)json" + blocks + R"json(],"structuredContent":{"a":1}})json",
                "");
  };
  EXPECT_THAT(lint_blocks(text + "," + image), ElementsAre(kTextDiffers));
  EXPECT_THAT(lint_blocks(text + "," + text), IsEmpty());
  EXPECT_THAT(lint_blocks(image), IsEmpty());
}

TEST(LintTest, AValueWithinTheStructuredContentMayBeTheText) {
  for (const std::string value :
       {R"json({"result":3})json", R"json({"result":3,"unit":"m"})json", R"json({"all":[1,3]})json",
        R"json({"content":[{"type":"text","text":"3"}]})json"}) {
    EXPECT_THAT(lint(beside_text("3", value), ""), IsEmpty()) << value;
  }
  const std::string file = R"json({"name": "x"})json";
  EXPECT_THAT(lint(beside_text(file, nlohmann::json{{"content", file}}.dump()), ""), IsEmpty());
  EXPECT_THAT(lint(beside_text(R"json({"a":1})json", R"json({"a":1,"b":2})json"), ""),
              ElementsAre(kTextDiffers));
}

TEST(LintTest, ATextWithANumberThatNoDoubleHoldsIsNotCompared) {
  EXPECT_THAT(lint(beside_text("1e999", R"json({"a":2})json"), ""), IsEmpty());
  EXPECT_THAT(lint(beside_text("2", R"json({"a":1e999})json"), ""), IsEmpty());
}

TEST(LintTest, ValuesThatAreNestedTooDeeplyAreNotCompared) {
  const auto nested = [](std::size_t depth, const std::string& inner) {
    std::string value = "{\"a\":" + inner + "}";
    for (std::size_t i = 1; i < depth; ++i) value = "{\"a\":" + value + "}";
    return value;
  };
  constexpr std::size_t max = limits::kNestingMax;
  EXPECT_THAT(lint(beside_text(nested(max, "1"), nested(max, "2")), ""), SizeIs(1));
  EXPECT_THAT(lint(beside_text(nested(max + 1, "1"), nested(max, "2")), ""), IsEmpty());
  EXPECT_THAT(lint(beside_text(nested(max, "1"), nested(max + 1, "2")), ""), IsEmpty());
}

TEST(LintTest, TheLastOfTwoMembersWithOneKeyCounts) {
  EXPECT_THAT(lint(structured(R"json({"a":1,"a":"x"})json"),
                   R"json({"properties":{"a":{"type":"string"}}})json"),
              IsEmpty());
}

}  // namespace
}  // namespace sitter
