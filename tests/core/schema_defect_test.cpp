#include "core/schema/schema_defect.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace sitter {
namespace {

using ::testing::HasSubstr;

TEST(SchemaDefectTest, ASchemaThatClientsCanUseHasNone) {
  for (
      const std::string schema :
      {R"json({})json",
       R"json(true)json",
       R"json({"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"string"}}})json",
       R"json({"$defs":{"unused":{"type":"int"}}})json",
       R"json({"properties":{"a":{"$ref":"#b"},"c":{"$anchor":"b","type":["string","null"]}}})json",
       R"json({"properties":{"id":{"type":"string"},"required":{"type":"boolean"}}})json",
       R"json({"default":{"type":"int"},"const":null,"examples":7,"more":{"type":"int"}})json",
       R"json({"type":"string","nullable":true,"pattern":"^a$","minLength":1,"format":"other"})json",
       R"json({"items":[{"type":"string"}],"additionalItems":false,"dependencies":{"a":["b"]}})json",
       R"json({"patternProperties":{"(":{}},"type":""})json",
       R"json({"properties":{"a":{"$ref":"#"}}})json",
       R"json({"properties":{"a":{"$id":"http://e.org/a","properties":{"b":{"$ref":"#/$defs/c"}},"$defs":{"c":{}}}}})json",
       R"json({"$ref":"http://json-schema.org/draft-07/schema#"})json",
       R"json({"$defs":{"unused":{"$ref":"other.json"}},"if":{"type":"int"},"additionalItems":{"type":"int"}})json",
       R"json({"anyOf":[{"type":"int"},{}]})json",
       R"json({"then":{"x":1},"else":true})json",
       R"json({"$id":null,"properties":{"a":{"$id":0,"type":"string"},"b":{"$id":5}},"$defs":{"c":{"$id":5}}})json",
       R"json({"$anchor":"x","items":{"$anchor":"x"}})json",
       R"json({"properties":{"a":{"$id":"p","$anchor":"x"},"b":{"$id":"q","$anchor":"x"},"c":{"$anchor":"x"}}})json",
       R"json({"allOf":[{"$id":"http://e/a/","items":{"$id":"p"}},{"$id":"http://e/b/","items":{"$id":"p"}}]})json",
       R"json({"default":{"a":{"$anchor":"x"}},"const":{"$anchor":"x"},"items":{"$anchor":"x"}})json",
       R"json({"examples":[{"$anchor":"x"},{"$anchor":"x"}],"prefixItems":[{"$id":"p"},{"$id":"p"}]})json"}) {
    EXPECT_EQ(schema_defect(schema), "") << schema;
  }
}

TEST(SchemaDefectTest, WhatNoClientCanUseIsNamedWithItsPlace) {
  const std::pair<std::string, std::string> cases[] = {
      {R"json({"properties":{"a":{"exclusiveMinimum":true}}})json",
       "has `exclusiveMinimum` at properties.a that is not a number"},
      {R"json({"required":true})json", "has `required` that is not an array"},
      {R"json({"type":"int"})json", R"(has the type "int", which JSON Schema does not know)"},
      {R"json({"type":["string","any"]})json", R"(has the type "any")"},
      {R"json({"type":null})json", "has `type` that is not a string or an array"},
      {R"json({"pattern":"(?P<x>a)"})json", "has the pattern (?P<x>a) that has a group"},
      {R"json({"type":["null"],"nullable":false})json", "has the type null, and `nullable`"},
      {R"json({"patternProperties":{"(":{"type":"string"}}})json",
       "has the pattern ( at patternProperties that"},
      {R"json({"properties":{"a":{"$ref":"#/$defs/b"}}})json",
       "has the $ref #/$defs/b at properties.a, which leads to nothing"},
      {R"json({"$ref":"#b"})json", "has the $ref #b, which leads to nothing"},
      {R"json({"$ref":"other.json"})json", "has the $ref other.json, which leads out of it"},
      {R"json({"anyOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"type":"int"}}})json",
       R"(has the type "int" at #/$defs/a)"},
      {R"json({"enum":[]})json", "has an empty `enum`"},
      {R"json({"additionalProperties":"false"})json",
       "has `additionalProperties` that is not an object or a boolean"},
      {R"json({"items":null})json", "has `items` that is not an object, an array or a boolean"},
      {R"json({"items":[{"minimum":"1"}]})json", "has `minimum` at items[0] that is not a number"},
      {R"json({"anyOf":[null]})json", "has null at anyOf[0] where a schema belongs"},
      {R"json({"properties":{"a":{"$ref":"#/properties/b"},"b":{"$ref":"#/properties/a"}}})json",
       "has the $ref #/properties/b at properties.a, which leads to itself"},
      {R"json({"properties":{"a":{"$id":"a","$ref":"#/$defs/c"}},"$defs":{"c":{}}})json",
       "which leads to nothing"},
      {R"json({"patternProperties":{"(":false}})json", "has the pattern"},
      {R"json({"format":5})json", "has `format` that is not a string"},
      {R"json({"type":[],"nullable":true})json", "has `nullable` without"},
      {R"json({"nullable":true})json", "has `nullable` without a `type`"},
      {R"json({"items":{"id":"a"}})json", "has the keyword id at items, which is $id"},
      {R"json({"$id":5})json", "has `$id` that is not a string"},
      {R"json({"items":{"$id":{},"type":"string"}})json",
       "has `$id` at items that is not a string"},
      {R"json({"$defs":{"a":{"$anchor":"x"},"b":{"$anchor":"x"}}})json",
       "has several parts with the $anchor x"},
      {R"json({"items":{"$anchor":"x","$dynamicAnchor":"x"}})json", "the $dynamicAnchor x"},
      {R"json({"items":[{"$id":"#x"},{"$anchor":"x"}]})json", "the $anchor x"},
      {R"json({"more":{"a":{"$anchor":"x"},"b":{"$anchor":"x"}}})json", "the $anchor x"},
      {R"json({"properties":{"a":{"$id":"p"},"b":{"$id":"p#"}}})json",
       "has several parts with the $id p#"},
      {R"json({"$id":"http://e/p","items":{"$id":"p"}})json", "the $id p"},
      {R"json({"allOf":[{"$id":"http://e/a/","items":{"$id":"http://e/p"}},{"$id":"http://e/p"}]})json",
       "the $id http://e/p"},
      {R"json({"properties":[]})json", "has `properties` that is not an object"},
  };
  for (const auto& [schema, words] : cases) {
    EXPECT_THAT(schema_defect(schema), HasSubstr(words)) << schema;
  }
}

TEST(SchemaDefectTest, ManyReferencesToAnAnchorAreReadAtOnce) {
  std::string parts = R"json({"$anchor":"a"})json";
  for (int i = 0; i < 4000; ++i) parts += R"json(,{"$ref":"#a"})json";
  EXPECT_EQ(schema_defect(R"json({"allOf":[)json" + parts + "]}"), "");
}

}  // namespace
}  // namespace sitter
