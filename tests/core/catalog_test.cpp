#include "core/report/catalog.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

CatalogDiff take(Catalog& catalog, std::vector<std::string> pages) { return catalog.take(pages); }

/// How the change of a tool from `before` to `after` is described. Its name is `t` in both.
std::vector<std::string> details(const std::string& before, const std::string& after,
                                 CatalogKind kind = CatalogKind::tools) {
  Catalog catalog(kind);
  take(catalog, {R"json([{"name":"t",)json" + before + "}]"});
  take(catalog, {R"json([{"name":"t",)json" + after + "}]"});
  const CatalogDiff diff = catalog.diff_since_told();
  if (diff.changed.empty()) return {};
  return diff.changed.front().details;
}

std::vector<std::string> schema_details(const std::string& before, const std::string& after) {
  return details(R"json("inputSchema":)json" + before, R"json("inputSchema":)json" + after);
}

TEST(CatalogTest, NothingIsKnownBeforeTheFirstList) {
  Catalog catalog(CatalogKind::tools);
  EXPECT_FALSE(catalog.is_known());
  EXPECT_THAT(catalog.items(), IsEmpty());
  take(catalog, {"[]"});
  EXPECT_TRUE(catalog.is_known());
}

TEST(CatalogTest, ItemsOfAllPagesAreKeptByteForByte) {
  Catalog catalog(CatalogKind::tools);
  take(catalog, {R"json([{"name" : "b", "x":1.0}, {"name":"a"}])json", R"json([ {"z":0} ])json"});
  EXPECT_THAT(catalog.items(), ElementsAre(R"json({"name" : "b", "x":1.0})json",
                                           R"json({"name":"a"})json", R"json({"z":0})json"));
  EXPECT_THAT(catalog.names(), ElementsAre("b", "a"));
  EXPECT_EQ(catalog.count(), 3u);
}

TEST(CatalogTest, TheFirstItemWithANameIsFound) {
  Catalog catalog(CatalogKind::tools);
  take(catalog, {R"json([{"x":0},{"name":"a","x":1},{"name":"a","x":2}])json"});
  EXPECT_EQ(catalog.find("a"), R"json({"name":"a","x":1})json");
  EXPECT_EQ(catalog.find("b"), "");
  EXPECT_EQ(catalog.find(""), "");
}

TEST(CatalogTest, TheFirstListIsNoChange) {
  Catalog catalog(CatalogKind::tools);
  EXPECT_TRUE(take(catalog, {R"json([{"name":"a"}])json"}).empty());
  EXPECT_TRUE(catalog.diff_since_told().empty());
}

TEST(CatalogTest, ReportsTheDifferenceFromThePreviousList) {
  Catalog catalog(CatalogKind::tools);
  take(catalog, {R"json([{"name":"a"}])json"});
  EXPECT_EQ(summary(CatalogKind::tools, take(catalog, {"[]"})), "-1 removed (a)");
  EXPECT_EQ(summary(CatalogKind::tools, take(catalog, {R"json([{"name":"a"}])json"})),
            "+1 added (a)");
  EXPECT_TRUE(catalog.diff_since_told().empty());
}

TEST(CatalogTest, AfterAnEmptyListEverythingIsAdded) {
  Catalog catalog(CatalogKind::tools);
  take(catalog, {});
  take(catalog, {R"json([{"name":"a"}])json"});
  EXPECT_THAT(catalog.diff_since_told().added, ElementsAre("a"));
}

TEST(CatalogTest, AddedRemovedAndChangedAreToldByName) {
  Catalog catalog(CatalogKind::tools);
  take(catalog, {R"json([{"name":"find"},{"name":"read_file"},{"name":"same"}])json"});
  take(catalog, {R"json([{"name":"read_file","title":"R"},{"name":"search_index"}])json",
                 R"json([{"name":"same"}])json"});
  EXPECT_EQ(summary(CatalogKind::tools, catalog.diff_since_told()),
            "+1 added (search_index), -1 removed (find), 1 schema changed (read_file)");
}

TEST(CatalogTest, NamesAreSorted) {
  Catalog catalog(CatalogKind::tools);
  take(catalog, {});
  take(catalog, {R"json([{"name":"b"},{"name":"a"},{"name":"B"}])json"});
  EXPECT_EQ(summary(CatalogKind::tools, catalog.diff_since_told()), "+3 added (B, a, b)");
}

TEST(CatalogTest, SeveralListsUntilToldMakeOneDiff) {
  Catalog catalog(CatalogKind::tools);
  take(catalog, {R"json([{"name":"a"},{"name":"b"}])json"});
  take(catalog, {R"json([{"name":"a"},{"name":"c"}])json"});
  take(catalog, {R"json([{"name":"a"},{"name":"d"}])json"});
  EXPECT_EQ(summary(CatalogKind::tools, catalog.diff_since_told()), "+1 added (d), -1 removed (b)");
  catalog.mark_told();
  EXPECT_TRUE(catalog.diff_since_told().empty());
}

TEST(CatalogTest, AListThatCameBackIsNoChange) {
  Catalog catalog(CatalogKind::tools);
  take(catalog, {R"json([{"name":"a"}])json"});
  take(catalog, {"[]"});
  take(catalog, {R"json([ {"name": "a"} ])json"});
  EXPECT_TRUE(catalog.diff_since_told().empty());
}

TEST(CatalogTest, EquivalentJsonIsNoChange) {
  EXPECT_THAT(
      details(R"json("inputSchema":{"type":"object","properties":{"n":{"minimum":1}}})json",
              R"json("inputSchema": {"properties":{"n":{"minimum":1.0}}, "type":"object"})json"),
      IsEmpty());
  EXPECT_THAT(
      schema_details(R"json({"required":["a","b"]})json", R"json({"required":["b","a"]})json"),
      IsEmpty());
}

TEST(CatalogTest, ParametersAddedAndRemovedAreTold) {
  EXPECT_THAT(
      schema_details(
          R"json({"properties":{"path":{"type":"string"},"old":{}}})json",
          R"json({"properties":{"path":{"type":"string"},"limit":{"type":"integer"}},"required":["path"]})json"),
      ElementsAre("+limit (integer, optional)", "-old removed", "path now required"));
}

TEST(CatalogTest, ParametersMadeOptionalAreTold) {
  EXPECT_THAT(schema_details(R"json({"properties":{"a":{}},"required":["a"]})json",
                             R"json({"properties":{"a":{}}})json"),
              ElementsAre("a now optional"));
}

TEST(CatalogTest, ChangedTypesAreTold) {
  EXPECT_THAT(schema_details(R"json({"properties":{"limit":{"type":"string"}}})json",
                             R"json({"properties":{"limit":{"type":"integer"}}})json"),
              ElementsAre("limit: string -> integer"));
  EXPECT_THAT(schema_details(
                  R"json({"properties":{"a":{"type":"array","items":{"type":"string"}}}})json",
                  R"json({"properties":{"a":{"anyOf":[{"type":"integer"},{"type":"null"}]}}})json"),
              ElementsAre("a: array of string -> integer|null"));
}

TEST(CatalogTest, OtherKeywordsOfAParameterAreNamed) {
  EXPECT_THAT(schema_details(
                  R"json({"properties":{"a":{"description":"x","default":9007199254740992}}})json",
                  R"json({"properties":{"a":{"description":"y","default":9007199254740993}}})json"),
              ElementsAre("a: default, description changed"));
}

TEST(CatalogTest, TheRestOfTheInputSchemaIsNamed) {
  EXPECT_THAT(schema_details(R"json({"type":"object"})json",
                             R"json({"type":"object","additionalProperties":false})json"),
              ElementsAre("input schema: additionalProperties changed"));
  EXPECT_THAT(schema_details("true", "false"), ElementsAre("input schema changed"));
  EXPECT_THAT(schema_details("{}", R"json({"required":["ghost"]})json"),
              ElementsAre("input schema changed"));
}

TEST(CatalogTest, OtherPartsOfAToolAreNamed) {
  EXPECT_THAT(
      details(R"json("description":"a","annotations":{"readOnlyHint":true})json",
              R"json("description":"b","title":"T","_meta":{})json"),
      ElementsAre("_meta changed", "annotations changed", "description changed", "title changed"));
}

TEST(CatalogTest, AChangedOutputSchemaIsMarked) {
  Catalog catalog(CatalogKind::tools);
  take(catalog, {R"json([{"name":"a","outputSchema":{}},{"name":"b","title":"1"}])json"});
  take(catalog, {R"json([{"name":"a"},{"name":"b","title":"2"}])json"});
  EXPECT_THAT(catalog.diff_since_told().changed,
              ElementsAre(CatalogDiff::Change{"a", {"output schema changed"}, true},
                          CatalogDiff::Change{"b", {"title changed"}, false}));
}

TEST(CatalogTest, AddedToolsComeWithTheirParameters) {
  Catalog catalog(CatalogKind::tools);
  take(catalog, {});
  take(catalog,
       {R"json([{"name":"search_index","inputSchema":{"properties":{)json"
        R"json("query":{"type":"string"},"limit":{"type":"integer"},)json"
        R"json("mode":{"type":"string","enum":["fast","slow"]}},"required":["query"]}},)json"
        R"json({"name":"ping"}])json"});
  EXPECT_THAT(catalog.diff_since_told().signatures,
              ElementsAre("ping: no parameters",
                          "search_index: query (string, required), limit (integer, optional), mode "
                          "(string: fast|slow, optional)"));
}

TEST(CatalogTest, SignaturesAreBounded) {
  std::string properties;
  for (int i = 0; i < 1000; ++i) {
    properties += (i ? ",\"p" : "\"p") + std::to_string(i) + "\":{}";
  }
  Catalog catalog(CatalogKind::tools);
  take(catalog, {});
  take(catalog, {R"json([{"name":"t","inputSchema":{"properties":{)json" + properties + "}}}]"});
  const CatalogDiff diff = catalog.diff_since_told();
  ASSERT_THAT(diff.signatures, ElementsAre(StartsWith("t: p0 ")));
  EXPECT_LE(diff.signatures.front().size(), 1024u + 48u);
}

TEST(CatalogTest, PromptsAreComparedByTheirArguments) {
  EXPECT_THAT(
      details(R"json("arguments":[{"name":"a","required":true},{"name":"b"}])json",
              R"json("arguments":[{"name":"c"},{"name":"a","description":"x"}])json",
              CatalogKind::prompts),
      ElementsAre("+c (optional)", "-b removed", "a now optional", "a: description changed"));
}

TEST(CatalogTest, ReorderedPromptArgumentsAreAChange) {
  EXPECT_THAT(details(R"json("arguments":[{"name":"a"},{"name":"b"}])json",
                      R"json("arguments":[{"name":"b"},{"name":"a"}])json", CatalogKind::prompts),
              ElementsAre("arguments changed"));
}

TEST(CatalogTest, ResourcesAreToldApartByUri) {
  Catalog catalog(CatalogKind::resources);
  take(catalog, {R"json([{"uri":"file:///a","name":"x"},{"uri":"file:///b","name":"x"}])json"});
  take(catalog, {R"json([{"uri":"file:///a","name":"y"},{"uri":"file:///c","name":"x"}])json"});
  const CatalogDiff diff = catalog.diff_since_told();
  EXPECT_EQ(summary(CatalogKind::resources, diff),
            "+1 added (file:///c), -1 removed (file:///b), 1 changed (file:///a)");
  EXPECT_THAT(diff.changed.front().details, ElementsAre("name changed"));
}

TEST(CatalogTest, DuplicatesAndNamelessItemsBreakNothing) {
  Catalog catalog(CatalogKind::tools);
  take(catalog, {R"json([{"name":"a"},{"name":"a","title":"2"},1,{"name":7},null])json"});
  EXPECT_EQ(catalog.count(), 3u);
  take(catalog, {R"json([{"name":"a"},{"name":"a","title":"3"},{}])json"});
  EXPECT_TRUE(catalog.diff_since_told().empty());
}

TEST(CatalogTest, DeepNestingBreaksNothing) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  const std::string deeper = std::string(100'001, '[') + std::string(100'001, ']');
  EXPECT_THAT(details("\"_meta\":" + deep, "\"_meta\":" + deep), IsEmpty());
  EXPECT_THAT(details("\"_meta\":" + deep, "\"_meta\":" + deeper), ElementsAre("_meta changed"));
  std::string schema = "{}";
  std::string other = R"json({"x":1})json";
  for (int i = 0; i < 10'000; ++i) {
    for (std::string* text : {&schema, &other}) text->insert(0, R"json({"anyOf":[)json");
  }
  for (std::string* text : {&schema, &other}) {
    for (int i = 0; i < 10'000; ++i) *text += "]}";
  }
  EXPECT_THAT(schema_details(R"json({"properties":{"p":)json" + schema + "}}",
                             R"json({"properties":{"p":)json" + other + "}}"),
              ElementsAre("p: anyOf changed"));
}

TEST(SummaryTest, NamesOverTheBoundAreCounted) {
  CatalogDiff diff;
  diff.added = {"aaaa", "bbbb", "cccc"};
  EXPECT_EQ(summary(CatalogKind::tools, diff, 16), "+3 added (aaaa, bbbb, cccc)");
  EXPECT_EQ(summary(CatalogKind::tools, diff, 15), "+3 added (aaaa, bbbb, 1 more)");
  EXPECT_EQ(summary(CatalogKind::tools, diff, 0), "+3 added (3 more)");
}

TEST(SummaryTest, NamesStayOnTheLine) {
  CatalogDiff diff;
  diff.removed = {"a\nb\x1b[31m\xFF"};
  EXPECT_EQ(summary(CatalogKind::tools, diff), "-1 removed (a b\uFFFD)");
}

TEST(SummaryTest, NoChangeIsNoText) { EXPECT_EQ(summary(CatalogKind::tools, CatalogDiff()), ""); }

}  // namespace
}  // namespace sitter
