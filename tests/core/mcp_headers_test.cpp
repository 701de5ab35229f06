#include "core/http/mcp_headers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/base/json_text.hpp"
#include "support/messages.hpp"

namespace sitter {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Strings = std::vector<std::string>;

Strings words(const std::vector<HttpHeader>& headers) {
  Strings words;
  for (const auto& [name, value] : headers) words.push_back(name + ": " + value);
  return words;
}

/// The headers of a request with these raw params.
Strings mirrored(const std::string& method, const std::string& params) {
  const OwnedLine line(request(1, method, params));
  MessageReader reader;
  const Message* const message = reader.read(line.line());
  EXPECT_NE(message, nullptr) << line.text();
  return message == nullptr ? Strings() : words(mirrored_headers(*message));
}

/// Raw params with an envelope and these members.
std::string with_envelope(const std::string& members,
                          const std::string& version = "\"2026-07-28\"") {
  return R"json({"_meta":{"io.modelcontextprotocol/protocolVersion":)json" + version + "}" +
         (members.empty() ? "" : ",") + members + "}";
}

TEST(MirroredHeadersTest, NameTheVersionAndTheMethod) {
  EXPECT_THAT(mirrored("tools/list", with_envelope("")),
              ElementsAre("MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/list"));
}

TEST(MirroredHeadersTest, NameWhatIsAskedFor) {
  EXPECT_EQ(mirrored("tools/call", with_envelope(R"json("name":"get_weather")json")).back(),
            "Mcp-Name: get_weather");
  EXPECT_EQ(mirrored("prompts/get", with_envelope(R"json("name":"a b")json")).back(),
            "Mcp-Name: a b");
  EXPECT_EQ(mirrored("resources/read", with_envelope(R"json("uri":"file:\/\/\/x","name":"y")json"))
                .back(),
            "Mcp-Name: file:///x");
  for (const char* method : {"tasks/get", "tasks/update", "tasks/cancel"}) {
    EXPECT_EQ(mirrored(method, with_envelope(R"json("taskId":"t1","name":"y")json")).back(),
              "Mcp-Name: t1");
  }
}

TEST(MirroredHeadersTest, OtherMethodsHaveNoName) {
  for (const char* method : {"tools/list", "prompts/list", "resources/subscribe", "tasksget"}) {
    EXPECT_THAT(mirrored(method, with_envelope(R"json("name":"x","uri":"y","taskId":"z")json")),
                SizeIs(2))
        << method;
  }
}

TEST(MirroredHeadersTest, ANameThatIsMissingOrNoStringIsLeftOut) {
  for (const char* members : {"", R"json("name":7)json", R"json("name":null)json"}) {
    EXPECT_THAT(mirrored("tools/call", with_envelope(members)), SizeIs(2)) << members;
  }
  EXPECT_THAT(mirrored("resources/read", with_envelope(R"json("uri":7)json")), SizeIs(2));
  EXPECT_THAT(mirrored("tasks/get", with_envelope(R"json("taskId":7)json")), SizeIs(2));
}

TEST(MirroredHeadersTest, ANameIsEncodedIfItMust) {
  EXPECT_EQ(mirrored("tools/call", with_envelope(R"json("name":"w\u00e4rme")json")).back(),
            "Mcp-Name: =?base64?d8Okcm1l?=");
}

TEST(MirroredHeadersTest, WithoutAnEnvelopeThereAreNone) {
  EXPECT_THAT(mirrored("tools/call", R"json({"name":"x"})json"), IsEmpty());
  EXPECT_THAT(mirrored("tools/list", ""), IsEmpty());
  for (const char* version : {"null", "7", "\"\"", R"json("a\r\nb")json"}) {
    EXPECT_THAT(mirrored("tools/list", with_envelope("", version)), IsEmpty()) << version;
  }
}

TEST(MirroredHeadersTest, AMethodThatNoHeaderCanCarryIsLeftOut) {
  EXPECT_THAT(mirrored(R"json(a\r\nX: b)json", with_envelope("")),
              ElementsAre("MCP-Protocol-Version: 2026-07-28"));
}

TEST(EncodedValueTest, PlainValuesPass) {
  for (const char* value : {"us-west1", "a", "a b  c", "!\"#~", "=?base64?",
                            "?=", "=?BASE64?eA==?=", "x=?base64?eA==?=", "=?base64?eA==?=x"}) {
    EXPECT_EQ(encoded_value(value), value);
  }
}

// The first four are the examples of the specification.
TEST(EncodedValueTest, OtherValuesAreEncoded) {
  for (const auto& [value, encoded] : std::vector<std::pair<std::string, std::string>>{
           {"Hello, \xE4\xB8\x96\xE7\x95\x8C", "SGVsbG8sIOS4lueVjA=="},
           {" padded ", "IHBhZGRlZCA="},
           {"line1\nline2", "bGluZTEKbGluZTI="},
           {"=?base64?literal?=", "PT9iYXNlNjQ/bGl0ZXJhbD89"},
           {"=?base64?\?=", "PT9iYXNlNjQ/Pz0="},
           {"", ""},
           {" ", "IA=="},
           {" a", "IGE="},
           {"a ", "YSA="},
           {"a\tb", "YQli"},
           {"a\r\nb", "YQ0KYg=="},
           {std::string(1, '\0'), "AA=="},
           {"\x7F", "fw=="},
           {"\xFF\xFF\xFF", "////"},
           {"\xFB\xF0", "+/A="}}) {
    EXPECT_EQ(encoded_value(value), "=?base64?" + encoded + "?=") << value;
  }
}

/// A tool with these raw properties.
std::string tool_with(const std::string& name, const std::string& properties) {
  return R"json({"name":")json" + name +
         R"json(","inputSchema":{"type":"object","properties":{)json" + properties + "}}}";
}

/// A raw property that is annotated with a raw value.
std::string property(const std::string& name, const std::string& annotation,
                     const std::string& type = "string") {
  return "\"" + name + R"json(":{"type":")json" + type + R"json(","x-mcp-header":)json" +
         annotation + "}";
}

std::string list_of(const Strings& tools) {
  std::string list;
  for (const std::string& tool : tools) list += (list.empty() ? "" : ",") + tool;
  return R"json({"tools":[)json" + list + R"json(],"nextCursor":"n"})json";
}

class ToolHeadersTest : public ::testing::Test {
 protected:
  /// Why a tool must be removed; empty if it is good.
  std::string fault_of(const std::string& tool) {
    const std::string list = list_of({tool});
    const auto invalid = headers_.learn(list);
    if (invalid.empty()) return "";
    EXPECT_EQ(invalid[0].raw, tool);
    return invalid[0].reason;
  }
  std::string fault_of_property(const std::string& property) {
    return fault_of(tool_with("t", property));
  }

  /// The headers of a call of the tool `t` with these raw arguments.
  Strings call(const std::string& arguments, const std::string& tool = "t") const {
    return words(headers_.headers(R"json({"name":")json" + tool + R"json(","arguments":)json" +
                                  arguments + "}"));
  }

  ToolHeaders headers_;
};

TEST_F(ToolHeadersTest, AnAnnotatedParameterIsRepeatedInAHeader) {
  EXPECT_EQ(fault_of(R"json({"name":"t","inputSchema":{"type":"object","properties":{
      "region":{"type":"string","x-mcp-header":"Region"},"query":{"type":"string"}}}})json"),
            "");
  EXPECT_THAT(call(R"json({"region":"us-west1","query":"SELECT 1"})json"),
              ElementsAre("Mcp-Param-Region: us-west1"));
}

TEST_F(ToolHeadersTest, AllPrimitiveValuesHaveAText) {
  fault_of_property(property("a", "\"A\"") + "," + property("b", "\"B\"", "boolean") + "," +
                    property("c", "\"C\"", "boolean") + "," + property("d", "\"D\"", "integer"));
  EXPECT_THAT(call(R"json({"d":-7,"c":false,"b":true,"a":" \u00fc"})json"),
              ElementsAre("Mcp-Param-A: =?base64?IMO8?=", "Mcp-Param-B: true", "Mcp-Param-C: false",
                          "Mcp-Param-D: -7"));
}

TEST_F(ToolHeadersTest, NumbersAreDecimal) {
  fault_of_property(property("n", "\"N\"", "integer"));
  for (const auto& [raw, text] : std::vector<std::pair<std::string, std::string>>{
           {"42", "42"},
           {"42.0", "42"},
           {"4.2e1", "42"},
           {"-0", "0"},
           {"1e3", "1000"},
           {"1.5", "1.5"},
           {"9007199254740991", "9007199254740991"},
           {"-9007199254740991", "-9007199254740991"}}) {
    EXPECT_THAT(call(R"json({"n":)json" + raw + "}"), ElementsAre("Mcp-Param-N: " + text));
  }
  // Integers beyond these are not the same in all languages.
  for (const char* raw :
       {"9007199254740992", "-9007199254740992", "1e300", "1e400", "99999999999999999999999"}) {
    EXPECT_THAT(call(std::string(R"json({"n":)json") + raw + "}"), IsEmpty()) << raw;
  }
}

TEST_F(ToolHeadersTest, WhatHasNoValueIsLeftOut) {
  fault_of_property(property("a", "\"A\""));
  for (const char* arguments :
       {"{}", R"json({"a":null})json", R"json({"a":{}})json", R"json({"a":["x"]})json",
        R"json({"b":"x"})json", "null", "[]", R"json({"a":"\ud800"})json"}) {
    EXPECT_THAT(call(arguments), IsEmpty()) << arguments;
  }
  EXPECT_THAT(headers_.headers(R"json({"name":"t"})json"), IsEmpty());
  EXPECT_THAT(headers_.headers(""), IsEmpty());
  EXPECT_THAT(call(R"json({"a":"x"})json", "other"), IsEmpty());
  EXPECT_THAT(call(R"json({"a":""})json"), ElementsAre("Mcp-Param-A: =?base64?\?="));
}

TEST_F(ToolHeadersTest, NestedPropertiesAreRepeatedToo) {
  EXPECT_EQ(fault_of_property(R"json("where":{"type":"object","properties":{)json" +
                              property("region", "\"Region\"") +
                              R"json(,"properties":{"properties":{)json" +
                              property("type", "\"Type\"") + "}}}}"),
            "");
  EXPECT_THAT(call(R"json({"where":{"region":"eu","properties":{"type":"x"}},"region":"us"})json"),
              ElementsAre("Mcp-Param-Region: eu", "Mcp-Param-Type: x"));
  EXPECT_THAT(call(R"json({"where":"eu"})json"), IsEmpty());
}

TEST_F(ToolHeadersTest, AnAnnotationIsAToken) {
  for (const char* name :
       {"\"Region\"", "\"x\"", "\"!#$%&'*+-.^_`|~09azAZ\"", R"json("\u0041")json"}) {
    EXPECT_EQ(fault_of_property(property("a", name)), "") << name;
  }
  EXPECT_THAT(fault_of_property(property("a", "\"\"")), HasSubstr("empty"));
  for (const char* value : {"null", "7", "true", "{}", "[\"A\"]"}) {
    EXPECT_THAT(fault_of_property(property("a", value)), HasSubstr("not a string")) << value;
  }
  for (const char* name : {"\"My Region\"", "\"Region:\"", "\"a\\r\\nb\"", "\"a\\u0000\"",
                           "\"R\xC3\xA9gion\"", "\"(a)\"", "\"a/b\"", "\"\\\"\"", "\" a\""}) {
    EXPECT_THAT(fault_of_property(property("a", name)), HasSubstr("character")) << name;
  }
}

TEST_F(ToolHeadersTest, NoTwoAnnotationsOfAToolAreTheSame) {
  EXPECT_THAT(fault_of_property(property("a", "\"Region\"") + "," + property("b", "\"Region\"")),
              HasSubstr("twice"));
  EXPECT_THAT(fault_of_property(property("a", "\"Region\"") + R"json(,"b":{"properties":{)json" +
                                property("c", "\"REGION\"") + "}}"),
              AllOf(HasSubstr("twice"), HasSubstr("b.c")));
  EXPECT_THAT(headers_.learn(list_of({tool_with("t", property("a", "\"Region\"")),
                                      tool_with("u", property("a", "\"Region\""))})),
              IsEmpty());
}

TEST_F(ToolHeadersTest, OnlyPrimitiveParametersMayBeAnnotated) {
  for (const char* type : {"string", "integer", "boolean"}) {
    EXPECT_EQ(fault_of_property(property("a", "\"A\"", type)), "") << type;
  }
  // The specification leaves out "number", whose text differs between languages.
  for (const char* type : {"number", "object", "array", "null", "String", ""}) {
    EXPECT_THAT(fault_of_property(property("a", "\"A\"", type)), HasSubstr("type")) << type;
  }
  EXPECT_THAT(fault_of_property(R"json("a":{"x-mcp-header":"A"})json"), HasSubstr("type"));
  EXPECT_THAT(fault_of_property(R"json("a":{"type":["string","null"],"x-mcp-header":"A"})json"),
              HasSubstr("type"));
}

TEST_F(ToolHeadersTest, AnAnnotationStandsBelowPropertiesOnly) {
  const std::string schema = R"json({"type":"string","x-mcp-header":"A"})json";
  for (const char* keyword :
       {"items", "contains", "additionalProperties", "additionalItems", "unevaluatedProperties",
        "unevaluatedItems", "propertyNames", "not", "if", "then", "else", "contentSchema"}) {
    EXPECT_THAT(
        fault_of_property(R"json("a":{")json" + std::string(keyword) + "\":" + schema + "}"),
        AllOf(HasSubstr("properties"), HasSubstr("a." + std::string(keyword))));
  }
  for (const char* keyword : {"items", "prefixItems", "allOf", "anyOf", "oneOf"}) {
    EXPECT_THAT(
        fault_of_property(R"json("a":{")json" + std::string(keyword) + "\":[true," + schema + "]}"),
        HasSubstr("properties"));
  }
  for (const char* keyword :
       {"$defs", "definitions", "patternProperties", "dependentSchemas", "dependencies"}) {
    EXPECT_THAT(fault_of_property(R"json("a":{")json" + std::string(keyword) +
                                  "\":{\"k\":" + schema + "}}"),
                HasSubstr("properties"));
  }
  EXPECT_THAT(fault_of_property(R"json("a":{"items":{"properties":{"b":)json" + schema + "}}}"),
              HasSubstr("a.items.b"));
  EXPECT_THAT(
      fault_of(R"json({"name":"t","inputSchema":{"type":"string","x-mcp-header":"A"}})json"),
      HasSubstr("properties"));
}

TEST_F(ToolHeadersTest, OnlySchemasAreSearched) {
  for (const char* property : {R"json("a":{"default":{"x-mcp-header":""}})json",
                               R"json("a":{"const":{"x-mcp-header":7}})json",
                               R"json("a":{"enum":[{"x-mcp-header":7}]})json",
                               R"json("a":{"description":"x-mcp-header"})json",
                               R"json("x-mcp-header":{"type":"string"})json"}) {
    EXPECT_EQ(fault_of_property(property), "") << property;
  }
  EXPECT_EQ(
      fault_of(R"json({"name":"t","x-mcp-header":"","outputSchema":{"x-mcp-header":""}})json"), "");
  EXPECT_THAT(call(R"json({"x-mcp-header":"x"})json"), IsEmpty());
}

TEST_F(ToolHeadersTest, ASchemaOf100LevelsIsReadAndADeeperOneIsNot) {
  ASSERT_EQ(limits::kNestingMax, 100U);
  // The schema, its properties, the property and `examples` are four levels.
  const auto nested = [](const std::string& examples) {
    std::string text =
        R"json("a":{"type":"string","x-mcp-header":"A","examples":)json" + examples + "}";
    for (int i = 0; i < 48; ++i) text = R"json("a":{"properties":{)json" + text + "}}";
    return text;
  };
  EXPECT_EQ(fault_of_property(nested("[]")), "");
  EXPECT_THAT(fault_of_property(nested("[[]]")), HasSubstr("nested"));
}

TEST_F(ToolHeadersTest, OnlyTheNewestListCounts) {
  fault_of(tool_with("t", property("a", "\"Old\"")));
  fault_of(tool_with("t", property("a", "\"New\"")));
  EXPECT_THAT(call(R"json({"a":"x"})json"), ElementsAre("Mcp-Param-New: x"));
  fault_of(tool_with("u", ""));
  EXPECT_THAT(call(R"json({"a":"x"})json"), SizeIs(1));
  fault_of(tool_with("t", R"json("a":{"type":"string"})json"));
  EXPECT_THAT(call(R"json({"a":"x"})json"), IsEmpty());
  fault_of(tool_with("t", property("a", "\"New\"")));
  fault_of(tool_with("t", property("a", "\"\"")));
  EXPECT_THAT(call(R"json({"a":"x"})json"), IsEmpty());
  fault_of(tool_with("t", property("a", "\"New\"")));
  headers_.clear();
  EXPECT_THAT(call(R"json({"a":"x"})json"), IsEmpty());
}

TEST_F(ToolHeadersTest, InvalidToolsAreTakenOutOfTheList) {
  const std::string good = tool_with("good", property("a", "\"A\""));
  const std::string bad = tool_with("b\\u00e4d", property("a", "\"\""));
  const std::string plain = tool_with("plain", "");
  const std::string nameless = R"json({"inputSchema":{"x-mcp-header":"A"}})json";
  const std::string list = list_of({bad, good, bad, plain, nameless});
  const auto invalid = headers_.learn(list);
  ASSERT_THAT(invalid, SizeIs(3));
  EXPECT_EQ(invalid[0].name,
            "b\xC3\xA4"
            "d");
  EXPECT_EQ(invalid[2].name, "");
  EXPECT_EQ(without_tools(list, invalid), list_of({good, plain}));
  EXPECT_EQ(without_tools(list, {}), list);
  const std::string all_bad = R"json({"a":[1], "tools" : [ )json" + bad + R"json( ] , "b":2})json";
  EXPECT_EQ(without_tools(all_bad, headers_.learn(all_bad)),
            R"json({"a":[1], "tools" : [] , "b":2})json");
}

TEST_F(ToolHeadersTest, AResultWithoutAListOfToolsTeachesNothing) {
  for (const char* result :
       {"", "null", "{}", R"json({"tools":7})json", R"json({"tools":[7,null]})json",
        R"json({"tools":["x-mcp-header"]})json",
        R"json({"tools":[{"inputSchema":["x-mcp-header"]}]})json"}) {
    EXPECT_THAT(headers_.learn(result), IsEmpty()) << result;
  }
}

TEST_F(ToolHeadersTest, OfAThousandToolsTheHeadersAreKnown) {
  ASSERT_EQ(limits::kHeaderToolsMax, 1000U);
  Strings tools;
  for (int i = 0; i <= 1000; ++i) {
    tools.push_back(tool_with("t" + std::to_string(i), property("a", "\"A\"")));
  }
  headers_.learn(list_of(tools));
  EXPECT_THAT(call(R"json({"a":"x"})json", "t999"), SizeIs(1));
  EXPECT_THAT(call(R"json({"a":"x"})json", "t1000"), IsEmpty());
  // A tool that is no longer annotated makes room.
  headers_.learn(list_of({tool_with("t5", ""), tools.back()}));
  EXPECT_THAT(call(R"json({"a":"x"})json", "t1000"), SizeIs(1));
  EXPECT_THAT(call(R"json({"a":"x"})json", "t5"), IsEmpty());
}

TEST_F(ToolHeadersTest, TheNamesTakeAMebibyte) {
  ASSERT_EQ(limits::kHeaderNamesMax, 1048576U);
  const auto names_of = [&](std::size_t size) {
    headers_.clear();
    fault_of(tool_with("t", property(std::string(size, 'p'), "\"A\"")));
    return headers_.bytes();
  };
  const std::size_t beside = names_of(1) - 1;
  EXPECT_EQ(names_of(1048576 - beside), 1048576U);
  EXPECT_EQ(names_of(1048576 - beside + 1), 0U);
  fault_of(tool_with("t", property("a", "\"A\"")));
  EXPECT_THAT(call(R"json({"a":"x"})json"), SizeIs(1));
  fault_of(tool_with("t", ""));
  EXPECT_EQ(headers_.bytes(), 0U);
}

}  // namespace
}  // namespace sitter
