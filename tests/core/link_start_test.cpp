#include "core/child/child_lifecycle.hpp"
#include "core/http/http_link_limits.hpp"
#include "support/link_process_script.hpp"

/// How the process of a daemon starts, and begins to listen.
namespace sitter {
namespace {

using ::testing::UnorderedElementsAre;

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

TEST_F(LinkProcessTest, TheCommandIsStartedIfTheListenerIsGoneBeforeItsFirstAnswer) {
  client(initialize(0));
  connected(1);
  done();
  not_connected(2);
  EXPECT_THAT(done(), ElementsAre("connect 3"));
  not_connected(3);
  EXPECT_THAT(done(), ElementsAre("start process 2", "connect 4"));
  connected(4);
  opens_daemon();
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

TEST_F(LinkProcessTest, AbandonsAConnectionPendingAtTheExit) {
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

TEST_F(LinkProcessTest, ARequestWaitsForAStartForAsLongAsTheStartMayTake) {
  config.wait_for_server = seconds(1);
  client(initialize(0));
  not_connected(1);
  stays_down(config.answer_within);
  client(initialized());
  client(call(1, "echo"));
  done();
  stays_down(config.startup_timeout - config.answer_within - milliseconds(100));
  EXPECT_THAT(client_got(), IsEmpty());
  stays_down(milliseconds(100) + config.kill_grace);
  process_exits(1, 143, "SIGTERM");
  time_passes(seconds(1));
  EXPECT_THAT(client_got(),
              Contains(AllOf(HasSubstr("\"id\":1"), HasSubstr("had not answered its opening after"),
                             HasSubstr("(nothing listens on 127.0.0.1:3000)"))));
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

}  // namespace
}  // namespace sitter
