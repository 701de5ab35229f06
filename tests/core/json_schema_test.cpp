#include "core/cli/json_schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

bool fits(std::string_view schema, std::string_view value) {
  return !JsonSchema(schema).check(value);
}

/// "place: what"
std::string violation(std::string_view schema, std::string_view value) {
  const auto found = JsonSchema(schema).check(value);
  return found ? found->place + ": " + found->what : "";
}

struct Row {
  const char* schema;
  const char* fits;
  const char* does_not;
};

class JsonSchemaTest : public testing::TestWithParam<Row> {};

TEST_P(JsonSchemaTest, AKeywordAllowsAndForbids) {
  EXPECT_TRUE(fits(GetParam().schema, GetParam().fits));
  EXPECT_FALSE(fits(GetParam().schema, GetParam().does_not));
}

INSTANTIATE_TEST_SUITE_P(
    Keywords, JsonSchemaTest,
    testing::Values(
        Row{R"json({"type":"string"})json", R"json("a")json", "1"},
        Row{R"json({"type":"integer"})json", "1.0", "1.5"},
        Row{R"json({"type":"number"})json", "1.5", R"json("1")json"},
        Row{R"json({"type":["null","array"]})json", "null", "{}"},
        Row{R"json({"type":"boolean"})json", "true", "0"},
        Row{R"json({"enum":[1,"a",{"x":[1]}]})json", R"json({"x":[1.0]})json", "2"},
        Row{R"json({"const":{"a":1,"b":2}})json", R"json({"b":2,"a":1})json", R"json({"a":1})json"},
        Row{R"json({"minimum":2})json", "2", "1.9"}, Row{R"json({"maximum":2})json", "2", "2.1"},
        Row{R"json({"exclusiveMinimum":2})json", "2.1", "2"},
        Row{R"json({"exclusiveMaximum":2})json", "1.9", "2"},
        Row{R"json({"multipleOf":0.0001})json", "0.0075", "0.00751"},
        Row{R"json({"minLength":2})json", R"json("üü")json", R"json("ü")json"},
        Row{R"json({"maxLength":2})json", R"json("üü")json", R"json("üüü")json"},
        Row{R"json({"pattern":"^a+$"})json", R"json("aa")json", R"json("ab")json"},
        Row{R"json({"minItems":1})json", "[1]", "[]"},
        Row{R"json({"maxItems":1})json", "[1]", "[1,2]"},
        Row{R"json({"uniqueItems":true})json", R"json([1,"1",[1],[2]])json", "[1,2,1.0]"},
        Row{R"json({"items":{"type":"string"}})json", "[]", "[1]"},
        Row{R"json({"prefixItems":[{"type":"string"}],"items":{"type":"number"}})json",
            R"json(["a",1])json", "[1]"},
        Row{R"json({"items":[{"type":"string"}],"additionalItems":false})json", R"json(["a"])json",
            R"json(["a",1])json"},
        Row{R"json({"contains":{"const":1}})json", "[2,1]", "[2]"},
        Row{R"json({"contains":{"const":1},"minContains":0,"maxContains":1})json", "[]", "[1,1]"},
        Row{R"json({"required":["a"]})json", R"json({"a":null})json", "{}"},
        Row{R"json({"properties":{"a":{"type":"string"}}})json", R"json({"b":1})json",
            R"json({"a":1})json"},
        Row{R"json({"properties":{"a":{}},"patternProperties":{"^x":{}},"additionalProperties":false})json",
            R"json({"a":1,"xx":1})json", R"json({"b":1})json"},
        Row{R"json({"additionalProperties":{"type":"number"}})json", R"json({"a":1})json",
            R"json({"a":"1"})json"},
        Row{R"json({"propertyNames":{"maxLength":1}})json", R"json({"a":1})json",
            R"json({"ab":1})json"},
        Row{R"json({"minProperties":1})json", R"json({"a":1})json", "{}"},
        Row{R"json({"maxProperties":1})json", R"json({"a":1})json", R"json({"a":1,"b":1})json"},
        Row{R"json({"dependentRequired":{"a":["b"]}})json", R"json({"b":1})json",
            R"json({"a":1})json"},
        Row{R"json({"dependencies":{"a":{"required":["b"]}}})json", R"json({"a":1,"b":1})json",
            R"json({"a":1})json"},
        Row{R"json({"allOf":[{"minimum":1},{"maximum":2}]})json", "1", "3"},
        Row{R"json({"anyOf":[{"minimum":5},{"maximum":2}]})json", "1", "3"},
        Row{R"json({"oneOf":[{"minimum":2},{"maximum":4}]})json", "1", "3"},
        Row{R"json({"not":{"const":1}})json", "2", "1"},
        Row{R"json({"if":{"const":1},"then":false,"else":{"minimum":3}})json", "3", "2"},
        Row{R"json({"$defs":{"a/b":{"type":"string"}},"items":{"$ref":"#/$defs/a~1b"}})json",
            R"json(["a"])json", "[1]"},
        Row{R"json({"properties":{"next":{"$ref":"#"}},"additionalProperties":false})json",
            R"json({"next":{"next":{}}})json", R"json({"next":{"nxt":{}}})json"}));

TEST(JsonSchemaWordsTest, AViolationNamesThePlaceAndShowsThePart) {
  const auto found =
      JsonSchema(
          R"json({"properties":{"a":{"items":{"properties":{"b":{"type":"integer","minimum":1}}}}}})json")
          .check(R"json({"a":[{},{"b":"x"}]})json");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->place, "a[1].b");
  EXPECT_EQ(found->what, "is not of type integer");
  EXPECT_EQ(found->part, R"json({"type":"integer","minimum":1})json");
  EXPECT_EQ(violation(R"json({"required":["text"]})json", "{}"), ": has no member `text`");
  EXPECT_EQ(violation(R"json({"additionalProperties":false})json", R"json({"x":1})json"),
            "x: is no known member");
  EXPECT_EQ(violation(R"json({"maximum":3})json", "4"), ": is more than the maximum 3");
  EXPECT_EQ(violation(R"json({"minItems":2})json", "[1]"), ": has 1 items, and needs at least 2");
}

TEST(JsonSchemaWordsTest, WhatIsNotCheckedIsSaid) {
  const JsonSchema schema(
      R"json({"properties":{"a":{"pattern":"(?=x)"},"b":{"$ref":"http://x/y"},"pattern":{"type":"string"}}})json");
  ASSERT_EQ(schema.unchecked().size(), 2U);
  EXPECT_THAT(schema.unchecked()[0], HasSubstr("the pattern (?=x)"));
  EXPECT_EQ(schema.unchecked()[1], "the reference http://x/y does not point into the schema");
  EXPECT_FALSE(schema.check(R"json({"a":"y","b":1})json"));
}

TEST(JsonSchemaWordsTest, ASchemaThatNeverEndsIsGivenUp) {
  EXPECT_TRUE(fits(R"json({"$ref":"#"})json", "1"));
  EXPECT_TRUE(fits(R"json({"anyOf":[{"$ref":"#"},{"$ref":"#"}]})json", "1"));
}

}  // namespace
}  // namespace sitter
