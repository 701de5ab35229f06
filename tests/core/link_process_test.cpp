#include "sitter/limits.hpp"
#include "support/link_script.hpp"

namespace sitter {
namespace {

using ::testing::AnyOf;
using ::testing::UnorderedElementsAre;

/// A daemon that is started here if nothing listens.
class LinkProcessTest : public LinkTest {
 protected:
  LinkProcessTest() { options.may_start = true; }

  /// The session is open at a daemon that was started here, whose process is that of child 1. Ids
  /// from 1 on are free, and the next exchange is 8.
  void open_started() {
    client(initialize(0));
    not_connected(1);
    connected(2);
    opens_daemon();
    client(initialized());
    opens_daemon();
    client(request(900, "tools/list"));
    answers(*exchange_of(900), result(900, server.page("tools", server.tools)));
    done();
  }

  /// The process exits, and then nothing listens.
  void process_ends(Generation gen, int code, const std::string& signal = "") {
    process_exits(gen, code, signal);
    refuse_connections();
  }
};

TEST_F(LinkProcessTest, ADaemonThatListensIsNotStarted) {
  client(initialize(0));
  connected(1);
  EXPECT_THAT(done(), ElementsAre("connect 1", "post 2 " + initialize(0)));
  opens_daemon();
}

TEST_F(LinkProcessTest, TheCommandIsStartedIfNothingListens) {
  client(initialize(0));
  EXPECT_THAT(done(), ElementsAre("connect 1"));
  not_connected(1);
  EXPECT_THAT(done(), ElementsAre("start process 1", "connect 2"));
  not_connected(2);
  EXPECT_EQ(wait(), limits::kHttpLaunchedWait);
  next_deadline_comes();
  EXPECT_THAT(done(), ElementsAre("connect 3"));
  connected(3);
  EXPECT_THAT(done(), ElementsAre("post 4 " + initialize(0)));
  opens_daemon();
  EXPECT_EQ(status_tool()["childPid"], pid_of(1));
}

TEST_F(LinkProcessTest, ACommandThatCannotBeStartedIsAFailedStart) {
  plays.start = false;
  client(initialize(0));
  not_connected(1);
  done();
  process_start_fails(1, "can't start server: permission denied");
  EXPECT_THAT(std::string(answer()["result"]["instructions"]), HasSubstr("permission denied"));
}

TEST_F(LinkProcessTest, ACrashDuringTheStartIsToldWithItsStatusAndStderr) {
  client(initialize(0));
  not_connected(1);
  not_connected(2);
  process_says(1, "Error: port is in use");
  done();
  process_ends(1, 3);
  const std::string instructions = answer()["result"]["instructions"];
  EXPECT_THAT(instructions, HasSubstr("exit 3"));
  EXPECT_THAT(instructions, HasSubstr("port is in use"));
}

TEST_F(LinkProcessTest, AProcessThatFindsTheAddressInUseMakesWayForTheOneThatListens) {
  client(initialize(0));
  not_connected(1);
  not_connected(2);
  process_says(1, "Error: the address is in use");
  done();
  process_exits(1, 1);
  EXPECT_THAT(done(), ElementsAre("connect 3"));
  connected(3);
  EXPECT_THAT(done(), ElementsAre("release process 1", "connect 4"));
  connected(4);
  opens_daemon();
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr(R"json("name":"server")json")));
  EXPECT_TRUE(status_tool()["childPid"].is_null());
}

TEST_F(LinkProcessTest, AConnectionThatIsBeingOpenedAtTheExitSaysNothing) {
  client(initialize(0));
  not_connected(1);
  process_exits(1, 1);
  EXPECT_THAT(done(),
              ElementsAre("connect 1", "start process 1", "connect 2", "abort 2", "connect 3"));
  connected(3);
  connected(4);
  opens_daemon();
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr(R"json("name":"server")json")));
}

TEST_F(LinkProcessTest, ASessionWithAnotherProcessThanTheOneThatExitsIsOpenedAgain) {
  open_started();
  client(call(1, "slow"));
  done();
  process_exits(1, 1);
  EXPECT_THAT(done(), ElementsAre("connect 9"));
  connected(9);
  EXPECT_THAT(done(), ElementsAre("release process 1"));
  answers(*exchange_of(1), result(1));
  EXPECT_THAT(done(), UnorderedElementsAre("client " + result(1), "abort 5"));
  client(call(2, "echo"));
  connected(last());
  opens_daemon();
  answers(*exchange_of(2), result(2, text_result("a")));
  EXPECT_THAT(answer_text(), HasSubstr("another process listens"));
}

TEST_F(LinkProcessTest, AProcessThatListensAfterTheExitOfTheFirstHidesNoCrash) {
  open_started();
  client(call(1, "crash"));
  done();
  process_exits(1, 1);
  daemon.listener = ListenerId{101};
  connected(last());
  breaks(*exchange_of(1));
  time_passes(limits::kDrain);
  EXPECT_THAT(answer_text(), HasSubstr("the server crashed (exit 1)"));
}

TEST_F(LinkProcessTest, AKillWhileTheEndOfTheProcessIsFoundOutReportsTheExit) {
  open_started();
  client(call(1, "crash"));
  done();
  process_exits(1, 1);
  client(call(2, "sitter_kill"));
  time_passes(seconds(5));
  const auto lines = client_got();
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_THAT(lines[0], HasSubstr("\"id\":1"));
  EXPECT_THAT(lines[1], HasSubstr("\"id\":2"));
}

TEST_F(LinkProcessTest, AStartCommandThatReturnsIsGivenTimeForItsServer) {
  client(initialize(0));
  not_connected(1);
  not_connected(2);
  done();
  process_exits(1, 0);
  not_connected(last());
  EXPECT_EQ(wait(), limits::kHttpLaunchedWait);
  next_deadline_comes();
  connected(last());
  EXPECT_THAT(done(), ElementsAre("connect 3", "connect 4", "connect 5"));
  connected(last());
  opens_daemon();
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr(R"json("name":"server")json")));
}

TEST_F(LinkProcessTest, WhatAStartCommandHasLeftBehindIsReleasedBeforeTheNextStart) {
  client(initialize(0));
  not_connected(1);
  not_connected(2);
  process_exits(1, 0);
  connected(last());
  connected(last());
  opens_daemon();
  client(initialized());
  opens_daemon();
  done();
  daemon_dies();
  client(call(1, "echo"));
  not_connected(*exchange_of(1));
  not_connected(last());
  EXPECT_THAT(done(), AllOf(Contains("release process 1"), Contains("start process 3")));
  connected(last());
  opens_daemon();
  answers(*exchange_of(1), result(1));
}

TEST_F(LinkProcessTest, AStartCommandThatReturnsAndLeavesNoServerIsAFailedStart) {
  client(initialize(0));
  not_connected(1);
  not_connected(2);
  process_exits(1, 0);
  stays_down(config.startup_timeout);
  EXPECT_THAT(std::string(answer()["result"]["instructions"]),
              HasSubstr("nothing listens on 127.0.0.1:3000"));
  EXPECT_TRUE(status_tool()["childPid"].is_null());
}

/// Without an opening, only the link knows how long it has waited.
TEST_F(LinkProcessTest, AStartCommandThatReturnsAndLeavesNoStatelessServerIsStartedAgain) {
  server.is_stateless = true;
  client(enveloped_call(1, "echo"));
  not_connected(1);
  not_connected(2);
  process_exits(1, 0);
  stays_down(options.startup_timeout - milliseconds(100));
  EXPECT_THAT(done(), Not(Contains("release process 1")));
  stays_down(milliseconds(200));
  time_passes(limits::kDrain);
  EXPECT_THAT(done(), Contains("release process 1"));
  client(enveloped_call(2, "echo"));
  not_connected(last());
  EXPECT_THAT(done(), Contains("start process 2"));
  connected(last());
  opens_daemon();
  answers(*exchange_of(2), result(2, R"json({"resultType":"complete","content":[]})json"));
}

TEST_F(LinkProcessTest, ADaemonThatNeverListensIsTakenDown) {
  client(initialize(0));
  not_connected(1);
  stays_down(config.startup_timeout);
  EXPECT_THAT(done(), Contains("close process 1"));
  stays_down(config.kill_grace);
  EXPECT_THAT(done(), Contains("terminate process 1"));
  process_exits(1, 143, "SIGTERM");
  time_passes(seconds(1));
  EXPECT_THAT(done(), Contains("release process 1"));
}

TEST_F(LinkProcessTest, ACrashInACallIsToldWithItsStatus) {
  open_started();
  client(call(1, "crash"));
  done();
  process_says(1, "panic: at the disco");
  breaks(*exchange_of(1));
  EXPECT_THAT(done(), IsEmpty());
  process_ends(1, 101);
  time_passes(limits::kDrain);
  const std::string text = answer_text();
  EXPECT_THAT(text, HasSubstr("the server crashed (exit 101)"));
  EXPECT_THAT(text, HasSubstr("panic: at the disco"));
  EXPECT_THAT(text, HasSubstr("may or may not have taken effect"));
}

TEST_F(LinkProcessTest, AnExitThatComesBeforeTheEndOfTheConnectionIsToldInTheSameWay) {
  open_started();
  client(call(1, "crash"));
  done();
  process_ends(1, 0, "SIGSEGV");
  EXPECT_THAT(client_got(), IsEmpty());
  breaks(*exchange_of(1));
  time_passes(limits::kDrain);
  EXPECT_THAT(answer_text(), HasSubstr("the server crashed (SIGSEGV)"));
}

TEST_F(LinkProcessTest, AnAnswerThatIsStillOnItsWayAtTheExitCounts) {
  open_started();
  client(call(1, "last_words"));
  done();
  process_exits(1, 0);
  answers(*exchange_of(1), result(1));
  EXPECT_THAT(done(), Contains("client " + result(1)));
}

TEST_F(LinkProcessTest, ABrokenConnectionOfALivingProcessIsALossAfterAMoment) {
  open_started();
  client(call(1, "slow"));
  done();
  breaks(*exchange_of(1), "the connection was reset");
  time_passes(limits::kHttpExitWait - milliseconds(1));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(answer_text(), HasSubstr("the connection was reset"));
}

TEST_F(LinkProcessTest, TheNextRequestStartsTheDaemonAgain) {
  open_started();
  daemon_dies();
  process_ends(1, 1);
  time_passes(seconds(1));
  EXPECT_THAT(done(), Contains("release process 1"));
  client(call(1, "echo"));
  EXPECT_THAT(done(), ElementsAre(HasSubstr("connect ")));
  not_connected(last());
  EXPECT_THAT(done(), ElementsAre("start process 2", HasSubstr("connect ")));
  connected(last());
  opens_daemon();
  answers(*exchange_of(1), result(1, text_result("a")));
  EXPECT_THAT(answer_text(), AllOf(HasSubstr("server restarted"), HasSubstr("pid 1002"),
                                   HasSubstr("crashed (exit 1)")));
}

TEST_F(LinkProcessTest, ARequestThatIsRefusedBeforeTheExitIsSeenWaitsForTheNextDaemon) {
  open_started();
  client(call(1, "echo"));
  done();
  not_connected(*exchange_of(1));
  EXPECT_THAT(done(), IsEmpty());
  process_exits(1, 1);
  time_passes(limits::kDrain);
  not_connected(last());
  EXPECT_THAT(done(), Contains("start process 2"));
  connected(last());
  opens_daemon();
  answers(*exchange_of(1), result(1, text_result("a")));
  EXPECT_THAT(answer_text(), HasSubstr("crashed (exit 1)"));
}

TEST_F(LinkProcessTest, ALostSessionIsOpenedAgainAtTheSameProcess) {
  open_started();
  client(call(1, "echo"));
  status(*exchange_of(1), 404);
  EXPECT_THAT(done(), Contains("renumber process 1 to 2"));
  connected(last());
  opens_daemon();
  const auto all = done();
  EXPECT_THAT(all, Not(Contains(HasSubstr("start process"))));
  answers(*exchange_of(1), result(1));
  EXPECT_EQ(status_tool()["childPid"], pid_of(1));
}

/// A daemon that shuts down may answer for a moment without its sessions.
TEST_F(LinkProcessTest, AnExitAfterALostSessionIsNoFailedStart) {
  open_started();
  client(call(1, "echo"));
  status(*exchange_of(1), 404);
  process_says(2, "shutting down");
  process_ends(2, 1);
  EXPECT_THAT(done(), Contains("release process 2"));
  not_connected(last());
  EXPECT_THAT(done(), Contains("start process 3"));
  connected(last());
  opens_daemon();
  answers(*exchange_of(1), result(1, text_result("a")));
  EXPECT_THAT(answer_text(), AllOf(HasSubstr("server restarted"), HasSubstr("pid 1003"),
                                   HasSubstr("exit 1"), HasSubstr("shutting down")));
}

TEST_F(LinkProcessTest, ASuccessfulExitAfterALostSessionIsNotWaitedFor) {
  open_started();
  client(call(1, "echo"));
  status(*exchange_of(1), 404);
  process_ends(2, 0);
  not_connected(last());
  EXPECT_THAT(done(), Contains("start process 3"));
  connected(last());
  opens_daemon();
  answers(*exchange_of(1), result(1, text_result("a")));
  EXPECT_THAT(answer_text(), HasSubstr("exit 0"));
}

TEST_F(LinkProcessTest, AnExitWithoutASessionIsSeenToo) {
  open_started();
  breaks(5);
  next_deadline_comes();
  status(last(), 404);
  done();
  process_exits(1, 1);
  EXPECT_THAT(done(), Contains("release process 1"));
  client(call(1, "echo"));
  not_connected(last());
  EXPECT_THAT(done(), Contains("start process 2"));
  connected(last());
  opens_daemon();
  answers(*exchange_of(1), result(1));
}

TEST_F(LinkProcessTest, TheNextProcessIsThatOfTheNextChildAfterALostSession) {
  open_started();
  client(call(1, "echo"));
  status(*exchange_of(1), 404);
  connected(last());
  opens_daemon();
  answers(*exchange_of(1), result(1));
  client(call(2, "crash"));
  process_ends(2, 9);
  breaks(*exchange_of(2));
  time_passes(seconds(1));
  EXPECT_THAT(client_got(), Contains(HasSubstr("crashed (exit 9)")));
}

TEST_F(LinkProcessTest, AProcessThatDoesNotListenAnyMoreIsWaitedFor) {
  open_started();
  client(call(1, "echo"));
  done();
  not_connected(*exchange_of(1));
  EXPECT_EQ(wait(), limits::kHttpExitWait);
  next_deadline_comes();
  not_connected(last());
  EXPECT_THAT(done(), Not(Contains(HasSubstr("start process"))));
  next_deadline_comes();
  connected(last());
  opens_daemon();
  answers(*exchange_of(1), result(1));
}

TEST_F(LinkProcessTest, AKillClimbsTheLadder) {
  open_started();
  client(call(1, "slow"));
  done();
  client(call(2, "sitter_kill"));
  const auto first = done();
  EXPECT_THAT(first, Contains("close process 1"));
  EXPECT_THAT(first, Contains(HasSubstr("delete ")));
  time_passes(config.kill_grace);
  EXPECT_THAT(done(), Contains("terminate process 1"));
  time_passes(config.kill_grace);
  EXPECT_THAT(done(), Contains("kill process 1"));
  process_exits(1, 137, "SIGKILL");
  time_passes(limits::kDrain);
  const auto lines = client_got();
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_THAT(lines[0], HasSubstr("\"id\":1"));
  EXPECT_THAT(lines[1], AllOf(HasSubstr("\"id\":2"), HasSubstr("1001"), HasSubstr("SIGKILL")));
}

TEST_F(LinkProcessTest, ADaemonThatEndsWithItsSessionIsDownAtOnce) {
  open_started();
  client(call(1, "sitter_kill"));
  takes(last());
  done();
  process_exits(1, 0);
  EXPECT_THAT(done(), Contains("release process 1"));
  client(call(2, "echo"));
  not_connected(last());
  EXPECT_THAT(done(), Contains("start process 2"));
  connected(last());
  opens_daemon();
  answers(*exchange_of(2), result(2));
}

TEST_F(LinkProcessTest, TheDaemonLivesOnAtTheEnd) {
  open_started();
  client_closes_input();
  const auto all = done();
  EXPECT_THAT(all, ElementsAre("abort 5", HasSubstr("delete ")));
  takes(last());
  EXPECT_THAT(done(), ElementsAre("exit 0"));
  EXPECT_THAT(logs(), Contains(HasSubstr("the session with the server was ended")));
}

TEST_F(LinkProcessTest, TheDaemonLivesOnAfterASignal) {
  open_started();
  signal(143);
  time_passes(seconds(1));
  for (const std::string& word : done()) EXPECT_THAT(word, Not(HasSubstr("process")));
}

TEST_F(LinkProcessTest, ADaemonThatIsStillStartingLivesOnToo) {
  client(initialize(0));
  not_connected(1);
  not_connected(2);
  time_passes(milliseconds(1));
  signal(143);
  time_passes(seconds(1));
  for (const std::string& word : done()) {
    EXPECT_THAT(word, AnyOf(Not(HasSubstr("process")), "start process 1"));
  }
}

TEST_F(LinkProcessTest, AnOwnDaemonEndsWithTheBridge) {
  options.ends_daemon = true;
  open_started();
  client_closes_input();
  EXPECT_THAT(done(), ElementsAre("abort 5", HasSubstr("delete "), "close process 1"));
  takes(last());
  time_passes(config.kill_grace);
  EXPECT_THAT(done(), Contains("terminate process 1"));
  process_exits(1, 143, "SIGTERM");
  time_passes(seconds(1));
  const auto all = done();
  EXPECT_THAT(all, Contains("release process 1"));
  EXPECT_THAT(all, Contains("exit 0"));
}

TEST_F(LinkProcessTest, ADaemonThatWasNotStartedHereIsLeftAloneByTheLadder) {
  open_session();
  client(call(1, "sitter_kill"));
  takes(last());
  for (const std::string& word : done()) EXPECT_THAT(word, Not(HasSubstr("process")));
}

TEST_F(LinkProcessTest, ARequestDuringARebuildWaitsForTheNextProcess) {
  config.build_command = "make";
  open_started();
  client(call(1, "slow"));
  client(call(2, "sitter_rebuild"));
  build_ends(1, 0);
  done();
  client(call(3, "echo"));
  EXPECT_THAT(done(), IsEmpty());
  answers(*exchange_of(1), result(1));
  EXPECT_THAT(done(), Contains("close process 1"));
  process_exits(1, 0);
  time_passes(limits::kDrain);
  not_connected(last());
  connected(last());
  opens_daemon();
  answers(*exchange_of(3), result(3, text_result("a")));
  EXPECT_THAT(client_got(), Contains(HasSubstr("\"id\":3")));
}

TEST_F(LinkProcessTest, ARebuildReplacesTheProcess) {
  config.build_command = "make";
  config.on_busy_wait = milliseconds(0);
  open_started();
  client(call(1, "sitter_rebuild"));
  EXPECT_THAT(done(), Contains("start build 1"));
  build_ends(1, 0);
  EXPECT_THAT(done(), Contains("close process 1"));
  process_exits(1, 0);
  time_passes(limits::kDrain);
  done();
  not_connected(last());
  EXPECT_THAT(done(), Contains("start process 2"));
  connected(last());
  opens_daemon();
  EXPECT_THAT(client_got(), Contains(HasSubstr("\"id\":1")));
}

TEST_F(LinkProcessTest, AKillDuringALossStillClimbsTheLadder) {
  open_started();
  client(call(1, "slow"));
  client(call(2, "echo"));
  status(*exchange_of(2), 404);
  client(call(3, "sitter_kill"));
  done();
  time_passes(config.kill_grace);
  EXPECT_THAT(done(), Contains("terminate process 1"));
  process_exits(1, 143, "SIGTERM");
  time_passes(seconds(1));
  EXPECT_THAT(client_got(), Contains(HasSubstr("SIGTERM")));
}

TEST_F(LinkProcessTest, AProcessThatNeverListensAgainIsTakenDown) {
  open_started();
  client(call(1, "echo"));
  not_connected(*exchange_of(1));
  stays_down(limits::kHttpExitWait + config.startup_timeout);
  EXPECT_THAT(done(), Contains("close process 2"));
  stays_down(config.kill_grace);
  process_exits(2, 143, "SIGTERM");
  time_passes(seconds(1));
}

TEST_F(LinkProcessTest, AKillAfterALostSessionEndsTheProcess) {
  open_started();
  ends(5);
  next_deadline_comes();
  status(last(), 404);
  done();
  client(call(1, "sitter_kill"));
  process_exits(2, 0);
  time_passes(seconds(1));
  const auto all = done();
  EXPECT_THAT(all, Contains("close process 2"));
  EXPECT_THAT(all, Contains("release process 2"));
}

TEST_F(LinkProcessTest, ARebuildAfterALostSessionReplacesTheProcess) {
  config.build_command = "make";
  open_started();
  ends(5);
  next_deadline_comes();
  status(last(), 404);
  client(call(1, "sitter_rebuild"));
  build_ends(1, 0);
  EXPECT_THAT(done(), Contains("close process 2"));
  process_exits(2, 0);
  time_passes(seconds(1));
  not_connected(last());
  EXPECT_THAT(done(), Contains("start process 3"));
  connected(last());
  opens_daemon();
  EXPECT_THAT(client_got(), Contains(HasSubstr("\"id\":1")));
}

TEST_F(LinkProcessTest, AProcessThatIsReplacedAfterALostSessionIsARestart) {
  config.build_command = "make";
  open_started();
  ends(5);
  next_deadline_comes();
  status(last(), 404);
  client(call(1, "sitter_kill"));
  process_ends(2, 0);
  time_passes(seconds(1));
  client(call(2, "echo"));
  not_connected(last());
  connected(last());
  opens_daemon();
  done();
  answers(*exchange_of(2), result(2, text_result("a")));
  EXPECT_THAT(answer_text(), AllOf(HasSubstr("server restarted"), HasSubstr("pid 1003")));
}

TEST_F(LinkProcessTest, AnOwnDaemonWhoseSessionWasLostEndsWithTheBridge) {
  options.ends_daemon = true;
  open_started();
  ends(5);
  next_deadline_comes();
  status(last(), 404);
  done();
  client_closes_input();
  EXPECT_THAT(done(), Contains("close process 2"));
  process_exits(2, 0);
  time_passes(seconds(1));
  EXPECT_THAT(done(), Contains("exit 0"));
}

TEST_F(LinkProcessTest, ACrashAfterALostSessionIsToldByTheNextNotice) {
  open_started();
  ends(5);
  next_deadline_comes();
  status(last(), 404);
  process_says(1, "panic: at the disco");
  process_exits(1, 139, "SIGSEGV");
  done();
  client(call(1, "echo"));
  not_connected(last());
  connected(last());
  opens_daemon();
  answers(*exchange_of(1), result(1, text_result("a")));
  EXPECT_THAT(answer_text(), AllOf(HasSubstr("SIGSEGV"), HasSubstr("panic: at the disco")));
}

TEST_F(LinkProcessTest, ALostCallQuotesTheStderrOfItsProcess) {
  open_started();
  client(call(1, "slow"));
  process_says(1, "worker died");
  breaks(*exchange_of(1));
  time_passes(limits::kHttpExitWait);
  EXPECT_THAT(answer_text(), HasSubstr("worker died"));
}

TEST_F(LinkProcessTest, ACauseThatLastsIsToldWhileTheProcessStarts) {
  client(initialize(0));
  not_connected(1);
  stays_down(limits::kHttpLaunchPatience);
  EXPECT_EQ(status_tool()["absence"]["why"], "nothing listens on 127.0.0.1:3000");
  stays_down(config.answer_within);
  EXPECT_THAT(std::string(answer()["result"]["instructions"]),
              HasSubstr("nothing listens on 127.0.0.1:3000"));
}

TEST_F(LinkProcessTest, AKillFirstRebuildOfADaemonThatWasNotStartedHereSaysSo) {
  config.build_command = "make";
  open_session();
  client(call(1, "sitter_rebuild", R"json({"mode":"kill-first"})json"));
  build_ends(1, 0);
  const auto all = done();
  for (const std::string& word : all) EXPECT_THAT(word, Not(HasSubstr("delete ")));
  EXPECT_THAT(all, Contains(HasSubstr("was not started by this mcp-sitter")));
}

TEST_F(LinkProcessTest, ARebuildThatFindsADaemonThatWasNotStartedHereSaysSo) {
  config.build_command = "make";
  open_session();
  client(call(1, "sitter_kill"));
  takes(last());
  client(call(2, "sitter_rebuild"));
  build_ends(1, 0);
  connected(last());
  opens_daemon();
  EXPECT_THAT(client_got(), Contains(HasSubstr("was not started by this mcp-sitter")));
}

TEST_F(LinkProcessTest, ARebuildWaitsForABusyProcessOnceAndThenForItsEnd) {
  config.build_command = "make";
  config.on_busy_wait = milliseconds(100);
  open_started();
  client(call(1, "slow"));
  client(call(2, "sitter_rebuild"));
  build_ends(1, 0);
  EXPECT_THAT(done(), Not(Contains("close process 1")));
  time_passes(config.on_busy_wait);
  EXPECT_THAT(done(), Contains("close process 1"));
  time_passes(config.kill_grace);
  EXPECT_THAT(done(), Contains("terminate process 1"));
  process_exits(1, 143, "SIGTERM");
  time_passes(limits::kDrain);
  not_connected(last());
  connected(last());
  opens_daemon();
  EXPECT_THAT(client_got(), Contains(HasSubstr("\"id\":2")));
}

}  // namespace
}  // namespace sitter
