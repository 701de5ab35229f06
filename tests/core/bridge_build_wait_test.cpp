#include "support/rebuild_script.hpp"

namespace sitter {
namespace {

constexpr ControlId kScript = 7;

/// Which calls wait for a build, for how long, and what ends the build.
class BridgeBuildWaitTest : public BridgeRebuildTest {
 protected:
  /// A build is running, nobody in the session waits for it, and there is no server.
  void hang_in_a_build() {
    open_session();
    ask_reload();
    dies(1, 3);
    done();
  }
  /// The build of call 1 is being stopped when call 2 comes.
  void stop_at_the_limit() {
    open_session();
    client(rebuild(1, R"json({"timeout_seconds":1})json"));
    time_passes(seconds(1));
    EXPECT_THAT(done(), Contains("terminate build 1"));
    client(rebuild(2, R"json({"timeout_seconds":20})json"));
    EXPECT_THAT(done(), IsEmpty());
  }
  /// Child 2 is starting, and call 1 waits for it. Reloads must wait until then.
  void expect_reloads_to_wait() {
    for (int n = 0; n < 3; ++n) ask_reload();
    EXPECT_THAT(done(), IsEmpty());
    opens(2);
    EXPECT_THAT(done(), AllOf(Contains("child 2 " + call(1, "echo")), Contains("start 3")));
    child(2, result(1));
    opens(3);
  }
  void ctl_reload() { control(kScript, R"json({"command":"reload"})json"); }
};

TEST_F(BridgeBuildWaitTest, AKillEndsABuildThatNoCallWaitsFor) {
  hang_in_a_build();
  client(call(1, "echo"));
  EXPECT_THAT(done(), IsEmpty());
  client(call(2, "sitter_kill"));
  EXPECT_THAT(done(), AllOf(Contains("close build 1"), Contains("terminate build 1"),
                            Contains(AllOf(HasSubstr("\"id\":1,"), HasSubstr("not delivered"))),
                            Contains(HasSubstr("\"id\":2,"))));
  dies(build(1), 143, "SIGTERM");
  EXPECT_THAT(done(), Not(Contains("start 2")));
  client(call(3, "echo"));
  EXPECT_THAT(done(), Contains("start 2"));
  opens(2);
  child(2, result(3));
}

TEST_F(BridgeBuildWaitTest, ARequestBehindTheKillStartsAServerAsSoonAsTheBuildHasEnded) {
  hang_in_a_build();
  client(call(2, "sitter_kill"));
  client(call(3, "echo"));
  EXPECT_THAT(done(), Not(Contains("start 2")));
  dies(build(1), 143, "SIGTERM");
  EXPECT_THAT(done(), Contains("start 2"));
  opens(2);
  child(2, result(3));
}

TEST_F(BridgeBuildWaitTest, AKillDropsTheQueuedReload) {
  open_session();
  ask_reload();
  ctl_reload();
  client(call(2, "sitter_kill"));
  EXPECT_THAT(control_got(kScript), ElementsAre(HasSubstr("because sitter_kill was called")));
  dies(1, 0);
  dies(build(1), 143, "SIGTERM");
  EXPECT_THAT(done(), AllOf(Not(Contains("start build 2")), Not(Contains("start 2"))));
}

TEST_F(BridgeBuildWaitTest, AKillEndsABuildThatOnlyCtlWaitsFor) {
  open_session();
  ctl_reload();
  control(8, R"json({"command":"kill"})json");
  EXPECT_THAT(control_got(kScript), ElementsAre(AllOf(HasSubstr("because ctl kill was called"),
                                                      HasSubstr("\"isError\":true"))));
  dies(1, 0);
  dies(build(1), 143, "SIGTERM");
  EXPECT_THAT(done(), Not(Contains("start 2")));
}

TEST_F(BridgeBuildWaitTest, ANewServerThatNoCallWaitsForIsKilledToo) {
  config.build_command.clear();
  open_session();
  ask_reload();
  client(call(1, "sitter_kill"));
  dies(1, 0);
  dies(2, 0);
  EXPECT_THAT(answer_text(), HasSubstr("\"count\": 2"));
  time_passes(seconds(60));
  EXPECT_THAT(done(), Not(Contains("start 3")));
}

TEST_F(BridgeBuildWaitTest, ACallThatWaitsForTheBuildKeepsItFromAKill) {
  open_session();
  ask_reload();
  client(rebuild(1));
  client(call(2, "sitter_kill"));
  EXPECT_THAT(done(), Not(Contains("close build 1")));
  dies(1, 0);
  done();
  // Only this call still waits for the build.
  client(cancelled(1));
  EXPECT_THAT(done(), Contains("close build 1"));
  dies(build(1), 143, "SIGTERM");
}

TEST_F(BridgeBuildWaitTest, ACallThatJoinsHasALimitOfItsOwn) {
  open_session();
  ask_reload();
  time_passes(seconds(45));
  client(rebuild(1, R"json({"timeout_seconds":2})json"));
  time_passes(milliseconds(1999));
  EXPECT_THAT(done(), ElementsAre("start build 1"));
  time_passes(milliseconds(1));
  EXPECT_EQ(text_of(rebuilt()),
            "[mcp-sitter] this call gives up after 2s (timeout_seconds), but a build has been "
            "running for 47s (SIGHUP) and goes on, since others wait for it too; call again to "
            "wait longer; sitter_build_log shows it, sitter_kill ends it.");
  dies(build(1), 0);
  EXPECT_THAT(done(), Contains("start 2"));
  opens(2);
}

TEST_F(BridgeBuildWaitTest, StopsABuildWhenTheLastWaiterTimesOut) {
  open_session();
  client(rebuild(1, R"json({"timeout_seconds":3})json"));
  time_passes(seconds(1));
  client(rebuild(2, R"json({"timeout_seconds":7})json"));
  time_passes(seconds(2));
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("\"id\":1,"), HasSubstr("goes on"),
                                              Not(HasSubstr("sitter_kill")))));
  time_passes(milliseconds(4999));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(done(), ElementsAre("close build 1", "terminate build 1"));
  dies(build(1), 143, "SIGTERM");
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("\"id\":2,"), HasSubstr("after 8s"))));
}

TEST_F(BridgeBuildWaitTest, AReloadWaitsTenMinutesAndACallThatHasJoinedItLonger) {
  open_session();
  ask_reload();
  client(rebuild(1, R"json({"timeout_seconds":700})json"));
  time_passes(seconds(100));
  done();
  time_passes(milliseconds(599'999));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(done(), ElementsAre("close build 1", "terminate build 1"));
  dies(build(1), 143, "SIGTERM");
}

TEST_F(BridgeBuildWaitTest, AReloadAloneIsStoppedAfterTenMinutes) {
  open_session();
  ask_reload();
  time_passes(seconds(600) - milliseconds(1));
  EXPECT_THAT(done(), ElementsAre("start build 1"));
  time_passes(milliseconds(1));
  EXPECT_THAT(done(), ElementsAre("close build 1", "terminate build 1"));
  dies(build(1), 143, "SIGTERM");
}

TEST_F(BridgeBuildWaitTest, AReloadThatJoinsARebuildBeforeItsBuildWaitsTenMinutesToo) {
  open_session();
  client(call(5, "slow"));
  client(rebuild(1, R"json({"mode":"kill-first"})json"));
  ask_reload();
  client(cancelled(1));
  child(1, result(5));
  dies(1, 0);
  EXPECT_THAT(done(), Contains("start build 1"));
  time_passes(seconds(599));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(seconds(1));
  EXPECT_THAT(done(), ElementsAre("close build 1", "terminate build 1"));
  dies(build(1), 143, "SIGTERM");
}

TEST_F(BridgeBuildWaitTest, ABuildIsStoppedWhenTheCtlThatWaitsForItGoes) {
  open_session();
  ctl_reload();
  EXPECT_THAT(done(), ElementsAre("start build 1"));
  control_closes(kScript);
  EXPECT_THAT(done(), ElementsAre("close build 1", "terminate build 1"));
  dies(build(1), 143, "SIGTERM");
  EXPECT_THAT(control_got(kScript), IsEmpty());
  client(call(1, "echo"));
  child(1, result(1));
}

TEST_F(BridgeBuildWaitTest, ACtlThatHasGoneLeadsToNoFurtherBuild) {
  open_session();
  ask_reload();
  ctl_reload();
  control_closes(kScript);
  dies(build(1), 2);
  EXPECT_THAT(done(), Not(Contains("start build 2")));
}

TEST_F(BridgeBuildWaitTest, ACtlThatDisconnectsLeavesReloadsOfOthersRunning) {
  open_session();
  ask_reload();
  ctl_reload();
  ask_reload();
  control_closes(kScript);
  dies(build(1), 2);
  EXPECT_THAT(done(), Contains("start build 2"));
  dies(build(2), 2);
}

TEST_F(BridgeBuildWaitTest, ARequestWaitsForABuildForFortyFiveSeconds) {
  hang_in_a_build();
  time_passes(seconds(2));
  client(call(1, "echo"));
  client(request(2, "tools/list"));
  client(request(3, "resources/read", R"json({"uri":"a"})json"));
  time_passes(milliseconds(44'999));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(1));
  const auto got = client_got();
  ASSERT_THAT(got, SizeIs(3));
  EXPECT_THAT(got[0],
              AllOf(HasSubstr("\"isError\":true"),
                    HasSubstr("[mcp-sitter] this request was not delivered, because a build has "
                              "been running for 47s (SIGHUP); call again to wait longer; "
                              "sitter_build_log shows it, sitter_kill ends it.")));
  EXPECT_THAT(got[1], HasSubstr("\"name\":\"echo\""));
  EXPECT_THAT(got[2], AllOf(HasSubstr("-32603"), HasSubstr("a build has been running for 47s")));
  client(call(4, "echo"));
  EXPECT_THAT(done(), IsEmpty());
  dies(build(1), 0);
  opens(2);
  EXPECT_THAT(done(), Contains("child 2 " + call(4, "echo")));
  child(2, result(4));
}

TEST_F(BridgeBuildWaitTest, WhatItHasWaitedForBeforeTheReloadDoesNotCount) {
  config.build_command.clear();
  open_session();
  dies(1, 3);
  client(call(1, "echo"));
  time_passes(seconds(46));
  ask_reload();
  dies(2, 0);
  time_passes(seconds(44));
  EXPECT_THAT(client_got(), IsEmpty());
  opens(3);
  EXPECT_THAT(done(), Contains("child 3 " + call(1, "echo")));
  child(3, result(1));
}

TEST_F(BridgeBuildWaitTest, NoOtherToolEndsTheBuildOfACall) {
  open_session();
  client(rebuild(1, R"json({"mode":"kill-first"})json"));
  dies(1, 0);
  client(call(2, "echo"));
  time_passes(seconds(45));
  EXPECT_THAT(
      client_got(),
      ElementsAre(AllOf(HasSubstr("(sitter_rebuild); call again to wait longer; sitter_build_log"),
                        Not(HasSubstr("sitter_kill")))));
  dies(build(1), 2);
}

TEST_F(BridgeBuildWaitTest, WhileAServerServesNoRequestWaitsForABuild) {
  open_session();
  ask_reload();
  client(call(1, "echo"));
  EXPECT_THAT(done(), Contains("child 1 " + call(1, "echo")));
  time_passes(seconds(60));
  EXPECT_THAT(client_got(), IsEmpty());
  child(1, result(1));
}

TEST_F(BridgeBuildWaitTest, SavesThatGoOnDoNotMakeARequestWaitLonger) {
  hang_in_a_build();
  client(call(1, "echo"));
  time_passes(seconds(30));
  ask_reload();
  dies(build(1), 2);
  EXPECT_THAT(done(), Contains("start build 2"));
  time_passes(milliseconds(14'999));
  EXPECT_THAT(client_got(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("not delivered")));
  dies(build(2), 2);
}

TEST_F(BridgeBuildWaitTest, ACallDuringTheStopOfABuildAtItsLimitHasABuildOfItsOwn) {
  stop_at_the_limit();
  dies(build(1), 143, "SIGTERM");
  EXPECT_THAT(done(), AllOf(Contains(AllOf(HasSubstr("\"id\":1,"), HasSubstr("ended after 1s"))),
                            Not(Contains(HasSubstr("\"id\":2,"))), Contains("start build 2")));
  time_passes(milliseconds(19'999));
  EXPECT_THAT(client_got(), IsEmpty());
  dies(build(2), 0);
  opens(2);
  EXPECT_THAT(client_got(), Contains(AllOf(HasSubstr("\"id\":2,"), HasSubstr("restarted"))));
}

TEST_F(BridgeBuildWaitTest, AKillLeavesTheBuildOfACallThatCameDuringTheStop) {
  stop_at_the_limit();
  ask_reload();
  client(call(3, "sitter_kill"));
  dies(1, 0);
  dies(build(1), 143, "SIGTERM");
  EXPECT_THAT(done(), Contains("start build 2"));
  client(cancelled(2));
  EXPECT_THAT(done(), ElementsAre("close build 2", "terminate build 2"));
  dies(build(2), 143, "SIGTERM");
  EXPECT_THAT(done(), Not(Contains("start build 3")));
}

TEST_F(BridgeBuildWaitTest, TheEndOfTheInputLeavesTheBuildOfACallThatCameDuringTheStop) {
  stop_at_the_limit();
  client_closes_input();
  dies(build(1), 143, "SIGTERM");
  EXPECT_THAT(done(), Contains("start build 2"));
  dies(build(2), 2);
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("\"id\":2,"), HasSubstr("failed"))));
  dies(1, 0);
}

TEST_F(BridgeBuildWaitTest, ACallThatIsCancelledDuringTheStopHasNoBuild) {
  stop_at_the_limit();
  client(cancelled(2));
  dies(build(1), 143, "SIGTERM");
  EXPECT_THAT(done(), Not(Contains("start build 2")));
}

TEST_F(BridgeBuildWaitTest, TheBuildAfterACancelledOneHasTheModeOfTheOldestCallThatIsLeft) {
  config.on_busy_wait = seconds(0);
  open_session();
  client(rebuild(1));
  client(cancelled(1));
  client(rebuild(2));
  client(rebuild(3, R"json({"mode":"kill-first"})json"));
  client(cancelled(2));
  done();
  dies(build(1), 143, "SIGTERM");
  EXPECT_THAT(done(), AllOf(Contains("close 1"), Not(Contains("start build 2"))));
  dies(1, 0);
  EXPECT_THAT(done(), Contains("start build 2"));
  dies(build(2), 2);
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("\"id\":3,")));
}

TEST_F(BridgeBuildWaitTest, AKillGivesUpTheCtlThatWaitsForTheBuildOfACall) {
  open_session();
  ctl_reload();
  client(rebuild(1));
  client(call(2, "sitter_kill"));
  EXPECT_THAT(control_got(kScript), ElementsAre(HasSubstr("given up")));
  dies(1, 0);
  client(cancelled(1));
  dies(build(1), 143, "SIGTERM");
  EXPECT_THAT(done(), Not(Contains("start 2")));
}

TEST_F(BridgeBuildWaitTest, AServerThatIsAwaitedIsNotReplacedBeforeItIsUp) {
  config.build_command.clear();
  open_session();
  dies(1, 3);
  client(call(1, "echo"));
  EXPECT_THAT(done(), Contains("start 2"));
  expect_reloads_to_wait();
}

TEST_F(BridgeBuildWaitTest, AnAwaitedServerThatAReloadStartedIsNotReplacedEither) {
  config.build_command.clear();
  open_session();
  dies(1, 3);
  ask_reload();
  EXPECT_THAT(done(), Contains("start 2"));
  client(call(1, "echo"));
  expect_reloads_to_wait();
}

TEST_F(BridgeBuildWaitTest, TheNextBuildDoesNotBeginBeforeAnAwaitedServerIsUp) {
  hang_in_a_build();
  dies(build(1), 0);
  client(call(1, "echo"));
  EXPECT_THAT(done(), Contains("start 2"));
  ask_reload();
  EXPECT_THAT(done(), IsEmpty());
  opens(2);
  EXPECT_THAT(done(), AllOf(Contains("child 2 " + call(1, "echo")), Contains("start build 2")));
  child(2, result(1));
  dies(build(2), 2);
}

TEST_F(BridgeBuildWaitTest, TheWaitForAHangingServerCountsFromItsStart) {
  config.startup_timeout = {};
  config.build_command.clear();
  open_session();
  dies(1, 3);
  client(call(1, "echo"));
  time_passes(seconds(10));
  ask_reload();
  time_passes(milliseconds(34'999));
  EXPECT_THAT(done(), Not(Contains("close 2")));
  time_passes(milliseconds(1));
  EXPECT_THAT(done(), Contains("close 2"));
  dies(2, 0);
  opens(3);
  child(3, result(1));
}

TEST_F(BridgeBuildWaitTest, AServerThatHangsIsAwaitedForFortyFiveSeconds) {
  config.startup_timeout = {};
  config.build_command.clear();
  open_session();
  dies(1, 3);
  client(call(1, "echo"));
  ask_reload();
  time_passes(seconds(30));
  client(call(2, "echo"));
  time_passes(milliseconds(14'999));
  EXPECT_THAT(done(), Not(Contains("close 2")));
  time_passes(milliseconds(1));
  EXPECT_THAT(done(), AllOf(Contains(HasSubstr("not delivered")), Contains("close 2")));
  dies(2, 0);
  EXPECT_THAT(done(), Contains("start 3"));
  opens(3);
  child(3, result(2));
}

TEST_F(BridgeBuildWaitTest, AServerThatNobodyWaitsForIsReplacedAtOnce) {
  config.build_command.clear();
  open_session();
  dies(1, 3);
  ask_reload();
  client(call(1, "echo"));
  client(cancelled(1));
  ask_reload();
  EXPECT_THAT(done(), Contains("close 2"));
  dies(2, 0);
  EXPECT_THAT(done(), Contains("start 3"));
  opens(3);
}

}  // namespace
}  // namespace sitter
