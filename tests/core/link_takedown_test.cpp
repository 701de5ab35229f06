#include "core/child/child_lifecycle.hpp"
#include "support/link_process_script.hpp"

/// How the process of a daemon is taken down, replaced, or left.
namespace sitter {
namespace {

using ::testing::AnyOf;

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

TEST_F(LinkProcessTest, AKillDoesNotEndTheSessionOfAProcessThatHasExited) {
  open_started();
  process_exits(1, 3);
  EXPECT_THAT(done(), Contains(HasSubstr("connect ")));
  // It is not known yet whether another process listens.
  client(call(1, "sitter_kill"));
  time_passes(limits::kDrain);
  const auto all = done();
  EXPECT_THAT(all, Not(Contains(HasSubstr("delete "))));
  EXPECT_THAT(all, Contains(HasSubstr("client ")));
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
  time_passes(3 * config.kill_grace);
  const auto all = done();
  EXPECT_THAT(all, Contains("exit 143 at once"));
  for (const std::string& word : all) EXPECT_THAT(word, Not(HasSubstr("process")));
}

TEST_F(LinkProcessTest, ADaemonThatIsStillStartingLivesOnToo) {
  client(initialize(0));
  not_connected(1);
  not_connected(2);
  time_passes(milliseconds(1));
  signal(143);
  time_passes(3 * config.kill_grace);
  const auto all = done();
  EXPECT_THAT(all, Contains("exit 143 at once"));
  EXPECT_THAT(all, Contains("start process 1"));
  for (const std::string& word : all) {
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
  time_passes(3 * config.kill_grace);
  const auto all = done();
  EXPECT_THAT(all, Contains(HasSubstr("was not started by this mcp-sitter")));
  for (const std::string& word : all) EXPECT_THAT(word, Not(HasSubstr("process")));
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

TEST_F(LinkProcessTest, AKillOfAnOwnDaemonThatHasCrashedSaysThatItWasNotRunning) {
  open_started();
  process_ends(1, 3);
  done();
  time_passes(seconds(5));
  daemon.pid.reset();
  client(call(1, "sitter_kill"));
  EXPECT_THAT(answer_text(), HasSubstr("The server was not running (crashed 5s ago)."));
}

TEST_F(LinkProcessTest, ARestartOfADaemonThatWasNotStartedHereKillsNothing) {
  open_session();
  client(call(1, "sitter_kill", R"json({"restart":true})json"));
  takes(last());
  connected(last());
  opens_daemon();
  EXPECT_THAT(client_got(), Contains(HasSubstr("[mcp-sitter] nothing was killed. The server that "
                                               "listens was not started by this mcp-sitter")));
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

TEST_F(LinkProcessTest, ARebuildWaitsOnceForPendingCallsAndThenForTheExit) {
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
