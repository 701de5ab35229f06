#include "core/report/lint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/json_text.hpp"
#include "support/messages.hpp"

namespace sitter {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::vector<std::string> lint(const std::vector<std::string>& items) {
  const std::vector<std::string_view> views(items.begin(), items.end());
  return lint_tools(views);
}

/// The findings in a tool `t` with this raw input schema.
std::vector<std::string> lint_input(const std::string& schema) {
  return lint({R"json({"name":"t","inputSchema":)json" + schema + "}"});
}

std::string with_reference(const std::string& raw) {
  return R"json({"type":"object","properties":{"x":{"items":{"$ref":)json" + raw + "}}}}";
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

TEST(LintTest, AUsualToolHasNoFinding) {
  EXPECT_THAT(lint({tool("add"), tool("sub", R"json(,"outputSchema":{"type":"object"})json")}),
              IsEmpty());
  EXPECT_THAT(lint({}), IsEmpty());
}

TEST(LintTest, TheInputSchemaMustBeAnObjectThatDescribesAnObject) {
  EXPECT_THAT(lint({R"json({"name":"t"})json"}),
              ElementsAre(R"(tool "t": inputSchema is missing, so clients drop the whole list; )"
                          R"(write {"type":"object"} if there are no arguments)"));
  for (const std::string schema : {"true", "null", "[]", R"json("object")json"}) {
    EXPECT_THAT(lint_input(schema), ElementsAre(R"(tool "t": inputSchema is not an object, )"
                                                "so clients drop the whole list"));
  }
  for (const std::string schema :
       {"{}", R"json({"type":"string"})json", R"json({"type":["object"]})json"}) {
    EXPECT_THAT(lint_input(schema), ElementsAre(R"(tool "t": inputSchema has no "type":"object", )"
                                                "so clients drop the whole list"));
  }
}

TEST(LintTest, AReferenceMustStayWithinTheSchema) {
  EXPECT_THAT(lint_input(with_reference(R"json("#/$defs/x")json")), IsEmpty());
  EXPECT_THAT(lint_input(with_reference(R"json("#")json")), IsEmpty());
  EXPECT_THAT(lint_input(with_reference(R"json("defs.json#/x")json")),
              ElementsAre(R"(tool "t": the $ref "defs.json#/x" in inputSchema leads out of the )"
                          "schema, so clients drop the tool or the whole list; write the "
                          "definition into $defs"));
  const std::string output = R"json(,"outputSchema":)json" + with_reference(R"json("a")json");
  EXPECT_THAT(lint({tool("t", output)}), ElementsAre(HasSubstr("$ref \"a\" in outputSchema")));
}

TEST(LintTest, OnlyAStringIsAReference) {
  EXPECT_THAT(lint_input(with_reference(R"json({"type":"string"})json")), IsEmpty());
  EXPECT_THAT(lint_input(with_reference(R"json(["a"])json")), IsEmpty());
  EXPECT_THAT(lint_input(R"json({"type":"object","description":"$ref","title":"a"})json"),
              IsEmpty());
}

TEST(LintTest, AReferenceToAnIdOfTheSameSchemaStaysWithinIt) {
  const auto lint_pair = [](const std::string& id, const std::string& reference) {
    return lint_input(R"json({"type":"object","$defs":{"x":{"$id":")json" + id +
                      R"json("}},"properties":{"a":{"$ref":")json" + reference + "\"}}}");
  };
  constexpr char kId[] = "http://e.org/a/x.json";
  for (const std::string same :
       {"http://e.org/a/x.json", "http://e.org/a/x.json#/$defs/y", "http://e.org/a/x.json#anchor",
        "http://e.org/a/x.json#", "/a/x.json", "x.json", "./x.json", "../a/x.json"}) {
    EXPECT_THAT(lint_pair(kId, same), IsEmpty()) << same;
    EXPECT_THAT(lint_pair(same, kId), IsEmpty()) << same;
  }
  EXPECT_THAT(lint_pair("x", "x"), IsEmpty());
  for (const std::string other :
       {"http://f.org/a/x.json", "http://e.org/a/ax.json", "ax.json", "json", "org/a"}) {
    EXPECT_THAT(lint_pair(kId, other), SizeIs(1)) << other;
    EXPECT_THAT(lint_pair(other, kId), SizeIs(1)) << other;
  }
}

TEST(LintTest, OnlyASchemaHasAnId) {
  const auto lint_beside = [](const std::string& members) {
    return lint_input(R"json({"type":"object","allOf":[{"$ref":"x"}],)json" + members + "}");
  };
  EXPECT_THAT(lint_beside(R"json("not":{"$id":"x"})json"), IsEmpty());
  EXPECT_THAT(lint_beside(R"json("$id":"x")json"), IsEmpty());
  for (const std::string no_id :
       {R"json("const":{"$id":"x"})json", R"json("properties":{"$id":"x"})json",
        R"json("not":{"$id":7})json", R"json("not":{"$id":""})json", R"json("$anchor":"x")json"}) {
    EXPECT_THAT(lint_beside(no_id), SizeIs(1)) << no_id;
  }
}

TEST(LintTest, AReferenceInDataIsNoReference) {
  for (const std::string data :
       {R"json("const":{"$ref":"a"})json", R"json("default":{"x":{"$ref":"a"}})json",
        R"json("enum":[{"$ref":"a"}])json", R"json("example":{"$ref":"a"})json",
        R"json("examples":[[{"$ref":"a"}]])json"}) {
    EXPECT_THAT(lint_input(R"json({"type":"object","properties":{"x":{)json" + data + "}}}"),
                IsEmpty())
        << data;
  }
}

TEST(LintTest, ADefinitionMayHaveAnyName) {
  const auto with_named = [](const std::string& word, const std::string& name,
                             const std::string& schema) {
    return lint_input(R"json({"type":"object",")json" + word + R"json(":{")json" + name +
                      "\":" + schema + "}}");
  };
  for (const std::string word : {"properties", "patternProperties", "$defs", "definitions",
                                 "dependentSchemas", "dependencies"}) {
    EXPECT_THAT(with_named(word, "$ref", R"json("a")json"), IsEmpty()) << word;
    for (const std::string name : {"const", "enum", "properties"}) {
      EXPECT_THAT(with_named(word, name, R"json({"$ref":"a"})json"), SizeIs(1)) << word << name;
    }
  }
}

TEST(LintTest, ALongOrDeepSchemaIsNotSearchedForReferences) {
  const auto padded = [](std::size_t size) {
    std::string schema = with_reference(R"json("a")json");
    schema.insert(1, size - schema.size(), ' ');
    return schema;
  };
  EXPECT_THAT(lint_input(padded(limits::kLintSchemaMax)), SizeIs(1));
  EXPECT_THAT(lint_input(padded(limits::kLintSchemaMax + 1)), IsEmpty());
  const auto nested = [](std::size_t depth) {
    std::string schema = R"json({"$ref":"a"})json";
    for (std::size_t i = 2; i < depth; ++i) schema = R"json({"not":)json" + schema + "}";
    return R"json({"type":"object","not":)json" + schema + "}";
  };
  EXPECT_THAT(lint_input(nested(limits::kNestingMax)), SizeIs(1));
  EXPECT_THAT(lint_input(nested(limits::kNestingMax + 1)), IsEmpty());
}

TEST(LintTest, ANameMustBeOneThatAllClientsTake) {
  const std::string longest(limits::kToolNameMax, 'x');
  EXPECT_THAT(lint({tool("aZ09_.-"), tool(longest)}), IsEmpty());
  EXPECT_THAT(lint({tool("a b")}),
              ElementsAre(R"(tool "a b": clients refuse this name; write 1 to 128 of the )"
                          "characters A-Z, a-z, 0-9, _, - and ."));
  EXPECT_THAT(lint({tool("")}), ElementsAre(HasSubstr("tool \"\": clients refuse this name")));
  EXPECT_THAT(lint({tool("é")}), ElementsAre(HasSubstr("tool \"é\": clients refuse this name")));
  EXPECT_THAT(lint({tool(longest + "x")}), ElementsAre(HasSubstr("clients refuse this name")));
}

TEST(LintTest, AToolWithoutANameIsNamedByItsPlace) {
  EXPECT_THAT(lint({tool("a"), R"json({"inputSchema":{"type":"object"}})json"}),
              ElementsAre("tool number 2: the name is missing or not a string, so clients drop the "
                          "whole list"));
  EXPECT_THAT(lint({R"json({"name":7,"inputSchema":{"type":"object"}})json"}), SizeIs(1));
}

TEST(LintTest, TwoToolsOfOneNameAreOneFinding) {
  EXPECT_THAT(lint({tool("a"), tool("b"), tool("a"), tool("a")}),
              ElementsAre("tool \"a\": several tools have this name, so clients drop a tool or the "
                          "whole list"));
}

TEST(LintTest, AFindingStaysOnOneShortLine) {
  const std::string name = R"json(a\nb)json" + std::string(1000, 'x');
  for (const std::string& finding : lint({tool(name)})) {
    EXPECT_THAT(finding, AllOf(HasSubstr("tool \"a bxx"), Not(HasSubstr("\n"))));
    EXPECT_LT(finding.size(), 300u);
  }
}

TEST(LintTest, FindingsHaveABound) {
  std::vector<std::string> items;
  for (std::size_t i = 0; i < limits::kLintFindingsMax; ++i) {
    items.push_back(R"json({"name":"t)json" + std::to_string(i) + R"json(","inputSchema":{}})json");
  }
  EXPECT_THAT(lint(items), SizeIs(limits::kLintFindingsMax));
  items.push_back(R"json({"name":"more","inputSchema":{}})json");
  EXPECT_THAT(lint(items), SizeIs(limits::kLintFindingsMax));
}

TEST(LintTest, IsErrorMustBeABoolean) {
  for (const std::string value : {"true", "false"}) {
    EXPECT_THAT(lint_result("t", R"json({"content":[],"isError":)json" + value + "}", ""),
                IsEmpty());
  }
  for (const std::string value : {R"json("true")json", "1", "null", "{}"}) {
    EXPECT_THAT(
        lint_result("t", R"json({"content":[],"isError":)json" + value + "}", ""),
        ElementsAre(
            R"(tool "t": isError of a result is not true or false, so clients reject the result)"));
  }
}

TEST(LintTest, AResultThatIsNotCompleteHasNoFinding) {
  for (const std::string result :
       {R"json({"task":{"taskId":"1"},"isError":1})json",
        R"json({"content":[],"resultType":"input_required","isError":1})json", "{}", "7"}) {
    EXPECT_THAT(lint_result("t", result, R"json({"type":"object"})json"), IsEmpty()) << result;
  }
  for (const std::string result : {R"json({"content":[],"resultType":"complete","isError":1})json",
                                   R"json({"structuredContent":{},"isError":1})json"}) {
    EXPECT_THAT(lint_result("t", result, ""), SizeIs(1)) << result;
  }
}

TEST(LintTest, AnOutputSchemaCallsForStructuredContent) {
  const std::string schema = R"json({"type":"object"})json";
  for (const std::string more :
       {"", R"json(,"structuredContent":null)json", R"json(,"isError":false)json"}) {
    const std::string result = R"json({"content":[])json" + more + "}";
    EXPECT_THAT(lint_result("t", result, schema),
                ElementsAre(R"(tool "t": a result has no structuredContent, but the tool has an )"
                            "outputSchema, so clients reject the result"));
    EXPECT_THAT(lint_result("t", result, ""), IsEmpty());
    EXPECT_THAT(lint_result("t", result, "null"), IsEmpty());
  }
  EXPECT_THAT(lint_result("t", R"json({"content":[],"isError":true})json", schema), IsEmpty());
  EXPECT_THAT(
      lint_result("t", R"json({"content":[],"isError":true,"structuredContent":[]})json", schema),
      ElementsAre(HasSubstr("structuredContent is of the type array")));
  EXPECT_THAT(lint_result("t", structured("{}"), schema), IsEmpty());
}

TEST(LintTest, RequiredMembersMustBeThere) {
  const std::string schema = R"json({"type":"object","required":["a","b",7]})json";
  EXPECT_THAT(lint_result("t", structured(R"json({"a":null,"b":1})json"), schema), IsEmpty());
  EXPECT_THAT(lint_result("t", structured(R"json({"a":1})json"), schema),
              ElementsAre(R"(tool "t": structuredContent has no member "b", which outputSchema )"
                          "requires, so clients reject the result"));
  EXPECT_THAT(lint_result("t", structured("{}"), schema), SizeIs(2));
}

TEST(LintTest, MembersMustHaveTheTypeOfTheSchema) {
  const auto lint_member = [](const std::string& type, const std::string& value) {
    return lint_result("t", structured(R"json({"a":)json" + value + "}"),
                       R"json({"properties":{"a":{"type":)json" + type + R"json(},"b":{}}})json");
  };
  EXPECT_THAT(lint_member(R"json("string")json", "7"),
              ElementsAre(R"(tool "t": the member "a" of structuredContent is of the type number, )"
                          "but outputSchema asks for string, so clients reject the result"));
  const std::vector<std::pair<std::string, std::string>> values = {
      {"object", "{}"}, {"array", "[]"},     {"string", R"json("")json"},
      {"number", "-1"}, {"boolean", "true"}, {"null", "null"}};
  for (const auto& [type, fitting] : values) {
    for (const auto& [other, value] : values) {
      EXPECT_THAT(lint_member("\"" + type + "\"", value), SizeIs(type == other ? 0 : 1))
          << type << " " << value;
    }
  }
}

TEST(LintTest, AnIntegerIsANumberWithoutAFraction) {
  const auto count = [](const std::string& type, const std::string& value) {
    return lint_result("t", structured(R"json({"a":)json" + value + "}"),
                       R"json({"properties":{"a":{"type":)json" + type + "}}}")
        .size();
  };
  const std::string integer = R"json("integer")json";
  for (const std::string whole : {"1", "-1", "1.0", "2.5e1", "1e400", "123456789012345678901"}) {
    EXPECT_EQ(count(integer, whole), 0u) << whole;
  }
  EXPECT_EQ(count(integer, "1.5"), 1u);
  EXPECT_EQ(count(integer, R"json("1")json"), 1u);
  EXPECT_EQ(count(R"json("number")json", "1.5"), 0u);
}

TEST(LintTest, OneOfSeveralTypesIsEnough) {
  const std::string schema = R"json({"properties":{"a":{"type":["string","null"]}}})json";
  EXPECT_THAT(lint_result("t", structured(R"json({"a":null})json"), schema), IsEmpty());
  EXPECT_THAT(lint_result("t", structured(R"json({"a":1})json"), schema),
              ElementsAre(HasSubstr("asks for string or null")));
}

TEST(LintTest, ANullableTypeAlsoAllowsNull) {
  const auto lint_member = [](const std::string& nullable, const std::string& value) {
    return lint_result(
        "t", structured(R"json({"a":)json" + value + "}"),
        R"json({"properties":{"a":{"type":"string","nullable":)json" + nullable + "}}}");
  };
  EXPECT_THAT(lint_member("true", "null"), IsEmpty());
  EXPECT_THAT(lint_member("true", "1"), ElementsAre(HasSubstr("asks for string or null,")));
  EXPECT_THAT(lint_member("false", "null"), ElementsAre(HasSubstr("asks for string,")));
}

TEST(LintTest, ATypeThatNobodyUnderstandsAllowsEverything) {
  for (const std::string schema :
       {R"json({"type":"int"})json", R"json({"type":["string","int"]})json",
        R"json({"type":7})json", R"json({"type":[]})json", R"json({"$ref":"#"})json",
        R"json({"nullable":true})json", "true"}) {
    EXPECT_THAT(lint_result("t", structured(R"json({"a":1})json"),
                            R"json({"properties":{"a":)json" + schema + "}}"),
                IsEmpty());
  }
}

TEST(LintTest, TheStructuredContentItselfMustHaveTheTypeOfTheSchema) {
  EXPECT_THAT(
      lint_result("t", structured("[1]"), R"json({"type":"object","required":["a"]})json"),
      ElementsAre(R"(tool "t": structuredContent is of the type array, but outputSchema asks for )"
                  "object, so clients reject the result"));
  EXPECT_THAT(lint_result("t", structured("[1]"), R"json({"type":"array"})json"), IsEmpty());
}

TEST(LintTest, ALongOutputSchemaIsNotComparedWithTheResult) {
  std::string schema = R"json({"required":["a"]})json";
  schema.insert(1, limits::kLintSchemaMax - schema.size(), ' ');
  EXPECT_THAT(lint_result("t", structured("{}"), schema), SizeIs(1));
  EXPECT_THAT(lint_result("t", structured("{}"), schema + " "), IsEmpty());
}

TEST(LintTest, ATextInJsonMustMeanTheSameAsTheStructuredContent) {
  EXPECT_THAT(
      lint_result("t", beside_text(R"json({ "b":2.0, "a":1 })json", R"json({"a":1,"b":2})json"),
                  ""),
      IsEmpty());
  EXPECT_THAT(lint_result("t", beside_text(R"json({"a":1})json", R"json({"a":2})json"), ""),
              ElementsAre(kTextDiffers));
  EXPECT_THAT(lint_result("t", beside_text("3", R"json({"sum":4})json"), ""),
              ElementsAre(kTextDiffers));
}

TEST(LintTest, ATextThatIsNoJsonIsNotCompared) {
  for (const std::string text : {"three", "", "{\"a\":1", "{} {}"}) {
    EXPECT_THAT(lint_result("t", beside_text(text, R"json({"a":2})json"), ""), IsEmpty()) << text;
  }
}

TEST(LintTest, OnlyASingleTextIsCompared) {
  const std::string text = R"json({"type":"text","text":"{}"})json";
  const std::string image = R"json({"type":"image","data":"","mimeType":"image/png"})json";
  const auto lint_blocks = [](const std::string& blocks) {
    return lint_result(
        "t", R"json({"content":[)json" + blocks + R"json(],"structuredContent":{"a":1}})json", "");
  };
  EXPECT_THAT(lint_blocks(text + "," + image), ElementsAre(kTextDiffers));
  EXPECT_THAT(lint_blocks(text + "," + text), IsEmpty());
  EXPECT_THAT(lint_blocks(image), IsEmpty());
}

TEST(LintTest, AValueWithinTheStructuredContentMayBeTheText) {
  for (const std::string value :
       {R"json({"result":3})json", R"json({"result":3,"unit":"m"})json", R"json({"all":[1,3]})json",
        R"json({"content":[{"type":"text","text":"3"}]})json"}) {
    EXPECT_THAT(lint_result("t", beside_text("3", value), ""), IsEmpty()) << value;
  }
  const std::string file = R"json({"name": "x"})json";
  EXPECT_THAT(lint_result("t", beside_text(file, nlohmann::json{{"content", file}}.dump()), ""),
              IsEmpty());
  EXPECT_THAT(lint_result("t", beside_text(R"json({"a":1})json", R"json({"a":1,"b":2})json"), ""),
              ElementsAre(kTextDiffers));
}

TEST(LintTest, ATextWithANumberThatNoDoubleHoldsIsNotCompared) {
  EXPECT_THAT(lint_result("t", beside_text("1e999", R"json({"a":2})json"), ""), IsEmpty());
  EXPECT_THAT(lint_result("t", beside_text("2", R"json({"a":1e999})json"), ""), IsEmpty());
}

TEST(LintTest, ValuesThatAreNestedTooDeeplyAreNotCompared) {
  const auto nested = [](std::size_t depth, const std::string& inner) {
    std::string value = "{\"a\":" + inner + "}";
    for (std::size_t i = 1; i < depth; ++i) value = "{\"a\":" + value + "}";
    return value;
  };
  constexpr std::size_t max = limits::kNestingMax;
  EXPECT_THAT(lint_result("t", beside_text(nested(max, "1"), nested(max, "2")), ""), SizeIs(1));
  EXPECT_THAT(lint_result("t", beside_text(nested(max + 1, "1"), nested(max, "2")), ""), IsEmpty());
  EXPECT_THAT(lint_result("t", beside_text(nested(max, "1"), nested(max + 1, "2")), ""), IsEmpty());
}

TEST(LintTest, TheLastOfTwoMembersWithOneKeyCounts) {
  EXPECT_THAT(lint_result("t", structured(R"json({"a":1,"a":"x"})json"),
                          R"json({"properties":{"a":{"type":"string"}}})json"),
              IsEmpty());
}

}  // namespace
}  // namespace sitter
