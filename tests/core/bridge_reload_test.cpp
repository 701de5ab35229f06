#include "support/rebuild_script.hpp"

namespace sitter {
namespace {

/// Reloads by SIGHUP, with and without a build command.
class BridgeReloadTest : public BridgeRebuildTest {
 protected:
  void reload() { ask_reload(); }
  /// The text of the first block of the answer to a call that child `gen` serves.
  std::string text_of_next_call(Generation gen) {
    client(call(50, "echo"));
    child(gen, result(50, text_result("a")));
    return answer()["result"]["content"][0]["text"];
  }
};

TEST_F(BridgeReloadTest, BuildsAndSwapsWithoutACall) {
  open_listed_session();
  server.tools = {tool("echo"), tool("find")};
  reload();
  EXPECT_THAT(done(), ElementsAre("start build 1"));
  dies(build(1), 0);
  opens(2);
  EXPECT_THAT(done(), Contains("client " + notification("notifications/tools/list_changed")));
  time_passes(seconds(1));
  EXPECT_THAT(text_of_next_call(2),
              AllOf(HasSubstr("spawn #2"), HasSubstr("previous: replaced (SIGHUP) after"),
                    HasSubstr("+1 added (find)")));
}

TEST_F(BridgeReloadTest, WithoutABuildCommandTheServerIsStartedAnew) {
  config.build_command.clear();
  open_session();
  reload();
  EXPECT_THAT(done(), Contains("start 2"));
  opens(2);
  EXPECT_THAT(done(), Contains("close 1"));
  EXPECT_THAT(text_of_next_call(2), HasSubstr("spawn #2"));
}

TEST_F(BridgeReloadTest, AFailedBuildIsToldInTheNextResult) {
  open_session();
  reload();
  child_says(build(1), "a.c:1: error: no");
  dies(build(1), 2);
  done();
  EXPECT_THAT(text_of_next_call(1),
              AllOf(HasSubstr("[mcp-sitter] SIGHUP: the build failed (exit 2)"),
                    HasSubstr("serves on"), HasSubstr("a.c:1: error: no")));
  EXPECT_EQ(text_of_next_call(1), "a");
}

TEST_F(BridgeReloadTest, WhatALaterReloadHasMendedIsNotTold) {
  open_session();
  reload();
  dies(build(1), 2);
  reload();
  dies(build(2), 0);
  opens(2);
  done();
  EXPECT_THAT(text_of_next_call(2), AllOf(HasSubstr("spawn #2"), Not(HasSubstr("failed"))));
}

TEST_F(BridgeReloadTest, AFailureThatACallHasMendedIsNotTold) {
  open_session();
  reload();
  dies(build(1), 2);
  client(rebuild(1));
  dies(build(2), 0);
  opens(2);
  EXPECT_THAT(text_of(rebuilt()), AllOf(HasSubstr("spawn #2"), Not(HasSubstr("failed"))));
}

TEST_F(BridgeReloadTest, ReportsAFailureTogetherWithTheRestart) {
  open_session();
  reload();
  dies(build(1), 0);
  opens(2);
  reload();
  dies(build(2), 2);
  done();
  EXPECT_THAT(
      text_of_next_call(2),
      AllOf(HasSubstr("spawn #2"), HasSubstr("\n[mcp-sitter] SIGHUP: the build failed (exit 2)")));
}

TEST_F(BridgeReloadTest, AServerThatDoesNotComeIsToldInTheNextResult) {
  config.build_command.clear();
  open_session();
  reload();
  dies(2, 1);
  done();
  EXPECT_THAT(
      text_of_next_call(1),
      AllOf(HasSubstr("[mcp-sitter] SIGHUP: the server could not be started: it ended (exit 1)"),
            HasSubstr("serves on"), Not(HasSubstr("the build"))));
}

TEST_F(BridgeReloadTest, ACallJoinsTheReload) {
  open_session();
  reload();
  client(rebuild(1));
  dies(build(1), 0);
  opens(2);
  EXPECT_THAT(text_of(rebuilt()), HasSubstr("spawn #2"));
  EXPECT_EQ(text_of_next_call(2), "a");
}

TEST_F(BridgeReloadTest, TheCancellationOfACallThatHasJoinedDoesNotStopIt) {
  open_session();
  reload();
  client(rebuild(1));
  done();
  client(cancelled(1));
  EXPECT_THAT(done(), IsEmpty());
  dies(build(1), 0);
  EXPECT_THAT(done(), Contains("start 2"));
  opens(2);
}

TEST_F(BridgeReloadTest, ASecondOneDuringTheBuildIsDoneAfterIt) {
  // A running build may not contain a file that was saved since the build began.
  open_session();
  reload();
  reload();
  reload();
  EXPECT_THAT(done(), ElementsAre("start build 1"));
  dies(build(1), 2);
  EXPECT_THAT(done(), Contains("start build 2"));
  dies(build(2), 0);
  opens(2);
  EXPECT_THAT(done(), Not(Contains("start build 3")));
  EXPECT_THAT(text_of_next_call(2), Not(HasSubstr("failed")));
}

TEST_F(BridgeReloadTest, AReloadThatBeginsAnewCoversTheQueuedReload) {
  open_session();
  reload();
  reload();
  dies(build(1), 0);
  EXPECT_THAT(done(), Contains("start 2"));
  reload();
  EXPECT_THAT(done(), Contains("start build 2"));
  dies(2, 0);
  dies(build(2), 0);
  opens(3);
  EXPECT_THAT(done(), Not(Contains("start build 3")));
}

TEST_F(BridgeReloadTest, TheBuildAfterACancelledBuildCoversTheQueuedReload) {
  open_session();
  client(rebuild(1));
  reload();
  client(cancelled(1));
  client(rebuild(2));
  reload();
  dies(build(1), 143, "SIGTERM");
  EXPECT_THAT(done(), Contains("start build 2"));
  dies(build(2), 2);
  EXPECT_THAT(done(), Not(Contains("start build 3")));
}

TEST_F(BridgeReloadTest, EachFailureIsToldAlsoBesideStructure) {
  const auto structured = [&](const std::string& text) {
    client(call(50, "echo"));
    child(1, result(50, R"json({"content":[],"structuredContent":{}})json"));
    return answer().dump().find(text) != std::string::npos;
  };
  open_session();
  reload();
  dies(build(1), 2);
  done();
  EXPECT_TRUE(structured("exit 2"));
  EXPECT_FALSE(structured("exit 2"));
  reload();
  dies(build(2), 3);
  done();
  EXPECT_TRUE(structured("exit 3"));
}

TEST_F(BridgeReloadTest, DoesNotNameSitterRebuildWithoutABuildCommand) {
  config.build_command.clear();
  open_session();
  reload();
  dies(2, 1);
  done();
  EXPECT_THAT(text_of_next_call(1), Not(HasSubstr("sitter_rebuild")));
}

TEST_F(BridgeReloadTest, ACrashDuringABuildThatFailsIsFollowedByARestart) {
  config.restarts = BridgeConfig::Restarts::on_crash;
  open_session();
  reload();
  dies(1, 3);
  time_passes(seconds(5));
  dies(build(1), 2);
  EXPECT_THAT(done(), Not(Contains("start 2")));
  time_passes(seconds(1));
  EXPECT_THAT(done(), Contains("start 2"));
  opens(2);
}

TEST_F(BridgeReloadTest, AfterAKillThatFindsNothingNoRestartFollowsAFailedBuild) {
  config.restarts = BridgeConfig::Restarts::on_crash;
  open_session();
  reload();
  dies(1, 3);
  client(call(1, "sitter_kill"));
  dies(build(1), 2);
  time_passes(seconds(60));
  EXPECT_THAT(done(), Not(Contains("start 2")));
}

TEST_F(BridgeReloadTest, IgnoresAReloadAtTheEndOfTheSession) {
  open_session();
  client(call(2, "slow"));
  client_closes_input();
  done();
  reload();
  EXPECT_THAT(done(), IsEmpty());
  child(1, result(2));
}

TEST_F(BridgeReloadTest, TheStatusGoesToTheLog) {
  open_session();
  ask_status();
  EXPECT_THAT(logs(), Contains(HasSubstr("\"childState\": \"ready\"")));
}

TEST_F(BridgeReloadTest, ACrashDuringABuildThatIsCancelledIsFollowedByARestart) {
  config.restarts = BridgeConfig::Restarts::on_crash;
  open_session();
  client(call(1, "sitter_rebuild"));
  dies(1, 139, "SIGSEGV");
  time_passes(seconds(5));
  client(cancelled(1));
  dies(build(1), 143, "SIGTERM");
  done();
  time_passes(seconds(60));
  EXPECT_THAT(done(), Contains("start 2"));
  opens(2);
}

TEST_F(BridgeReloadTest, ASecondOpeningCountsThoughItsServerWasReplaced) {
  open_session();
  client(initialize(77, "2025-06-18", "other"));
  ask_reload();
  dies(build(1), 0);
  opens(2);
  child(1, result(77, server.opening()));
  client(initialized());
  dies(1, 0);
  dies(2, 0);
  done();
  client(call(3, "echo"));
  EXPECT_THAT(done(), Contains(AllOf(HasSubstr("\"initialize\""), HasSubstr("\"other\""))));
  opens(3);
  child(3, result(3, text_result("a")));
}

}  // namespace
}  // namespace sitter
