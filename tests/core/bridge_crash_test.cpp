#include "support/bridge_script.hpp"

namespace sitter {
namespace {

/// A server crashes, and leaves a core dump.
class BridgeCrashTest : public BridgeTest {
 protected:
  std::string text_of_call(int id, Generation gen) {
    client(call(id, "echo"));
    opens(gen);
    child(gen, result(id, text_result("a")));
    return answer().dump();
  }
  nlohmann::json last_failure() {
    client(call(90, "sitter_status"));
    return nlohmann::json::parse(answer_text())["lastFailure"];
  }
};

TEST_F(BridgeCrashTest, TheAnswerNamesTheCoreDumpAndTheNextNoticeTheStack) {
  open_session();
  client(call(5, "echo"));
  done();
  crashes(1, "Its core dump is /core");
  const auto orders = done();
  EXPECT_THAT(orders, AllOf(Contains("read stack of 1"), Contains(HasSubstr("SIGSEGV"))));
  EXPECT_THAT(orders, Contains(HasSubstr("\\nIts core dump is /core.\\n")));
  EXPECT_EQ(last_failure()["core"], "Its core dump is /core");
  EXPECT_FALSE(last_failure().contains("stack"));
  reads_stack(1, "inner at a.c:3 < main at a.c:9");
  EXPECT_EQ(last_failure()["stack"], "inner at a.c:3 < main at a.c:9");
  const std::string text = text_of_call(6, 2);
  EXPECT_THAT(text, HasSubstr("spawn #1 crashed in: inner at a.c:3 < main at a.c:9"));
  EXPECT_THAT(text, Not(HasSubstr("core dump"))) << "it was told";
  client(call(7, "echo"));
  child(2, result(7, text_result("a")));
  EXPECT_THAT(answer().dump(), Not(HasSubstr("crashed in")));
}

TEST_F(BridgeCrashTest, AnOpeningWithoutAServerNamesTheCoreDump) {
  client(initialize(0));
  crashes(1, "Its core dump is /core");
  EXPECT_THAT(
      answer()["result"]["instructions"],
      HasSubstr("(SIGSEGV) after 0s, before it had answered its opening. Its core dump is /core."));
}

TEST_F(BridgeCrashTest, ACrashThatAnsweredNoCallIsToldWithItsCoreDump) {
  open_session();
  crashes(1, "Its core dump is /core");
  done();
  EXPECT_THAT(text_of_call(5, 2), HasSubstr("[mcp-sitter] Its core dump is /core."));
}

TEST_F(BridgeCrashTest, WhatHoldsForTwoCrashesIsToldOnce) {
  config.restarts = BridgeConfig::Restarts::eager;
  open_session();
  crashes(1, "No core dump was made");
  time_passes(seconds(1));
  opens(2);
  crashes(2, "No core dump was made");
  time_passes(seconds(2));
  const std::string text = text_of_call(5, 3);
  EXPECT_EQ(text.find("No core dump"), text.rfind("No core dump"));
  EXPECT_THAT(text, HasSubstr("No core dump"));
}

TEST_F(BridgeCrashTest, AStackThatComesLateIsToldAllTheSame) {
  open_session();
  crashes(1, "Its core dump is /core");
  done();
  text_of_call(5, 2);
  reads_stack(1, "inner at a.c:3 < main at a.c:9");
  client(call(6, "echo"));
  child(2, result(6, text_result("a")));
  EXPECT_THAT(answer().dump(), HasSubstr("spawn #1 crashed in: inner at a.c:3"));
}

TEST_F(BridgeCrashTest, AnAnswerAboutAStartNamesItOnce) {
  config.build_command = "make";
  open_session();
  client(call(5, "sitter_rebuild"));
  dies(build(1), 0);
  done();
  crashes(2, "Its core dump is /core");
  EXPECT_THAT(client_got(), Contains(HasSubstr("\\nIts core dump is /core.\\n")));
  client(call(6, "echo"));
  child(1, result(6, text_result("a")));
  EXPECT_THAT(answer().dump(), Not(HasSubstr("core dump")));
}

TEST_F(BridgeCrashTest, ACallThatStartsAServerWhichCrashesIsToldOnce) {
  open_session();
  dies(1, 0);
  client(call(5, "echo"));
  done();
  crashes(2, "Its core dump is /core");
  EXPECT_THAT(client_got(), Contains(HasSubstr("\\nIts core dump is /core.\\n")));
  EXPECT_THAT(text_of_call(6, 3), Not(HasSubstr("core dump")));
}

TEST_F(BridgeCrashTest, WithoutACoreDumpNoStackIsRead) {
  open_session();
  dies(1, 139, "SIGSEGV");
  EXPECT_THAT(done(), Not(Contains("read stack of 1")));
}

}  // namespace
}  // namespace sitter
