#include "core/client/opening.hpp"

#include <gtest/gtest.h>

#include <string>

#include "sitter/line.hpp"

namespace sitter {
namespace {

class OpeningTest : public ::testing::Test {
 protected:
  const Message& read(std::string text) {
    line_ = OwnedLine(text);
    return *reader_.read(line_.line());
  }

  const Message& initialize(std::string_view version) {
    return read(
        R"json({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":")json" +
        std::string(version) + R"json("}})json");
  }

  void begin(std::string_view version = "2025-06-18") {
    opening_.begin(initialize(version), RequestHandle{7}, Instant() + Milliseconds(30));
  }

  void speak_stateless() {
    const Message& request =
        read(R"json({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{)json"
             R"json("io.modelcontextprotocol/protocolVersion":"2026-07-28",)json"
             R"json("io.modelcontextprotocol/clientCapabilities":{}}}})json");
    opening_.on_envelope();
    opening_.note(request.params);
  }

  static OpeningResult result(std::string version, std::string capabilities) {
    OpeningResult opened;
    opened.protocol_version = std::move(version);
    opened.capabilities = std::move(capabilities);
    return opened;
  }

  MessageReader reader_;
  OwnedLine line_;
  Opening opening_;
};

TEST_F(OpeningTest, NothingIsOpenBeforeTheClientHasSpoken) {
  EXPECT_FALSE(opening_.is_open());
  EXPECT_FALSE(opening_.has_met_envelope());
  EXPECT_EQ(opening_.told(), nullptr);
  EXPECT_EQ(opening_.first(), std::nullopt);
}

TEST_F(OpeningTest, AnInitializeOpensASessionThatIsOwedAnAnswer) {
  begin();
  EXPECT_TRUE(opening_.is_open());
  EXPECT_FALSE(opening_.session().is_answered());
  EXPECT_EQ(opening_.first(), RequestHandle{7});
  EXPECT_EQ(opening_.answer_by(), Instant() + Milliseconds(30));
}

TEST_F(OpeningTest, TheAnswerOfAChildIsWhatTheClientIsTold) {
  begin();
  opening_.on_sent(3);
  opening_.on_answered(result("2025-03-26", R"json({"prompts":{}})json"));
  EXPECT_EQ(opening_.answer_by(), std::nullopt);
  EXPECT_EQ(opening_.session().version(), "2025-03-26");
  EXPECT_TRUE(opening_.was_sent_to(3));
  ASSERT_NE(opening_.told(), nullptr);
  EXPECT_TRUE(opening_.hears_change(CatalogKind::tools));
  EXPECT_TRUE(opening_.hears_change(CatalogKind::prompts));
  EXPECT_FALSE(opening_.hears_change(CatalogKind::resources));
  EXPECT_FALSE(opening_.may_have(CatalogKind::resources));
}

TEST_F(OpeningTest, AnAnswerOfTheBridgeHasTheVersionAskedForIfItIsKnown) {
  begin("2025-06-18");
  opening_.on_sent(3);
  EXPECT_EQ(opening_.answer_ourselves(), "2025-06-18");
  EXPECT_TRUE(opening_.session().answered_by_us);
  EXPECT_FALSE(opening_.was_sent_to(3));
  EXPECT_EQ(opening_.told(), nullptr);
  EXPECT_TRUE(opening_.hears_change(CatalogKind::resources));
  begin("2031-01-01");
  opening_.on_told({"2025-11-25", "{}", "{}", "Add first."});
  EXPECT_EQ(opening_.answer_ourselves(), kNewestLegacyVersion);
  EXPECT_EQ(opening_.told(), nullptr);
}

TEST_F(OpeningTest, ARefusalEndsTheSession) {
  begin();
  opening_.on_sent(3);
  opening_.on_refused();
  EXPECT_FALSE(opening_.is_open());
  EXPECT_FALSE(opening_.was_sent_to(3));
  EXPECT_EQ(opening_.answer_by(), std::nullopt);
}

TEST_F(OpeningTest, AnotherOpeningForgetsWhatWasSetUpButInitialized) {
  begin();
  opening_.on_initialized("{}");
  opening_.set_log_level("\"debug\"");
  EXPECT_TRUE(opening_.subscribe("\"file:///a\""));
  opening_.begin_again(initialize("2024-11-05"));
  EXPECT_TRUE(opening_.session().is_initialized());
  EXPECT_EQ(opening_.session().log_level, "");
  EXPECT_TRUE(opening_.session().subscriptions.empty());
  EXPECT_EQ(opening_.session().version(), "2024-11-05");
}

TEST_F(OpeningTest, AChildIsAReplacementOnlyForAnOpenClient) {
  opening_.on_envelope();
  opening_.on_another_child();
  EXPECT_FALSE(opening_.next_child_is_replacement());
  speak_stateless();
  EXPECT_TRUE(opening_.is_open());
  EXPECT_FALSE(opening_.next_child_is_replacement());
  opening_.on_another_child();
  EXPECT_TRUE(opening_.next_child_is_replacement());
  opening_.on_envelope();
  EXPECT_TRUE(opening_.next_child_is_replacement());
  EXPECT_TRUE(opening_.has_met_envelope());
}

TEST_F(OpeningTest, AChildWithoutAnOpeningChangesOnlyTheServerName) {
  OpeningResult known = result("2025-06-18", R"json({"tools":{}})json");
  known.server_info = R"json({"name":"a"})json";
  opening_.on_told(known);
  opening_.on_told(OpeningResult());
  EXPECT_EQ(opening_.told()->server_name(), "a");
  OpeningResult named;
  named.server_info = R"json({"name":"b"})json";
  opening_.on_told(named);
  EXPECT_EQ(opening_.told()->server_name(), "b");
  EXPECT_TRUE(opening_.told()->declares("tools"));
}

}  // namespace
}  // namespace sitter
