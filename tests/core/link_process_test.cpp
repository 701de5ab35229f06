#include "sitter/limits.hpp"
#include "support/link_script.hpp"

namespace sitter {
namespace {

using ::testing::AnyOf;

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
  process_exits(1, 3);
  const std::string instructions = answer()["result"]["instructions"];
  EXPECT_THAT(instructions, HasSubstr("exit 3"));
  EXPECT_THAT(instructions, HasSubstr("port is in use"));
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
  process_exits(1, 101);
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
  process_exits(1, 0, "SIGSEGV");
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
  process_exits(1, 1);
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

TEST_F(LinkProcessTest, AnExitWhileTheSessionIsLostIsSeen) {
  open_started();
  breaks(4 + 1);
  client(call(1, "echo"));
  status(*exchange_of(1), 404);
  done();
  process_exits(2, 1);
  EXPECT_THAT(done(), Contains("release process 2"));
  not_connected(last());
  EXPECT_THAT(done(), Contains("start process 2"));
  connected(last());
  opens_daemon();
  answers(*exchange_of(1), result(1));
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
  process_exits(2, 9);
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

}  // namespace
}  // namespace sitter
