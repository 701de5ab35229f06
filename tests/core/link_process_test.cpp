#include "core/child/child_lifecycle.hpp"
#include "core/http/http_link_limits.hpp"
#include "support/link_process_script.hpp"

/// The process of a daemon that serves, and how its end is seen.
namespace sitter {
namespace {

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

TEST_F(LinkProcessTest, ThatAnEarlierSessionHasStartedIsOurs) {
  daemon.is_of_earlier_session = true;
  config.build_command = "make";
  client(initialize(0));
  connected(1);
  EXPECT_THAT(done(), Contains("take process 1"));
  opens_daemon();
  client(initialized());
  opens_daemon();
  done();
  EXPECT_EQ(status_tool()["childPid"], pid_of(1));
  client(call(1, "sitter_rebuild"));
  build_ends(1, 0);
  EXPECT_THAT(done(), Contains("close process 1"));
  process_exits(1, kUnknownExit);
  refuse_connections();
  EXPECT_THAT(done(), Contains("start process 2"));
}

TEST_F(LinkProcessTest, TheEndOfOneThatAnEarlierSessionHasStartedHasNoExitCode) {
  daemon.is_of_earlier_session = true;
  client(initialize(0));
  connected(1);
  opens_daemon();
  client(initialized());
  opens_daemon();
  client(call(1, "crash"));
  done();
  process_exits(1, kUnknownExit);
  refuse_connections();
  breaks(*exchange_of(1));
  time_passes(limits::kDrain);
  EXPECT_THAT(answer_text(), HasSubstr("the server exited by itself (exit code unknown) after"));
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

TEST_F(LinkProcessTest, AnExitIsToldEvenIfTheConnectionEndsBeforeItIsKnownThatNothingListens) {
  open_started();
  client(call(1, "crash"));
  done();
  const auto call_exchange = *exchange_of(1);
  process_exits(1, 3);
  breaks(call_exchange);
  EXPECT_THAT(client_got(), IsEmpty());
  not_connected(last());
  time_passes(limits::kDrain);
  EXPECT_THAT(answer_text(), AllOf(HasSubstr("the server crashed (exit 3)"),
                                   HasSubstr("may or may not have taken effect")));
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

TEST_F(LinkProcessTest, ACrashAfterALostSessionIsReportedForTheNextChild) {
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

}  // namespace
}  // namespace sitter
