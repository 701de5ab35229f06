#include "support/bridge_script.hpp"

namespace sitter {
namespace {

class BridgeEndingTest : public BridgeTest {};

TEST_F(BridgeEndingTest, ClosedInputBeforeAnyLineEndsTheBridge) {
  client_closes_input();
  EXPECT_THAT(done(), ElementsAre("exit 0"));
}

TEST_F(BridgeEndingTest, WithNothingOwedTheChildIsTakenDownAtOnce) {
  open_session();
  client_closes_input();
  EXPECT_THAT(done(), ElementsAre("close 1"));
  dies(1, 0);
  EXPECT_THAT(done(), ElementsAre("terminate 1", "release 1", "exit 0"));
}

TEST_F(BridgeEndingTest, AStubbornChildEndsInTime) {
  config.kill_grace = seconds(20);
  open_session();
  client_closes_input();
  time_passes(milliseconds(999));
  EXPECT_THAT(done(), ElementsAre("close 1", "terminate 1"));
  time_passes(milliseconds(1));
  EXPECT_THAT(done(), ElementsAre("kill 1"));
  exits(1, 137, "SIGKILL");
  done();
  time_passes(milliseconds(300));
  EXPECT_THAT(done(), ElementsAre("release 1", "exit 0"));
}

TEST_F(BridgeEndingTest, AShortGraceIsKept) {
  config.kill_grace = milliseconds(50);
  open_session();
  client_closes_input();
  time_passes(milliseconds(100));
  EXPECT_THAT(done(), ElementsAre("close 1", "terminate 1", "kill 1"));
  dies(1, 137, "SIGKILL");
}

TEST_F(BridgeEndingTest, ARemoteRunnerGetsNoMoreTimeThanOthers) {
  plays.signal = false;
  open_session();
  client_closes_input();
  EXPECT_THAT(done(), ElementsAre("look 1", "close 1"));
  unit_signalled(1, {{pid_of(1), true, "sh", ""}, {7, false, "docker", "", true}});
  time_passes(milliseconds(500));
  EXPECT_THAT(done(), ElementsAre("terminate 1"));
  time_passes(milliseconds(500));
  EXPECT_THAT(done(), ElementsAre("kill 1"));
  dies(1, 137, "SIGKILL");
}

TEST_F(BridgeEndingTest, WaitsForPendingAnswers) {
  open_session();
  client(call(1, "work"));
  done();
  client_closes_input();
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(9500));
  child(1, result(1));
  EXPECT_THAT(done(), ElementsAre("client " + result(1), "close 1"));
  // The ladder has its own time.
  time_passes(milliseconds(999));
  EXPECT_THAT(done(), ElementsAre("terminate 1"));
}

TEST_F(BridgeEndingTest, WhatIsUnansweredAfterTenSecondsGetsItsError) {
  open_session();
  client(call(1, "work"));
  client(request(2, "tools/list"));
  client_closes_input();
  time_passes(milliseconds(9999));
  done();
  time_passes(milliseconds(1));
  EXPECT_THAT(done(), ElementsAre("close 1"));
  dies(1, 0);
  const auto got = done();
  ASSERT_THAT(got, SizeIs(5));
  EXPECT_THAT(got[2], AllOf(HasSubstr("\"id\":1,"), HasSubstr("shut down")));
  EXPECT_THAT(got[3], AllOf(HasSubstr("\"id\":2,"), HasSubstr("-32603")));
  EXPECT_EQ(got[4], "exit 0");
}

TEST_F(BridgeEndingTest, AWholePipedSessionIsAnswered) {
  // The lines of `printf init+initialized+list+call | bridge child`.
  client(initialize(0));
  client(initialized());
  client(request(1, "tools/list"));
  client(call(2, "echo"));
  client_closes_input();
  EXPECT_THAT(done(), Not(Contains("close 1")));
  opens(1);
  child(1, result(1, Server::list("tools", server.tools)));
  child(1, result(2, text_result("x")));
  const auto got = done();
  EXPECT_THAT(got, Contains("client " + result(2, text_result("x"))));
  EXPECT_EQ(got.back(), "close 1");
}

TEST_F(BridgeEndingTest, APipedSessionWithAMissingCommandIsAnswered) {
  plays.start = false;
  client(initialize(0));
  client(initialized());
  client(request(1, "tools/list"));
  client(call(2, "echo"));
  client_closes_input();
  done();
  start_fails(1, "no such file");
  const auto got = done();
  ASSERT_THAT(got, SizeIs(4));
  EXPECT_EQ(got[3], "exit 0");
}

TEST_F(BridgeEndingTest, ARequestThatWaitsForARespawnIsAnswered) {
  open_session();
  exits(1, 0);
  client(call(1, "echo"));
  client_closes_input();
  closes_output(1);
  opens(2);
  child(2, result(1, text_result("x")));
  const auto got = done();
  EXPECT_THAT(got, Contains(HasSubstr("server restarted")));
  EXPECT_EQ(got.back(), "close 2");
}

TEST_F(BridgeEndingTest, ADeathWhileAnswersAreOwedAnswersThem) {
  open_session();
  client(call(1, "work"));
  client(request(2, "resources/read", R"json({"uri":"a:b"})json"));
  client_closes_input();
  dies(1, 3);
  const auto got = done();
  EXPECT_THAT(got, Contains(AllOf(HasSubstr("\"id\":1,"), HasSubstr("crashed (exit 3)"))));
  EXPECT_THAT(got, Contains(HasSubstr("\"id\":2,")));
  EXPECT_EQ(got.back(), "exit 0");
}

TEST_F(BridgeEndingTest, WaitsForARunningKill) {
  open_session();
  client(call(1, "sitter_kill"));
  client_closes_input();
  done();
  time_passes(seconds(1));
  dies(1, 137, "SIGKILL");
  const auto got = done();
  ASSERT_GE(got.size(), 2u);
  EXPECT_THAT(got[got.size() - 2], HasSubstr(R"json(\"count\": 1)json"));
  EXPECT_EQ(got.back(), "exit 0");
}

TEST_F(BridgeEndingTest, ACancelledRequestIsNotWaitedFor) {
  open_session();
  client(call(1, "work"));
  client(cancelled(1));
  done();
  client_closes_input();
  EXPECT_THAT(done(), ElementsAre("close 1"));
}

TEST_F(BridgeEndingTest, DoesNotWaitForARequestOfTheChild) {
  open_session();
  child(1, request(0, "roots/list"));
  done();
  client_closes_input();
  EXPECT_THAT(done(), ElementsAre("close 1"));
}

TEST_F(BridgeEndingTest, TheEndDuringAnOpeningWaitsForItsAnswer) {
  client(initialize(0));
  client_closes_input();
  done();
  time_passes(seconds(8));
  const auto got = done();
  ASSERT_THAT(got, SizeIs(2));
  EXPECT_THAT(got[0], HasSubstr("\"id\":0,"));
  EXPECT_EQ(got[1], "close 1");
}

TEST_F(BridgeEndingTest, TheEndOfTheInputTakesDownAChildThatStartsLater) {
  plays.start = false;
  client(initialize(0));
  client_closes_input();
  time_passes(seconds(8));
  EXPECT_THAT(done(), Not(Contains("exit 0")));
  started(1);
  EXPECT_THAT(done(), ElementsAre("close 1"));
  dies(1, 0);
  EXPECT_EQ(done().back(), "exit 0");
}

TEST_F(BridgeEndingTest, InputThatClosesWhileAChildDrainsEndsTheBridge) {
  open_session();
  exits(1, 3);
  done();
  client_closes_input();
  EXPECT_THAT(done(), IsEmpty());
  closes_output(1);
  EXPECT_THAT(done(), ElementsAre("release 1", "exit 0"));
}

TEST_F(BridgeEndingTest, InputThatClosesDuringAnotherLadderEndsTheBridge) {
  open_session();
  closes_stdout(1);
  client_closes_input();
  EXPECT_THAT(done(), ElementsAre("close 1"));
  time_passes(seconds(1));
  dies(1, 137, "SIGKILL");
  EXPECT_EQ(done().back(), "exit 0");
}

TEST_F(BridgeEndingTest, WhatWaitsForItsWriteIsWrittenBeforeTheEnd) {
  open_session();
  client(call_with_progress(1, "work"));
  client_closes_input();
  child(1, progress(1, 1));
  child(1, result(1));
  dies(1, 0);
  const auto got = done();
  ASSERT_GE(got.size(), 2u);
  EXPECT_EQ(got[got.size() - 2], "client " + result(1));
  EXPECT_EQ(got.back(), "exit 0");
}

TEST_F(BridgeEndingTest, StartsNoChildThatIsNoLongerNeeded) {
  open_session();
  dies(1, 0);
  done();
  client_closes_input();
  EXPECT_THAT(done(), ElementsAre("exit 0"));
}

TEST_F(BridgeEndingTest, ASignalTakesTheChildDownAtOnce) {
  config.kill_grace = seconds(20);
  open_session();
  signal(143);
  EXPECT_THAT(done(), ElementsAre("close 1", "terminate 1"));
  time_passes(milliseconds(199));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(done(), ElementsAre("kill 1"));
  dies(1, 137, "SIGKILL");
  EXPECT_THAT(done(), ElementsAre("kill 1", "release 1", "exit 143 at once"));
}

TEST_F(BridgeEndingTest, AfterASignalTheEndComesWhateverTheChildDoes) {
  open_session();
  signal(130);
  time_passes(milliseconds(279));
  EXPECT_THAT(done(), Not(Contains("exit 130 at once")));
  time_passes(milliseconds(1));
  EXPECT_THAT(done(), ElementsAre("release 1", "exit 130 at once"));
}

TEST_F(BridgeEndingTest, ASignalBeforeAnyInputEndsTheBridge) {
  signal(129);
  EXPECT_THAT(done(), ElementsAre("exit 129 at once"));
}

TEST_F(BridgeEndingTest, ASecondSignalChangesNothing) {
  open_session();
  signal(130);
  done();
  time_passes(milliseconds(100));
  signal(143);
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(180));
  EXPECT_EQ(done().back(), "exit 130 at once");
}

TEST_F(BridgeEndingTest, TheEndOfTheInputAfterASignalChangesNothing) {
  open_session();
  signal(130);
  done();
  time_passes(milliseconds(100));
  client_closes_input();
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(180));
  EXPECT_EQ(done().back(), "exit 130 at once");
}

TEST_F(BridgeEndingTest, DoesNotWaitForPendingAnswersAfterASignal) {
  open_session();
  client(call(1, "work"));
  client(request(2, "resources/read", R"json({"uri":"a:b"})json"));
  done();
  signal(143);
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("\"id\":1,"), HasSubstr("shut down")),
                                        AllOf(HasSubstr("\"id\":2,"), HasSubstr("-32603"))));
}

TEST_F(BridgeEndingTest, ASignalCutsTheWaitForWhatIsOwedShort) {
  open_session();
  client(call(1, "work"));
  client_closes_input();
  time_passes(seconds(1));
  done();
  signal(143);
  const auto got = done();
  EXPECT_THAT(got, Contains("terminate 1"));
  EXPECT_THAT(got, Contains(HasSubstr("\"id\":1,")));
  dies(1, 0);
  EXPECT_EQ(done().back(), "exit 143 at once");
}

TEST_F(BridgeEndingTest, ASignalSpeedsUpARunningTakedown) {
  open_session();
  client_closes_input();
  done();
  time_passes(milliseconds(100));
  signal(143);
  EXPECT_THAT(done(), ElementsAre("terminate 1"));
  time_passes(milliseconds(200));
  EXPECT_THAT(done(), ElementsAre("kill 1"));
}

TEST_F(BridgeEndingTest, ASignalDuringAnOpeningAnswersIt) {
  client(initialize(0));
  client(initialized());
  client(call(1, "echo"));
  done();
  signal(143);
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("\"id\":0,"), HasSubstr("\"id\":1,")));
}

TEST_F(BridgeEndingTest, ASignalDuringAKillAnswersIt) {
  plays.sweep = false;
  open_session();
  client(call(1, "sitter_kill"));
  client(call(2, "echo"));
  done();
  signal(143);
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("\"id\":2,"), HasSubstr("not delivered"))));
  dies(1, 0);
  const auto got = done();
  EXPECT_THAT(got, Contains(HasSubstr("\"id\":1,")));
  EXPECT_EQ(got.back(), "exit 143 at once");
}

TEST_F(BridgeEndingTest, ASignalDuringAStatusAnswersIt) {
  plays.inspect = false;
  client(call(1, "sitter_status"));
  done();
  signal(143);
  EXPECT_THAT(done(), ElementsAre(HasSubstr("\"id\":1,"), "exit 143 at once"));
}

TEST_F(BridgeEndingTest, ASignalWhileTheChildIsStartedWaitsForItShortly) {
  plays.start = false;
  client(initialize(0));
  done();
  signal(143);
  time_passes(milliseconds(280));
  EXPECT_THAT(done(), ElementsAre(HasSubstr("\"id\":0,"), "release 1", "exit 143 at once"));
}

TEST_F(BridgeEndingTest, RequestsAfterASignalAreRefused) {
  open_session();
  signal(143);
  done();
  client(call(1, "echo"));
  client(initialize(2));
  client(request(3, "ping"));
  client(notification("notifications/vendor"));
  EXPECT_THAT(client_got(), SizeIs(3));
  dies(1, 0);
  EXPECT_EQ(done().back(), "exit 143 at once");
}

TEST_F(BridgeEndingTest, AClosedOutputIsLikeASignal) {
  // The client closes only the bridge's stdout.
  open_session();
  client(call(1, "work"));
  done();
  client_closes_output();
  EXPECT_THAT(done(), ElementsAre("close 1", "terminate 1", HasSubstr("\"id\":1,")));
  time_passes(milliseconds(280));
  EXPECT_THAT(done(), ElementsAre("kill 1", "release 1", "exit 0 at once"));
}

TEST_F(BridgeEndingTest, AChildThatExitsByItselfDoesNotEndTheBridge) {
  open_session();
  dies(1, 0);
  EXPECT_THAT(done(), ElementsAre("terminate 1", "release 1"));
  time_passes(std::chrono::hours(1));
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(BridgeEndingTest, NothingHappensAfterTheEnd) {
  open_session();
  signal(143);
  dies(1, 0);
  done();
  client(notification("notifications/vendor"));
  child(1, notification("notifications/message"));
  client_closes_output();
  time_passes(seconds(10));
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(BridgeEndingTest, ErrorsBeforeTheChildExitsHaveNoExitCode) {
  open_session();
  client(request(1, "resources/read", R"json({"uri":"a:b"})json"));
  done();
  signal(143);
  EXPECT_THAT(client_got(),
              ElementsAre(AllOf(HasSubstr("lifetimeMs"), Not(HasSubstr("exitCode")))));
}

TEST_F(BridgeEndingTest, EachErrorHasTheLifetimeOfTheChildThatGotTheRequest) {
  open_session();
  time_passes(seconds(30));
  client(call(1, "work"));
  ask_reload();
  opens(2);
  time_passes(seconds(5));
  client(call(2, "work"));
  done();
  signal(143);
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("\"id\":1,"), HasSubstr("after 35s")),
                                        AllOf(HasSubstr("\"id\":2,"), HasSubstr("after 5s"))));
}

TEST_F(BridgeEndingTest, TheLifetimeExcludesTheTakedown) {
  config.kill_grace = seconds(20);
  open_session();
  time_passes(seconds(30));
  client_closes_input();
  time_passes(milliseconds(400));
  done();
  client(call(1, "echo"));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("after 30s")));
}

}  // namespace
}  // namespace sitter
