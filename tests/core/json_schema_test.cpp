#include "core/schema/json_schema.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/json_text.hpp"

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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
        Row{R"json({"$defs":{"List<a%>":{"type":"string"}},"$ref":"#/$defs/List%3Ca%25%3e"})json",
            R"json("a")json", "1"},
        Row{R"json({"$defs":{"%4":{"type":"string"}},"$ref":"#/$defs/%4"})json", R"json("a")json",
            "1"},
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
  EXPECT_EQ(found->part, R"json({"minimum":1,"type":"integer"})json");
  EXPECT_EQ(violation(R"json({"required":["text"]})json", "{}"), ": has no member `text`");
  EXPECT_EQ(violation(R"json({"additionalProperties":false})json", R"json({"x":1})json"),
            "x: is not a known member");
  EXPECT_EQ(violation(R"json({"maximum":3})json", "4"), ": is more than the maximum 3");
  EXPECT_EQ(violation(R"json({"minItems":2})json", "[1]"), ": has 1 item, and needs at least 2");
}

TEST(JsonSchemaWordsTest, WhatIsNotCheckedIsSaid) {
  const JsonSchema schema(
      R"json({"properties":{"a":{"pattern":"(?=x)"},"b":{"$ref":"http://x/y"},"pattern":{"type":"string"}},"unevaluatedProperties":false})json");
  ASSERT_EQ(schema.unchecked().size(), 3U);
  EXPECT_THAT(schema.unchecked()[0], HasSubstr("the pattern (?=x)"));
  EXPECT_EQ(schema.unchecked()[1], "the reference http://x/y does not point into the schema");
  EXPECT_EQ(schema.unchecked()[2], "the keyword unevaluatedProperties is not known");
  EXPECT_FALSE(schema.check(R"json({"a":"y","b":1})json"));
}

TEST(JsonSchemaWordsTest, UncheckedKeywordsNeverRejectAValue) {
  for (const std::string& unknown :
       {std::string(R"json({"pattern":"(?=x)"})json"), std::string(R"json({"$ref":"x"})json"),
        std::string(R"json({"$dynamicRef":"#x"})json"),
        std::string(R"json({"allOf":[{"unevaluatedItems":false}]})json"),
        std::string(R"json({"anyOf":[{"$ref":"x"},false]})json"),
        std::string(R"json({"oneOf":[{"$ref":"x"},false]})json"),
        std::string(R"json({"not":{"$ref":"x"}})json"),
        std::string(R"json({"if":{"$ref":"x"},"then":false})json")}) {
    EXPECT_TRUE(fits("{\"not\":" + unknown + "}", R"json("a")json")) << unknown;
    EXPECT_TRUE(fits("{\"oneOf\":[{}," + unknown + "]}", R"json("a")json")) << unknown;
    EXPECT_TRUE(fits("{\"oneOf\":[" + unknown + "]}", R"json("a")json")) << unknown;
    EXPECT_FALSE(fits("{\"oneOf\":[{},{}," + unknown + "]}", R"json("a")json")) << unknown;
    EXPECT_FALSE(fits("{\"oneOf\":[false]}", R"json("a")json")) << unknown;
    EXPECT_TRUE(
        fits("{\"if\":" + unknown + R"json(,"then":false,"else":false})json", R"json("a")json"))
        << unknown;
    EXPECT_TRUE(fits("{\"maxContains\":0,\"minContains\":0,\"contains\":" + unknown + "}",
                     R"json(["a"])json"))
        << unknown;
    EXPECT_TRUE(fits("{\"contains\":" + unknown + "}", R"json(["a"])json")) << unknown;
    // What is checked beside it counts.
    EXPECT_FALSE(
        fits("{\"not\":{\"not\":{\"allOf\":[" + unknown + R"json(,{"type":"string"}]}}})json", "1"))
        << unknown;
  }
  const std::string_view by_pattern =
      R"json({"patternProperties":{"(?=x)":{"type":"string"}},"additionalProperties":false})json";
  EXPECT_TRUE(fits(by_pattern, R"json({"y":1})json"));
}

TEST(JsonSchemaWordsTest, APropertyMayHaveTheNameOfAKeyword) {
  for (const std::string name : {"default", "examples", "enum", "const", "pattern", "$ref"}) {
    const std::string schema =
        "{\"properties\":{\"" + name + R"json(":{"type":"string","pattern":"^a"}}})json";
    EXPECT_THAT(JsonSchema(schema).unchecked(), IsEmpty()) << name;
    EXPECT_TRUE(fits(schema, "{\"" + name + "\":\"a\"}")) << name;
    EXPECT_FALSE(fits(schema, "{\"" + name + "\":\"b\"}")) << name;
  }
  EXPECT_THAT(JsonSchema(R"json({"properties":{"$dynamicRef":{}},"default":{"pattern":"("}})json")
                  .unchecked(),
              IsEmpty());
}

TEST(JsonSchemaWordsTest, NamesValuesThatTheLibraryCannotRead) {
  const std::string_view schema = R"json({"type":"object"})json";
  constexpr const char* kWhat =
      ": has half of a surrogate pair, or a number beyond the range of a double";
  EXPECT_EQ(violation(schema, R"json({"a":1,"b":[1e400]})json"), std::string("b") + kWhat);
  EXPECT_EQ(violation(schema, R"json({"text":"\ud800"})json"), std::string("text") + kWhat);
  EXPECT_EQ(violation("{}", R"json(["\udc00"])json"), kWhat);
  EXPECT_TRUE(
      fits(schema, R"json({"a":1e308,"b":123456789012345678901234567890,"c":"\ud83d\ude00"})json"));
}

TEST(JsonSchemaWordsTest, AnUnreadableValueDoesNotHideOtherViolations) {
  const std::string_view schema =
      R"json({"properties":{"m":{"enum":["safe"]}},"required":["m"]})json";
  constexpr const char* kWhat =
      "z: has half of a surrogate pair, or a number beyond the range of a double";
  for (const std::string unreadable :
       {"1e400", "-1e400", R"json("\ud800")json", R"json([0,{"y":[[1e400]]}])json",
        R"json({"y":{"x":"\udc00 "}})json", R"json([{"\ud800":1}])json"}) {
    for (const std::string m : {"safe", "evil"}) {
      EXPECT_EQ(violation(schema, "{\"m\":\"" + m + "\",\"z\":" + unreadable + "}"), kWhat);
      EXPECT_EQ(violation(schema, "{\"z\":" + unreadable + ",\"m\":\"" + m + "\"}"), kWhat);
    }
    EXPECT_NE(violation("{}", unreadable), "") << unreadable;
    EXPECT_NE(violation("true", unreadable), "") << unreadable;
  }
  EXPECT_NE(violation(schema, R"json({"m":"safe","\ud800":1})json"), "");
}

TEST(JsonSchemaWordsTest, OfAMemberThatIsWrittenTwiceTheLastValueCounts) {
  const std::string_view schema = R"json({"properties":{"a":{"type":"string"}}})json";
  EXPECT_TRUE(fits(schema, R"json({"a":1,"a":"x"})json"));
  EXPECT_FALSE(fits(schema, R"json({"a":"x","\u0061":1})json"));
}

TEST(JsonSchemaWordsTest, KeysMayContainANul) {
  const std::string_view schema =
      R"json({"properties":{"a":{},"b\u0000c":{"type":"string"}},"additionalProperties":false})json";
  EXPECT_TRUE(fits(schema, R"json({"a":1,"b\u0000c":"x"})json"));
  EXPECT_FALSE(fits(schema, R"json({"b\u0000c":1})json"));
  EXPECT_THAT(violation(schema, R"json({"a\u0000b":1})json"), HasSubstr("is not a known member"));
  EXPECT_FALSE(fits(
      R"json({"$defs":{"a":{},"a\u0000b":{"type":"string"}},"$ref":"#/$defs/a%00b"})json", "1"));
}

/// "[text,text,text]"
std::string list_of(std::string_view text, std::size_t count) {
  std::string list = "[";
  for (std::size_t i = 0; i < count; ++i) list.append(i == 0 ? "" : ",").append(text);
  return list + "]";
}

// Time that grows with the square of the members would be minutes.
TEST(JsonSchemaWordsTest, AMemberThatIsNullAndMayBeMissingCanBeNotedInstead) {
  const JsonSchema schema(
      R"json({"properties":{"a":{"items":{"properties":{"b":{"type":"string"},"c":{}}}},)json"
      R"json("d":{"type":"string"}},"required":["d"]})json");
  std::vector<JsonSchema::Path> nulls;
  EXPECT_FALSE(schema.check(R"json({"a":[{},{"b":null,"c":null}],"d":"x"})json", "#", &nulls));
  EXPECT_THAT(nulls, ElementsAre(JsonSchema::Path{"a", std::size_t{1}, "b"}));
  const auto found = schema.check(R"json({"d":null})json", "#", &nulls);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->place, "d");
}

TEST(JsonSchemaWordsTest, AConstantInEachSchemaTellsWhichOneIsMeant) {
  const JsonSchema schema(
      R"json({"anyOf":[{"$ref":"#/$defs/a"},{"properties":{"type":{"const":"b"}},"required":["n","type"]}],)json"
      R"json("$defs":{"a":{"properties":{"type":{"const":"a"},"n":{"type":"string"}},"required":["type"]}}})json");
  const auto words = [&](const std::string& value) {
    const auto found = schema.check(value);
    return found ? found->place + " " + found->what : std::string();
  };
  EXPECT_EQ(words(R"json({"type":"a"})json"), "");
  EXPECT_EQ(words(R"json({"type":"a","n":7})json"), "n is not of type string");
  EXPECT_EQ(words(R"json({"type":"b"})json"), " has no member `n`");
  EXPECT_EQ(words(R"json({"type":"c"})json"), "type is none of the allowed values");
  EXPECT_EQ(words(R"json({"n":7})json"), " has no member `type`");
}

TEST(JsonSchemaWordsTest, APartOfTheSchemaMayCount) {
  const JsonSchema schema(R"json({"$defs":{"a":{"type":"string"}}})json");
  EXPECT_FALSE(schema.check("7"));
  EXPECT_TRUE(schema.check("7", "#/$defs/a"));
  EXPECT_TRUE(schema.check("7", "#/$defs/b")->is_unchecked);
}

TEST(JsonSchemaReadingTest, OnlyClientsHeedFormatsAndNullable) {
  for (const std::string schema :
       {R"json({"format":"date"})json", R"json({"type":"string","nullable":true})json"}) {
    const std::string value = schema.find("date") == schema.npos ? "null" : R"json("x")json";
    const bool is_format = value != "null";
    EXPECT_EQ(JsonSchema(schema).check(value).has_value(), !is_format);
    EXPECT_EQ(JsonSchema(schema, JsonSchema::Reading::of_clients).check(value).has_value(),
              is_format);
  }
}

TEST(JsonSchemaBoundsTest, ManyMembersAreReadInTime) {
  std::string value;
  for (int i = 0; i < 100'000; ++i) value += fmt::format("{}\"{}\":0", i == 0 ? "{" : ",", i);
  EXPECT_EQ(violation(R"json({"maxProperties":99999})json", value + "}"),
            ": has 100000 members, and may have at most 99999");
}

// A copy of the key for each item would be 40 GB.
TEST(JsonSchemaBoundsTest, AKeyOfAnySizeMayHaveManyItems) {
  const std::string key(8'000'000, 'k');
  const std::string_view schema =
      R"json({"additionalProperties":{"items":{"items":{"type":"integer"}}}})json";
  EXPECT_EQ(violation(schema, "{\"" + key + "\":[" + list_of("0", 5'000) + ",[0,null]]}"),
            std::string(100, 'k') + "… [7999900 bytes cut][1][1]: is not of type integer");
}

constexpr const char* kTooManySteps =
    ": is too large to be checked against its schema: that takes more than 500000 steps";
constexpr const char* kTooDeep =
    ": is too large to be checked against its schema: that goes more than 500 levels deep into it";
constexpr const char* kEndless =
    ": cannot be checked against its schema: the schema refers to itself without end";

/// Each item is a step, and so are the numbers up to it: 998 takes a thousand.
std::string items_of_many() {
  std::string numbers = "0";
  for (int i = 1; i < 999; ++i) numbers += fmt::format(",{}", i);
  return "{\"items\":{\"enum\":[" + numbers + "]}}";
}

TEST(JsonSchemaBoundsTest, HalfAMillionStepsAreTakenAndNoMore) {
  const JsonSchema schema(items_of_many());
  const std::string most = list_of("998", 499);  // and a step for the list itself
  EXPECT_FALSE(schema.check("[997," + most.substr(1)));
  const auto found = schema.check("[998," + most.substr(1));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->place + ": " + found->what, kTooManySteps);
  EXPECT_THAT(found->part, HasSubstr(R"json({"items":{"enum":[0,1,)json"));
}

TEST(JsonSchemaBoundsTest, ReachingTheLimitIsAViolation) {
  EXPECT_EQ(violation("{\"properties\":{\"list\":" + items_of_many() +
                          R"json(,"mode":{"enum":["safe"]}}})json",
                      "{\"list\":" + list_of("998", 500) + R"json(,"mode":"evil"})json"),
            kTooManySteps);
  EXPECT_EQ(violation("{\"not\":" + items_of_many() + "}", list_of("998", 500)), kTooManySteps);
}

std::string members_of(std::size_t count, const std::string& value) {
  std::string members;
  for (std::size_t i = 0; i < count; ++i) members += fmt::format(",\"k{}\":{}", i, value);
  return "{" + members.substr(1) + "}";
}

// Each of these took many seconds of few steps.
TEST(JsonSchemaBoundsTest, AStepIsWorkAndNotAPart) {
  const std::string name(100'000, 'n');
  const std::string large = list_of("[0]", 100);
  const std::string hundred = list_of(large, 100);
  EXPECT_EQ(
      violation("{\"patternProperties\":" + members_of(1000, "true") + "}", members_of(1000, "0")),
      kTooManySteps);
  EXPECT_EQ(violation(R"json({"items":{"$ref":"#/$defs/)json" + name + R"json("},"$defs":{")json" +
                          name + R"json(":true}})json",
                      list_of("0", 1000)),
            kTooManySteps);
  EXPECT_EQ(violation(R"json({"items":{"pattern":"n$"}})json", list_of("\"" + name + "\"", 50)),
            kTooManySteps);
  const std::string text = "\"" + name + "\"";
  EXPECT_EQ(violation(R"json({"pattern":"(x+x+)+y|(.*a){20}|n{1,500}c"})json", text),
            kTooManySteps);
  EXPECT_EQ(violation(R"json({"pattern":"n$"})json", text), "");
  EXPECT_EQ(violation(R"json({"items":{"enum":[[],0,)json" + large + "]}}", hundred), "");
  EXPECT_EQ(violation(R"json({"items":{"not":{"enum":)json" + hundred + "}}}",
                      list_of(R"json(["a"])json", 100)),
            kTooManySteps);
  EXPECT_EQ(violation(R"json({"items":{"required":)json" + list_of("\"a\"", 1000) + "}}",
                      list_of(R"json({"a":1})json", 1000)),
            kTooManySteps);
  std::string types = list_of("\"null\"", 1000);
  types.replace(types.size() - 1, 1, ",\"integer\"]");
  EXPECT_EQ(violation(R"json({"items":{"type":)json" + types + "}}", list_of("0", 1000)),
            kTooManySteps);
}

// Seven million empty texts would take 700 MB.
TEST(JsonSchemaBoundsTest, HalfAMillionValuesAreReadAndNoMore) {
  EXPECT_EQ(violation("true", list_of("\"[,{\\\"\"", 499'999)), "");
  EXPECT_EQ(violation("true", list_of("\"\"", 500'000)),
            ": is too large to be checked against its schema: it has more than 500000 values");
}

/// Five levels of this schema belong to one of the value.
std::string list_schema(std::string_view last) {
  return fmt::format(
      R"json({{"properties":{{"next":{{"anyOf":[{{"$ref":"#/$defs/node"}}]}},"last":{}}},
              "$defs":{{"node":{{"allOf":[{{"$ref":"#"}}]}}}}}})json",
      last);
}

TEST(JsonSchemaBoundsTest, TheDeepestArgumentsAreChecked) {
  std::string value = R"json({"last":1})json";
  std::string place = "last";
  for (std::size_t i = 1; i < limits::kNestingMax; ++i) {
    value = "{\"next\":" + value + "}";
    place = "next." + place;
  }
  const std::string_view simple =
      R"json({"properties":{"next":{"$ref":"#"},"last":{"type":"string"}}})json";
  EXPECT_EQ(violation(simple, value), place + ": is not of type string");

  // The last object is at the level 496.
  const std::string four = R"json({"allOf":[{"allOf":[{"allOf":[{"minimum":1}]}]}]})json";
  EXPECT_EQ(violation(list_schema(four), value), "");
  EXPECT_EQ(violation(list_schema("{\"allOf\":[" + four + "]}"), value), kTooDeep);
}

TEST(JsonSchemaBoundsTest, ASchemaThatRefersToItselfAtTheSameValueAllowsNothing) {
  EXPECT_EQ(violation(R"json({"$ref":"#"})json", "1"), kEndless);
  const auto found =
      JsonSchema(R"json({"$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"}]},"b":{"$ref":"#/$defs/a"}},
                         "properties":{"x":{"$ref":"#/$defs/a"}}})json")
          .check(R"json({"x":1})json");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->place + ": " + found->what, kEndless);
  EXPECT_EQ(found->part, R"json({"$ref":"#/$defs/a"})json");
  for (const char* const schema :
       {R"json({"not":{"$ref":"#"}})json", R"json({"not":{"not":{"$ref":"#"}}})json",
        R"json({"anyOf":[true,{"$ref":"#"}]})json",
        R"json({"anyOf":[{"$ref":"#"},{"$ref":"#"}]})json",
        R"json({"oneOf":[{"$ref":"#"},true]})json", R"json({"if":{"$ref":"#"},"then":true})json",
        R"json({"contains":{"$ref":"#/contains"}})json",
        R"json({"propertyNames":{"$ref":"#/propertyNames"}})json",
        R"json({"dependentSchemas":{"a":{"$ref":"#"}}})json"}) {
    const std::string_view value =
        std::string_view(schema).find("contains") == 2 ? "[1]" : R"json({"a":1})json";
    EXPECT_EQ(violation(schema, value), kEndless) << schema;
  }
}

TEST(JsonSchemaBoundsTest, ASchemaMayMeetTheSameValueTwice) {
  const std::string_view schema =
      R"json({"$defs":{"a":{"type":"integer"}},
              "allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"},{"allOf":[{"$ref":"#/$defs/a"}]}]})json";
  EXPECT_EQ(violation(schema, "1"), "");
  EXPECT_EQ(violation(schema, "\"1\""), ": is not of type integer");
}

}  // namespace
}  // namespace sitter
