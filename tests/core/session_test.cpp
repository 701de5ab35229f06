#include "core/client/session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/client/client_envelope.hpp"
#include "sitter/bytes.hpp"

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(OpeningResultTest, WhatTheChildSaysOfItself) {
  const auto opened = OpeningResult::of(
      R"json({"protocolVersion":"2025-06-18","serverInfo":{"name":"s\u00fc","version":"1.2"},)json"
      R"json("capabilities":{"tools":{},"resources":{"subscribe":true},"logging":true},"instructions":"do\n"})json");
  EXPECT_EQ(opened.protocol_version, "2025-06-18");
  EXPECT_EQ(opened.server_name(), "s\xC3\xBC");
  EXPECT_EQ(opened.server_version(), "1.2");
  EXPECT_EQ(opened.instructions, "do\n");
  EXPECT_TRUE(opened.declares("tools"));
  EXPECT_FALSE(opened.declares("prompts"));
  EXPECT_FALSE(opened.declares("logging"));
  EXPECT_TRUE(opened.takes_subscriptions());
  EXPECT_THAT(opened.capability_names(), ElementsAre("tools", "resources"));
}

TEST(OpeningResultTest, WhatIsLeftOutIsEmpty) {
  for (const std::string raw : {"{}", "null", "7", "[]", R"json({"protocolVersion":7})json"}) {
    const auto opened = OpeningResult::of(raw);
    EXPECT_EQ(opened, OpeningResult()) << raw;
    EXPECT_FALSE(opened.declares("tools"));
    EXPECT_FALSE(opened.takes_subscriptions());
    EXPECT_EQ(opened.server_name(), "");
  }
  EXPECT_FALSE(OpeningResult::of(R"json({"capabilities":{"resources":{"subscribe":false}}})json")
                   .takes_subscriptions());
}

TEST(SessionTest, DerivesItsStateFromItsMembers) {
  Session session;
  EXPECT_FALSE(session.is_asked());
  session.opening_params = "{}";
  EXPECT_TRUE(session.is_asked());
  EXPECT_FALSE(session.is_answered());
  session.negotiated_version = "2025-11-25";
  EXPECT_TRUE(session.is_answered());
  EXPECT_FALSE(session.is_initialized());
  session.initialized_line = "x";
  EXPECT_TRUE(session.is_initialized());
}

TEST(SessionTest, TheReplayAsksForTheNegotiatedVersionAndNothingElseChanges) {
  Session session;
  session.opening_params =
      R"json({ "x":1.0, "protocolVersion" : "2025-11-25" ,"capabilities":{}})json";
  EXPECT_EQ(session.replayed_params(), session.opening_params);
  session.negotiated_version = "2024-11-05";
  EXPECT_EQ(session.replayed_params(),
            R"json({ "x":1.0, "protocolVersion" : "2024-11-05" ,"capabilities":{}})json");
  session.opening_params = "{}";
  EXPECT_EQ(session.replayed_params(), "{}");
}

TEST(SessionTest, SubscriptionsAreASet) {
  Session session;
  session.subscribe("\"a\"");
  session.subscribe("\"b\"");
  session.subscribe("\"a\"");
  EXPECT_THAT(session.subscriptions, ElementsAre("\"a\"", "\"b\""));
  session.unsubscribe("\"a\"");
  session.unsubscribe("\"c\"");
  EXPECT_THAT(session.subscriptions, ElementsAre("\"b\""));
}

TEST(SessionTest, SubscriptionsAreBounded) {
  Session session;
  session.subscriptions.resize(limits::kSubscriptionsMax - 1);
  EXPECT_TRUE(session.subscribe("\"a\""));
  EXPECT_FALSE(session.subscribe("\"b\""));
  EXPECT_EQ(limits::kSubscriptionsMax, 10000u);
  EXPECT_THAT(session.subscriptions, SizeIs(10000));
  EXPECT_EQ(session.subscriptions.back(), "\"a\"");
}

TEST(SessionTest, TheBytesOfSubscribedUrisAreBounded) {
  Session session;
  EXPECT_EQ(limits::kSubscriptionBytesMax, 4 * limits::kMiB);
  const std::string uri(limits::kSubscriptionBytesMax - 1, 'a');
  EXPECT_TRUE(session.subscribe(uri));
  EXPECT_FALSE(session.subscribe("bc"));
  EXPECT_TRUE(session.subscribe("b"));
  EXPECT_TRUE(session.subscribe(uri));
  EXPECT_THAT(session.subscriptions, SizeIs(2));
}

TEST(SessionTest, TheLegacyVersions) {
  for (const char* const version :
       {"2024-10-07", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}) {
    EXPECT_TRUE(is_legacy_version(version));
  }
  for (const char* const version : {"2026-07-28", "", "1", "2025-11-24"}) {
    EXPECT_FALSE(is_legacy_version(version));
  }
}

class AmendOpeningTest : public ::testing::Test {
 protected:
  static std::string amended(const std::string& result) {
    const OwnedLine line{std::string_view(result)};
    Edits edits(line.line());
    amend_opening(line.line().text(), "Ours: \"x\".", true, edits);
    return edits.apply();
  }
};

TEST_F(AmendOpeningTest, ListChangedIsMadeTrueWhateverStoodThere) {
  const std::string rest = R"json(,"instructions":"Ours: \"x\"."})json";
  EXPECT_EQ(amended(R"json({"capabilities":{"tools":{"listChanged":false}}})json"),
            R"json({"capabilities":{"tools":{"listChanged":true}})json" + rest);
  EXPECT_EQ(amended(R"json({"capabilities":{"tools":{"listChanged":null,"x":1}}})json"),
            R"json({"capabilities":{"tools":{"listChanged":true,"x":1}})json" + rest);
  EXPECT_EQ(amended(R"json({"capabilities":{"tools":{"listChanged":true}}})json"),
            R"json({"capabilities":{"tools":{"listChanged":true}})json" + rest);
  EXPECT_EQ(amended(R"json({"capabilities":{"tools":{}}})json"),
            R"json({"capabilities":{"tools":{"listChanged":true}})json" + rest);
  EXPECT_EQ(amended(R"json({"capabilities":{"tools":true}})json"),
            R"json({"capabilities":{"tools":{"listChanged":true}})json" + rest);
  EXPECT_EQ(amended(R"json({"capabilities":{}})json"),
            R"json({"capabilities":{"tools":{"listChanged":true}})json" + rest);
}

TEST_F(AmendOpeningTest, MissingOrWrongCapabilitiesBecomeThoseOfTheBridge) {
  const std::string tools = R"json("capabilities":{"tools":{"listChanged":true}})json";
  EXPECT_EQ(amended(R"json({"x":1})json"),
            R"json({"x":1,)json" + tools + R"json(,"instructions":"Ours: \"x\"."})json");
  EXPECT_EQ(amended("{}"), "{" + tools + R"json(,"instructions":"Ours: \"x\"."})json");
  EXPECT_EQ(amended(R"json({"capabilities":null})json"),
            "{" + tools + R"json(,"instructions":"Ours: \"x\"."})json");
}

TEST_F(AmendOpeningTest, PromptsAndResourcesOnlyWhereTheyAreDeclared) {
  EXPECT_EQ(
      amended(
          R"json({"capabilities":{"tools":{},"prompts":{},"resources":{"subscribe":true}},"instructions":""})json"),
      R"json({"capabilities":{"tools":{"listChanged":true},"prompts":{"listChanged":true},)json"
      R"json("resources":{"subscribe":true,"listChanged":true}},"instructions":"Ours: \"x\"."})json");
}

TEST_F(AmendOpeningTest, InstructionsAreAppendedOrMade) {
  const std::string before =
      R"json({"capabilities":{"tools":{"listChanged":true}},"instructions":)json";
  EXPECT_EQ(amended(before + R"json("Do \u0041."})json"),
            before + R"json("Do \u0041.\n\nOurs: \"x\"."})json");
  EXPECT_EQ(amended(before + "null}"), before + R"json("Ours: \"x\"."})json");
  EXPECT_EQ(amended(before + "[7]}"), before + "[7]}");
}

TEST(OwnOpeningTest, IsThatOfTheBridge) {
  EXPECT_EQ(
      own_opening_result("2025-11-25", "1.0", "a\"b"),
      R"json({"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},)json"
      R"json("prompts":{"listChanged":true},"resources":{"listChanged":true},"logging":{},"completions":{}},)json"
      R"json("serverInfo":{"name":"mcp-sitter","version":"1.0"},"instructions":"a\"b"})json");
}

class ClientEnvelopeTest : public ::testing::Test {
 protected:
  ClientEnvelope::Number note(std::string_view version,
                              std::string_view client = R"json({"name":"a"})json") {
    Message::Params params;
    params.envelope_version = version;
    params.envelope_client = client;
    params.envelope_capabilities = "{}";
    return envelope_.note(params);
  }

  ClientEnvelope envelope_;
};

TEST_F(ClientEnvelopeTest, IsUnknownAtFirst) {
  EXPECT_FALSE(envelope_.is_known());
  EXPECT_EQ(envelope_.meta(), "");
}

TEST_F(ClientEnvelopeTest, SaysAgainWhatTheLastRequestSaid) {
  note(R"json("2026-07-28")json");
  EXPECT_TRUE(envelope_.is_known());
  EXPECT_EQ(envelope_.version(), "2026-07-28");
  note(R"json("2026-07-28")json", R"json({"name":"b"})json");
  EXPECT_EQ(envelope_.meta(), R"json({"io.modelcontextprotocol/protocolVersion":"2026-07-28",)json"
                              R"json("io.modelcontextprotocol/clientInfo":{"name":"b"},)json"
                              R"json("io.modelcontextprotocol/clientCapabilities":{}})json");
}

TEST_F(ClientEnvelopeTest, LeavesOutWhatTheClientLeavesOut) {
  Message::Params params;
  params.envelope_version = R"json("2026-07-28")json";
  envelope_.note(params);
  EXPECT_EQ(envelope_.meta(),
            R"json({"io.modelcontextprotocol/protocolVersion":"2026-07-28"})json");
}

TEST_F(ClientEnvelopeTest, ARefusedVersionGivesWayToTheServedOne) {
  const auto first = note(R"json("2026-07-28")json");
  EXPECT_TRUE(envelope_.on_served(first));
  EXPECT_FALSE(envelope_.on_served(first));
  envelope_.on_refused(note(R"json("2099-01-01")json"));
  EXPECT_EQ(envelope_.version(), "2026-07-28");
}

TEST_F(ClientEnvelopeTest, ARefusedFirstVersionProvesNothing) {
  envelope_.on_refused(note(R"json("2099-01-01")json"));
  EXPECT_FALSE(envelope_.is_known());
}

TEST_F(ClientEnvelopeTest, AServedVersionIsNotLostByALateRefusal) {
  const auto first = note(R"json("2026-07-28")json");
  envelope_.on_served(first);
  envelope_.on_refused(first);
  EXPECT_EQ(envelope_.version(), "2026-07-28");
}

TEST_F(ClientEnvelopeTest, ARefusalIsAboutTheVersionThatItsRequestHad) {
  const auto bad = note(R"json("2099-01-01")json");
  const auto good = note(R"json("2026-07-28")json");
  envelope_.on_refused(bad);
  EXPECT_EQ(envelope_.version(), "2026-07-28");
  EXPECT_TRUE(envelope_.on_served(good));
  // A number is never used again.
  envelope_.on_refused(note(R"json("2099-01-01")json"));
  EXPECT_NE(note(R"json("2098-01-01")json"), bad);
}

TEST_F(ClientEnvelopeTest, AVersionThatIsNoStringIsNotSaidAgain) {
  EXPECT_EQ(note("null"), ClientEnvelope::kNone);
  EXPECT_FALSE(envelope_.is_known());
}

}  // namespace
}  // namespace sitter
