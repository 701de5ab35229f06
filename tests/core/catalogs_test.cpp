#include "core/tell/catalogs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace sitter {
namespace {

using ::testing::ElementsAre;

ListSurvey::List tools(const std::string& items,
                       ListSurvey::List::State state = ListSurvey::List::State::complete) {
  ListSurvey::List list;
  list.kind = CatalogKind::tools;
  list.state = state;
  list.pages = {items};
  return list;
}

constexpr std::string_view kFirst = R"json([{"name":"a","outputSchema":{"type":"object"}}])json";
constexpr std::string_view kSecond = R"json([{"name":"a","outputSchema":{"type":"array"}}])json";

TEST(CatalogsTest, ARespawnIsComparedWithTheChildBeforeIt) {
  Catalogs catalogs;
  catalogs.take({tools(std::string(kFirst))}, false);
  EXPECT_FALSE(catalogs.last_tools_diff()) << "there was nothing before it";
  const auto comparison = catalogs.take({tools(std::string(kSecond))}, true);
  EXPECT_THAT(comparison.changed, ElementsAre(true, false, false));
  EXPECT_THAT(comparison.output_changed, ElementsAre("a"));
  EXPECT_TRUE(comparison.are_tools_known);
  EXPECT_EQ(catalogs.last_tools_diff()->changed.size(), 1u);
}

TEST(CatalogsTest, AListThatDidNotComeIsNotCompared) {
  Catalogs catalogs;
  catalogs.take({tools(std::string(kFirst))}, false);
  const auto comparison = catalogs.take({tools("[]", ListSurvey::List::State::failed)}, true);
  EXPECT_THAT(comparison.not_compared, ElementsAre(CatalogKind::tools));
  EXPECT_FALSE(comparison.are_tools_known);
  EXPECT_EQ(catalogs.tools().count(), 1u);
}

TEST(CatalogsTest, AKindThatTheRespawnedChildIsNotAskedForIsEmpty) {
  Catalogs catalogs;
  catalogs.take({tools(std::string(kFirst))}, false);
  EXPECT_THAT(catalogs.take({}, true).changed, ElementsAre(true, false, false));
  EXPECT_EQ(catalogs.tools().count(), 0u);
}

TEST(CatalogsTest, TheLastListIsShownWithExtraItemsAtItsEnd) {
  Catalogs catalogs;
  catalogs.take_page(CatalogKind::tools, R"json([{"name":"a"}])json");
  EXPECT_EQ(catalogs.last_list(Method::tools_list, {R"json({"name":"b"})json"}),
            R"json({"tools":[{"name":"a"},{"name":"b"}]})json");
  EXPECT_FALSE(catalogs.of(CatalogKind::prompts).is_known());
  EXPECT_EQ(catalogs.last_list(Method::prompts_list, {}), R"json({"prompts":[]})json");
  EXPECT_TRUE(catalogs.of(CatalogKind::prompts).is_known()) << "the client knows it now";
}

TEST(CatalogsTest, TemplatesAreThoseOfAllPagesUpToABound) {
  Catalogs catalogs;
  catalogs.take_templates(R"json([{"a":1}])json", true);
  catalogs.take_templates(R"json([{"b":1}])json", false);
  EXPECT_EQ(catalogs.last_list(Method::resource_templates_list, {}),
            R"json({"resourceTemplates":[{"a":1},{"b":1}]})json");
  for (std::size_t i = 2; i <= limits::kTemplatesMax; ++i) catalogs.take_templates("[7]", false);
  const std::string full = catalogs.last_list(Method::resource_templates_list, {});
  catalogs.take_templates("[8]", false);
  EXPECT_EQ(catalogs.last_list(Method::resource_templates_list, {}), full);
  catalogs.take_templates("[9]", true);
  EXPECT_EQ(catalogs.last_list(Method::resource_templates_list, {}),
            R"json({"resourceTemplates":[9]})json");
}

}  // namespace
}  // namespace sitter
