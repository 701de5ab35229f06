#include "core/schema/protocol_schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/json_text.hpp"
#include "core/schema/published.hpp"
#include "core/wire/json_view.hpp"

namespace sitter {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr auto kSession = Revision::session;

TEST(ProtocolSchemaTest, AViolationHasAPlaceAndAClause) {
  const auto violation =
      protocol_violation(kSession, "Resource", R"json({"name":"a","uri":"b","size":"c"})json");
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->place, "size");
  EXPECT_EQ(violation->what, "is not of type number");
}

TEST(ProtocolSchemaTest, ADefinitionIsReadWithThoseThatItRefersToAndNoOthers) {
  const auto names = [](Revision revision, std::string_view definition) {
    std::vector<std::string> found;
    const std::string schema = definition_schema(revision, definition);
    for (JsonMember& one : json_members(member(schema, "$defs"))) {
      found.push_back(std::move(one.key));
    }
    return found;
  };
  EXPECT_THAT(names(kSession, "InitializeResult"),
              ElementsAre("InitializeResult", "ServerCapabilities", "Implementation", "Icon"));
  for (const auto& [revision, published] : {std::pair(kSession, kPublishedSession),
                                            std::pair(Revision::stateless, kPublishedStateless)}) {
    for (const JsonMember& one : json_members(member(published, "$defs"))) {
      EXPECT_THAT(names(revision, one.key), Contains(one.key));
      EXPECT_THAT(JsonSchema(definition_schema(revision, one.key)).unchecked(), IsEmpty());
    }
  }
}

TEST(ProtocolSchemaTest, WhatCannotBeCheckedIsNoViolation) {
  EXPECT_FALSE(protocol_violation(kSession, "Tool", R"json({"name":"\ud800"})json"));
  std::string deep = "1";
  for (int i = 0; i < 101; ++i) deep = "[" + deep + "]";
  EXPECT_FALSE(protocol_violation(kSession, "Tool", deep));
}

TEST(ProtocolSchemaTest, WhereTheOfficialClientsTakeMoreSoDoesThis) {
  EXPECT_FALSE(protocol_violation(kSession, "CallToolResult", "{}"));
  EXPECT_FALSE(protocol_violation(
      kSession, "Tool", R"json({"name":"a","inputSchema":{"type":"object","$schema":7}})json"));
  EXPECT_EQ(
      opening_defect(R"json({"protocolVersion":"1","serverInfo":{"name":"","version":""},)json"
                     R"json("capabilities":{"logging":[],"experimental":{"a":[]}}})json"),
      "");
}

TEST(WithoutNullsTest, OnlyMembersAreTakenOutThatMayBeMissing) {
  const WithoutNulls kept = without_nulls(
      kSession, "Prompt",
      R"json({"name":"p","title":null,"arguments":[{"name":"a","required":null}]})json");
  EXPECT_EQ(kept.kept, R"json({"name":"p","arguments":[{"name":"a"}]})json");
  EXPECT_THAT(kept.places, ElementsAre("arguments[0].required", "title"));
  const WithoutNulls refused =
      without_nulls(kSession, "Prompt", R"json({"name":null,"title":null})json");
  EXPECT_EQ(refused.kept, std::nullopt);
  ASSERT_TRUE(refused.violation);
  EXPECT_EQ(refused.violation->place, "name");
}

TEST(OpeningDefectTest, TheFirstMemberThatClientsRefuseIsNamed) {
  const std::string version = R"json("protocolVersion":"2025-11-25",)json";
  const std::string info = R"json(,"serverInfo":{"name":"a","version":"1"})json";
  const auto defect = [](const std::string& members) {
    return opening_defect("{" + members + "}");
  };
  EXPECT_EQ(defect(version + R"json("capabilities":{"tools":{},"other":null})json" + info), "");
  EXPECT_EQ(defect(R"json("capabilities":{})json" + info), "it has no member `protocolVersion`");
  EXPECT_EQ(defect(version + R"json("capabilities":{"tools":null})json" + info),
            "capabilities.tools is null");
  EXPECT_EQ(defect(version + R"json("capabilities":{"logging":true})json" + info),
            "capabilities.logging is not of type object or array");
  EXPECT_EQ(defect(version + R"json("capabilities":{"extensions":null})json" + info),
            "capabilities.extensions is null");
  EXPECT_EQ(defect(version + R"json("capabilities":{"extensions":{"x":true}})json" + info),
            "capabilities.extensions.x is not of type object or array");
  EXPECT_EQ(defect(version + R"json("capabilities":{"extensions":{"x":{}}})json" + info), "");
  EXPECT_EQ(defect(version + R"json("capabilities":{})json"), "it has no member `serverInfo`");
  EXPECT_EQ(defect(version + R"json("capabilities":{},"serverInfo":{"name":"a","version":1})json"),
            "serverInfo.version is not of type string");
  EXPECT_EQ(defect(version +
                   R"json("capabilities":{"tools":{"listChanged":null}},)json"
                   R"json("instructions":null)json" +
                   info),
            "");
}

}  // namespace
}  // namespace sitter
