#include "core/client/client_envelope.hpp"

#include <gtest/gtest.h>

namespace sitter {
namespace {

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
