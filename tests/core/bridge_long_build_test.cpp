#include "support/rebuild_script.hpp"

namespace sitter {
namespace {

constexpr ControlId kScript = 7;

/// Builds that take longer than clients wait for a call.
class BridgeLongBuildTest : public BridgeRebuildTest {
 protected:
  /// Call 1 is answered before its build has ended.
  void wait_for_the_answer(const std::string& arguments = "{}") {
    open_session();
    client(rebuild(1, arguments));
    time_passes(seconds(100));
    EXPECT_THAT(done(), Contains(HasSubstr("still building (100s)")));
  }
};

TEST_F(BridgeLongBuildTest, ACallIsAnsweredAfterAHundredSeconds) {
  open_session();
  client(rebuild(1));
  child_says(build(1), "[412/900] CC a.c");
  time_passes(milliseconds(99'999));
  EXPECT_THAT(client_got(), IsEmpty());
  time_passes(milliseconds(1));
  const auto answer = rebuilt();
  EXPECT_FALSE(answer.value("isError", false));
  EXPECT_EQ(text_of(answer),
            "[mcp-sitter] still building (100s, [412/900] CC a.c); it goes on: call "
            "sitter_rebuild again to wait.");
  dies(build(1), 0);
  opens(2);
}

TEST_F(BridgeLongBuildTest, NamesTheToolAsItIsOffered) {
  config.tool_names = {{Builtin::rebuild, "make_it"}};
  open_session();
  client(call(1, "make_it"));
  time_passes(seconds(100));
  EXPECT_THAT(text_of(rebuilt()), HasSubstr("call make_it again to wait"));
  dies(build(1), 2);
}

TEST_F(BridgeLongBuildTest, TheNextCallJoinsTheBuildForAHundredSeconds) {
  wait_for_the_answer();
  client(rebuild(2));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(seconds(100));
  EXPECT_THAT(client_got(),
              ElementsAre(AllOf(HasSubstr("\"id\":2,"), HasSubstr("still building (200s)"))));
  client(rebuild(3));
  dies(build(1), 0);
  opens(2);
  EXPECT_THAT(client_got(),
              Contains(AllOf(HasSubstr("\"id\":3,"), HasSubstr("succeeded"),
                             HasSubstr("has joined a build that had been running for 3m"),
                             HasSubstr("server restarted"))));
}

TEST_F(BridgeLongBuildTest, TheCancellationOfTheNextCallLeavesTheBuildRunning) {
  wait_for_the_answer();
  client(rebuild(2));
  client(cancelled(2));
  EXPECT_THAT(done(), IsEmpty());
  dies(build(1), 2);
}

TEST_F(BridgeLongBuildTest, ACallBehindTheEndOfTheBuildBeginsAnother) {
  wait_for_the_answer();
  dies(build(1), 2);
  client(rebuild(2));
  EXPECT_THAT(done(), Contains("start build 2"));
  dies(build(2), 2);
}

TEST_F(BridgeLongBuildTest, TheNextResultTellsThatTheBuildHasFailed) {
  wait_for_the_answer();
  child_says(build(1), "a.c:1: error: no");
  dies(build(1), 2);
  client(call(2, "echo"));
  child(1, result(2, text_result("a")));
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("the build failed (exit 2) after 1m"),
                                              HasSubstr("a.c:1: error: no"))));
}

TEST_F(BridgeLongBuildTest, TheNextResultTellsOfTheNewServer) {
  wait_for_the_answer();
  dies(build(1), 0);
  opens(2);
  client(call(2, "echo"));
  child(2, result(2, text_result("a")));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("server restarted (spawn #2")));
}

TEST_F(BridgeLongBuildTest, TheBuildKeepsItsOwnLimit) {
  wait_for_the_answer(R"json({"timeout_seconds":130})json");
  time_passes(milliseconds(29'999));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(done(), ElementsAre("close build 1", "terminate build 1"));
  dies(build(1), 143, "SIGTERM");
}

TEST_F(BridgeLongBuildTest, WithoutACallTheBuildIsWantedForTenMinutes) {
  wait_for_the_answer();
  time_passes(milliseconds(599'999));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(done(), ElementsAre("close build 1", "terminate build 1"));
  dies(build(1), 143, "SIGTERM");
}

TEST_F(BridgeLongBuildTest, AKillEndsTheBuildThatGoesOn) {
  wait_for_the_answer();
  client(call(2, "sitter_kill"));
  EXPECT_THAT(done(), Contains("terminate build 1"));
  dies(1, 0);
  dies(build(1), 143, "SIGTERM");
  EXPECT_THAT(done(), Not(Contains("start 2")));
}

TEST_F(BridgeLongBuildTest, ASlowStartBehindTheBuildCountsToo) {
  config.startup_timeout = {};
  open_session();
  build_works();
  time_passes(seconds(100));
  EXPECT_EQ(text_of(rebuilt()),
            "[mcp-sitter] the new server is still on its way; it goes on: call sitter_rebuild "
            "again to wait.");
  client(rebuild(2));
  opens(2);
  EXPECT_THAT(client_got(), Contains(AllOf(HasSubstr("\"id\":2,"), HasSubstr("restarted"))));
}

TEST_F(BridgeLongBuildTest, AKillThatStartsTheServerIsAnsweredTooAndKeepsItsReport) {
  config.startup_timeout = {};
  open_session();
  client(call(1, "sitter_kill", R"json({"restart":true})json"));
  dies(1, 0);
  time_passes(seconds(100));
  EXPECT_THAT(text_of(rebuilt()),
              AllOf(HasSubstr("the new server is still on its way; it goes on; sitter_status "
                              "shows it, sitter_kill ends it.\n"),
                    HasSubstr("\"count\": 1")));
  opens(2);
}

TEST_F(BridgeLongBuildTest, ACallOfCtlWaitsOn) {
  open_session();
  control(kScript, R"json({"command":"reload"})json");
  time_passes(seconds(599));
  EXPECT_THAT(control_got(kScript), IsEmpty());
  dies(build(1), 2);
  EXPECT_THAT(control_got(kScript), SizeIs(1));
}

}  // namespace
}  // namespace sitter
