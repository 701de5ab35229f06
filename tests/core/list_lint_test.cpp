#include "core/report/list_lint.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "core/base/json_text.hpp"
#include "core/report/lint.hpp"
#include "core/report/lint_findings.hpp"
#include "core/wire/json_view.hpp"
#include "sitter/line.hpp"
#include "support/messages.hpp"

namespace sitter {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

ListLint lint_of(const std::vector<std::string>& items, Method method = Method::tools_list,
                 Revision revision = Revision::session) {
  FineItems fine;
  return lint_list(method, revision, fmt::format("[{}]", fmt::join(items, ",")), fine);
}

std::vector<std::string> lint(const std::vector<std::string>& items) {
  return lint_of(items).findings;
}

/// The findings in a tool `t` with this raw input schema.
std::vector<std::string> lint_input(const std::string& schema) {
  return lint({R"json({"name":"t","inputSchema":)json" + schema + "}"});
}

std::string with_reference(const std::string& raw) {
  return R"json({"type":"object","properties":{"x":{"items":{"$ref":)json" + raw + "}}}}";
}

TEST(ListLintTest, AListThatClientsTakeStaysAsItIs) {
  const ListLint found = lint_of({tool("a"), R"json({ "name" : "b", "inputSchema":{"type":"object"},
      "annotations":{},"more":null})json"});
  EXPECT_THAT(found.findings, IsEmpty());
  EXPECT_EQ(found.kept, std::nullopt);
}

TEST(ListLintTest, OptionalMembersThatAreNullAreLeftOut) {
  const ListLint found = lint_of(
      {R"json({"name":"t","title":null,"description":null,"inputSchema":{"type":"object",)json"
       R"json("properties":null,"x":null},"annotations":{"title":null,"readOnlyHint":true},)json"
       R"json("icons":[{"src":"a"},{"src":"b","theme":null}]})json",
       tool("a")});
  EXPECT_THAT(found.findings,
              ElementsAre(R"(tool "t": annotations.title, description, icons[1].theme, )"
                          "inputSchema.properties, title are null, so clients drop the whole list; "
                          "mcp-sitter leaves them out"));
  EXPECT_EQ(found.kept,
            R"json([{"name":"t","inputSchema":{"type":"object","x":null},)json"
            R"json("annotations":{"readOnlyHint":true},"icons":[{"src":"a"},{"src":"b"}]},)json" +
                tool("a") + "]");
}

TEST(ListLintTest, AnItemThatClientsRefuseIsLeftOut) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"json({"name":"t"})json", R"(tool "t": it has no member `inputSchema`)"},
      {R"json({"name":"t","inputSchema":null})json",
       R"(tool "t": inputSchema is not of type object)"},
      {R"json({"name":"t","inputSchema":{}})json", R"(tool "t": inputSchema has no member `type`)"},
      {R"json({"name":"t","inputSchema":{"type":"array"}})json",
       R"(tool "t": inputSchema.type is not the allowed value)"},
      {R"json({"inputSchema":{"type":"object"}})json", "tool number 2: it has no member `name`"},
      {R"json({"name":7,"inputSchema":{"type":"object"}})json",
       "tool number 2: name is not of type string"},
      {R"json({"name":"t","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":"yes"}})json",
       R"(tool "t": annotations.readOnlyHint is not of type boolean)"},
      {"7", "tool number 2: it is not of type object"}};
  for (const auto& [item, words] : cases) {
    const ListLint found = lint_of({tool("a"), item, tool("b")});
    EXPECT_THAT(found.findings,
                ElementsAre(words + ", so clients drop the whole list; mcp-sitter leaves the tool "
                                    "out"));
    EXPECT_EQ(found.kept, "[" + tool("a") + "," + tool("b") + "]");
  }
}

TEST(ListLintTest, AnOutputSchemaThatNoClientCanUseIsLeftOut) {
  const ListLint found = lint_of({tool(
      "t", R"json(,"outputSchema":{"type":"object","properties":{"a":{"type":"int"}}})json")});
  EXPECT_THAT(
      found.findings,
      ElementsAre(R"(tool "t": outputSchema has the type "int" at properties.a, which JSON )"
                  "Schema does not know, so the official TypeScript client drops the whole "
                  "list; mcp-sitter leaves the outputSchema out"));
  EXPECT_TRUE(json_same(found.kept.value_or(""), "[" + tool("t") + "]"));
  EXPECT_THAT(
      lint({tool("t", R"json(,"outputSchema":)json" + with_reference(R"json("a")json"))}),
      ElementsAre(HasSubstr("outputSchema has the $ref a at properties.x.items, which leads out")));
}

TEST(ListLintTest, OtherListsAreLintedToo) {
  EXPECT_THAT(lint_of({R"json({"name":"p","arguments":null})json"}, Method::prompts_list).findings,
              ElementsAre(HasSubstr(R"(prompt "p": arguments is null)")));
  EXPECT_THAT(lint_of({R"json({"uri":"x:a"})json"}, Method::resources_list).findings,
              ElementsAre(HasSubstr(R"(resource "x:a": it has no member `name`)")));
  EXPECT_THAT(
      lint_of({R"json({"name":"x","uriTemplate":7})json"}, Method::resource_templates_list)
          .findings,
      ElementsAre(HasSubstr(R"(resource template "x": uriTemplate is not of type string)")));
}

TEST(ListLintTest, EachRevisionHasItsSchema) {
  const std::vector<std::string> items = {tool("t", R"json(,"outputSchema":{"type":"array"})json")};
  EXPECT_THAT(lint_of(items, Method::tools_list, Revision::session).findings, SizeIs(1));
  EXPECT_THAT(lint_of(items, Method::tools_list, Revision::stateless).findings, IsEmpty());
}

TEST(ListLintTest, ALongItemStaysAsItIs) {
  const auto padded = [](std::size_t size) {
    std::string item = R"json({"name":"t"})json";
    item.insert(1, size - item.size(), ' ');
    return item;
  };
  EXPECT_THAT(lint({padded(limits::kLintItemMax)}), SizeIs(1));
  EXPECT_THAT(lint({padded(limits::kLintItemMax + 1)}), IsEmpty());
}

TEST(ListLintTest, AnItemThatIsFineIsKnownAgain) {
  FineItems fine;
  const std::string good = tool("t");
  lint_list(Method::tools_list, Revision::session, "[" + good + R"json(,{"name":"u"}])json", fine);
  EXPECT_THAT(fine, SizeIs(1));
  EXPECT_THAT(
      lint_list(Method::prompts_list, Revision::session, R"json([{"title":7}])json", fine).findings,
      SizeIs(1));
  lint_list(Method::tools_list, Revision::stateless, "[" + good + "]", fine);
  EXPECT_THAT(fine, SizeIs(2));
  for (std::size_t i = fine.size(); i < limits::kFineItemsMax; ++i) fine.insert(i);
  lint_list(Method::tools_list, Revision::session, "[" + tool("v") + "]", fine);
  EXPECT_THAT(fine, SizeIs(limits::kFineItemsMax));
}

/// The page as the client gets it, if its items are fine.
std::string mended(const std::string& result) {
  const OwnedLine line(result);
  Edits edits(line.line());
  mend_page(Method::tools_list, line.text(), edits);
  return edits.apply();
}

TEST(ListLintTest, WhatStandsAroundTheItemsIsMended) {
  const std::vector<std::array<std::string, 3>> cases = {
      {R"json({"tools":[7],"nextCursor":"a","more":null})json",
       R"json({"tools":[7],"nextCursor":"a","more":null})json", ""},
      {R"json({"tools":[], "nextCursor" :null,"_meta":{}})json",
       R"json({"tools":[], "_meta":{}})json", "nextCursor is null"},
      {R"json({"tools":[],"nextCursor":7})json", R"json({"tools":[]})json",
       "nextCursor is not of type string"},
      {R"json({"nextCursor":{},"tools":[]})json", R"json({"tools":[]})json",
       "nextCursor is not of type string"},
      {R"json({ "nextCursor" : 7 })json", R"json({ "tools":[] })json",
       "nextCursor is not of type string"},
      {R"json({})json", R"json({"tools":[]})json", "the result has no member `tools`"},
      {R"json({"x":[ ]})json", R"json({"x":[ ],"tools":[]})json",
       "the result has no member `tools`"},
      {R"json({"tools": null })json", R"json({"tools": [] })json", "tools is not of type array"},
      {R"json({"tools":{},"nextCursor":false})json", R"json({"tools":[]})json",
       "tools is not of type array"},
      {R"json({"_meta":null,"tools":[],"nextCursor":null})json",
       R"json({"_meta":{},"tools":[]})json", "_meta is null"},
  };
  for (const auto& [result, kept, words] : cases) {
    EXPECT_EQ(mended(result), kept) << result;
    const auto found = lint_page(Method::tools_list, Revision::session, result);
    if (words.empty()) {
      EXPECT_THAT(found, IsEmpty());
    } else {
      EXPECT_THAT(found, Contains(AllOf(StartsWith("tools/list: " + words + ", so clients drop"),
                                        HasSubstr("; mcp-sitter "))));
    }
  }
}

TEST(ListLintTest, WhatCannotBeMendedAroundTheItemsIsNamed) {
  EXPECT_THAT(lint_page(Method::tools_list, Revision::session,
                        R"json({"nextCursor":null,"tools":[],"nextCursor":null})json"),
              ElementsAre("tools/list: nextCursor is not of type string, so clients drop the whole "
                          "list"));
  EXPECT_THAT(lint_page(Method::tools_list, Revision::session, "[]"), IsEmpty());
}

TEST(ListLintTest, AListOfTheStatelessRevisionHasAType) {
  const auto lint_type = [](const std::string& type, Revision revision = Revision::stateless) {
    return lint_page(Method::tools_list, revision,
                     R"json({"tools":[],"ttlMs":0,"cacheScope":"private")json" + type + "}");
  };
  EXPECT_THAT(lint_type(R"json(,"resultType":"complete")json"), IsEmpty());
  EXPECT_THAT(lint_type("", Revision::session), IsEmpty());
  EXPECT_THAT(lint_type(""),
              ElementsAre("tools/list: the result has no member `resultType`, so clients reject "
                          "the result; mcp-sitter makes it \"complete\""));
  for (const std::string type : {"null", "7", "\"foo\""}) {
    EXPECT_THAT(lint_type(",\"resultType\":" + type),
                ElementsAre("tools/list: resultType is " + type +
                            ", so clients reject the result; "
                            "mcp-sitter makes it \"complete\""));
  }
}

TEST(ListLintTest, AnItemThatIsNoJsonIsLeftOut) {
  const std::string bad =
      R"json({"name":"t","inputSchema":{"type":"object","properties":{"a":{"default":NaN}}}})json";
  const ListLint found = lint_of({tool("a"), bad, tool("b")});
  EXPECT_THAT(
      found.findings,
      ElementsAre(R"(tool "t": it is not valid JSON (in Python, allow_nan=False finds )"
                  "the place), so clients drop the whole list; mcp-sitter leaves the tool out"));
  EXPECT_EQ(found.kept, "[" + tool("a") + "," + tool("b") + "]");
}

TEST(ListLintTest, AUsualToolHasNoFinding) {
  EXPECT_THAT(lint({tool("add"), tool("sub", R"json(,"outputSchema":{"type":"object"})json")}),
              IsEmpty());
  EXPECT_THAT(lint({}), IsEmpty());
}

TEST(ListLintTest, AReferenceMustStayWithinTheSchema) {
  EXPECT_THAT(lint_input(with_reference(R"json("#/$defs/x")json")), IsEmpty());
  EXPECT_THAT(lint_input(with_reference(R"json("#")json")), IsEmpty());
  EXPECT_THAT(lint_input(with_reference(R"json("defs.json#/x")json")),
              ElementsAre(R"(tool "t": the $ref "defs.json#/x" in inputSchema leads out of the )"
                          "schema, so clients drop the tool or the whole list; write the "
                          "definition into $defs"));
}

TEST(ListLintTest, OnlyAStringIsAReference) {
  EXPECT_THAT(lint_input(with_reference(R"json({"type":"string"})json")), IsEmpty());
  EXPECT_THAT(lint_input(with_reference(R"json(["a"])json")), IsEmpty());
  EXPECT_THAT(lint_input(R"json({"type":"object","description":"$ref","title":"a"})json"),
              IsEmpty());
}

TEST(ListLintTest, AReferenceToAnIdOfTheSameSchemaStaysWithinIt) {
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

TEST(ListLintTest, OnlyASchemaHasAnId) {
  const auto lint_beside = [](const std::string& members) {
    return lint_input(R"json({"type":"object","allOf":[{"$ref":"x"}],)json" + members + "}");
  };
  EXPECT_THAT(lint_beside(R"json("not":{"$id":"x"})json"), IsEmpty());
  EXPECT_THAT(lint_beside(R"json("$id":"x")json"), IsEmpty());
  for (const std::string no_id :
       {R"json("const":{"$id":"x"})json", R"json("properties":{"$id":["x"]})json",
        R"json("not":{"$id":7})json", R"json("not":{"$id":""})json", R"json("$anchor":"x")json"}) {
    EXPECT_THAT(lint_beside(no_id), SizeIs(1)) << no_id;
  }
}

TEST(ListLintTest, AReferenceInDataIsNoReference) {
  for (const std::string data :
       {R"json("const":{"$ref":"a"})json", R"json("default":{"x":{"$ref":"a"}})json",
        R"json("enum":[{"$ref":"a"}])json", R"json("example":{"$ref":"a"})json",
        R"json("examples":[[{"$ref":"a"}]])json"}) {
    EXPECT_THAT(lint_input(R"json({"type":"object","properties":{"x":{)json" + data + "}}}"),
                IsEmpty())
        << data;
  }
}

TEST(ListLintTest, ADefinitionMayHaveAnyName) {
  const auto with_named = [](const std::string& word, const std::string& name,
                             const std::string& schema) {
    return lint_input(R"json({"type":"object",")json" + word + R"json(":{")json" + name +
                      "\":" + schema + "}}");
  };
  for (const std::string word : {"properties", "patternProperties", "$defs", "definitions",
                                 "dependentSchemas", "dependencies"}) {
    EXPECT_THAT(with_named(word, "$ref", R"json(["a"])json"), IsEmpty()) << word;
    for (const std::string name : {"const", "enum", "properties"}) {
      EXPECT_THAT(with_named(word, name, R"json({"$ref":"a"})json"), SizeIs(1)) << word << name;
    }
  }
}

TEST(ListLintTest, ALongOrDeepSchemaIsNotSearchedForReferences) {
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

TEST(ListLintTest, ANameMustBeOneThatAllClientsTake) {
  const std::string longest(limits::kToolNameMax, 'x');
  EXPECT_THAT(lint({tool("aZ09_.-"), tool(longest)}), IsEmpty());
  EXPECT_THAT(lint({tool("a b")}),
              ElementsAre(R"(tool "a b": clients refuse this name; write 1 to 128 of the )"
                          "characters A-Z, a-z, 0-9, _, - and ."));
  EXPECT_THAT(lint({tool("")}), ElementsAre(HasSubstr("tool \"\": clients refuse this name")));
  EXPECT_THAT(lint({tool("é")}), ElementsAre(HasSubstr("tool \"é\": clients refuse this name")));
  EXPECT_THAT(lint({tool(longest + "x")}), ElementsAre(HasSubstr("clients refuse this name")));
}

TEST(ListLintTest, TwoToolsOfOneNameAreOneFinding) {
  EXPECT_THAT(lint({tool("a"), tool("b"), tool("a"), tool("a")}),
              ElementsAre("tool \"a\": several tools have this name, so clients drop a tool or the "
                          "whole list"));
}

TEST(ListLintTest, AFindingStaysOnOneShortLine) {
  const std::string name = R"json(a\nb)json" + std::string(1000, 'x');
  for (const std::string& finding : lint({tool(name)})) {
    EXPECT_THAT(finding, AllOf(HasSubstr("tool \"a bxx"), Not(HasSubstr("\n"))));
    EXPECT_LT(finding.size(), 300u);
  }
}

TEST(ListLintTest, FindingsHaveABound) {
  std::vector<std::string> items;
  for (std::size_t i = 0; i < limits::kLintFindingsMax; ++i) {
    items.push_back(R"json({"name":"t)json" + std::to_string(i) + R"json(","inputSchema":{}})json");
  }
  EXPECT_THAT(lint(items), SizeIs(limits::kLintFindingsMax));
  items.push_back(R"json({"name":"more","inputSchema":{}})json");
  EXPECT_THAT(lint(items), SizeIs(limits::kLintFindingsMax));
}

}  // namespace
}  // namespace sitter
