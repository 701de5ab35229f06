#include <cstddef>

#include "core/child/absence.hpp"
#include "core/http/http_link_limits.hpp"
#include "support/link_absence_script.hpp"

/// What the client sees of a daemon that is away, and of one that is back.
namespace sitter {
namespace {

TEST_F(LinkAbsenceTest, ARefusedConnectionMakesTheRequestWaitForTheNextSession) {
  open_listed_session();
  daemon_dies();
  client(call(1, "echo"));
  EXPECT_THAT(done(), ElementsAre("post 7 [s1] " + call(1, "echo")));
  not_connected(7);
  EXPECT_THAT(done(), ElementsAre("connect 8"));
  not_connected(8);
  EXPECT_THAT(done(), IsEmpty());
  next_deadline_comes();
  EXPECT_THAT(done(), ElementsAre("connect 9"));
  connected(9);
  const auto opening = done();
  ASSERT_THAT(opening, SizeIs(1));
  EXPECT_THAT(opening[0], HasSubstr("post 10 {"));
  EXPECT_THAT(opening[0], HasSubstr(R"json("method":"initialize")json"));
  answers(10, result("#2", server.opening()), {{"mcp-session-id", "s2"}});
  EXPECT_THAT(done(), ElementsAre("post 11 [s2] " + initialized()));
  takes(11);
  EXPECT_THAT(done(),
              ElementsAre("get 12 [s2]", "post 13 [s2] " + request("#3", "tools/list", "{}")));
  answers(13, result("#3", server.page("tools", server.tools)));
  EXPECT_THAT(done(), ElementsAre("post 14 [s2] " + call(1, "echo")));
  answers(14, result(1, text_result("a")));
  const std::string notice = answer_text();
  EXPECT_THAT(notice, HasSubstr("server restarted"));
  EXPECT_THAT(notice, HasSubstr("connection lost"));
}

TEST_F(LinkAbsenceTest, ARestartWaitsNoLongerThanARequestForADaemonThatIsAway) {
  config.wait_for_server = seconds(3);
  open_listed_session();
  daemon_dies();
  client(call(1, "sitter_kill", R"json({"restart": true})json"));
  stays_down(seconds(3) - milliseconds(1));
  EXPECT_THAT(done(), ::testing::Each(Not(::testing::StartsWith("client "))));
  // The session before has this time to end.
  stays_down(limits::kHttpLosingWait);
  EXPECT_THAT(done(), Contains(AllOf(::testing::StartsWith("client "),
                                     HasSubstr("the server can't be reached"),
                                     HasSubstr("it is tried again, and requests wait for it"))));
}

TEST_F(LinkAbsenceTest, ChangedToolsAreToldBeforeTheQueueGoesOn) {
  open_listed_session();
  dies_before(1);
  done();
  server.tools.push_back(tool("added"));
  comes_back();
  const auto all = done();
  const auto place = [&](const std::string& part) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].find(part) != std::string::npos) return i;
    }
    return all.size();
  };
  EXPECT_LT(place("tools/list_changed"), place("tools/call"));
  EXPECT_LT(place("tools/call"), all.size());
  client(request(2, "tools/list"));
  answers(*exchange_of(2), result(2, server.page("tools", server.tools)));
  answers(*exchange_of(1), result(1, text_result("a")));
  EXPECT_THAT(done(), Contains(HasSubstr("added")));
}

class LinkReplayTest : public LinkAbsenceTest {
 protected:
  /// The client has called a tool of --replay-call. Then the daemon dies, request 2 finds it out,
  /// and the next connection is being opened.
  void dies_after_named_call() {
    config.replayed_tools = {"connect"};
    open_session();
    client(call(1, "connect"));
    answers(*exchange_of(1), result(1, text_result("a")));
    dies_before(2);
    done();
    next_deadline_comes();
  }
};

TEST_F(LinkReplayTest, NamedCallsAreMadeAgainBeforeTheQueueGoesOn) {
  dies_after_named_call();
  connected(last());
  opens_daemon();
  const auto all = done();
  const auto at = [&](const std::string& part) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].find(part) != std::string::npos) return i;
    }
    return all.size();
  };
  EXPECT_LT(at(R"json("name":"connect")json"), at(call(2, "echo")));
  EXPECT_LT(at(call(2, "echo")), all.size());
  answers(*exchange_of(2), result(2, text_result("a")));
}

TEST_F(LinkReplayTest, ANamedCallThatIsMadeAgainAndLostIsNotSentTwice) {
  dies_after_named_call();
  const auto makes_call = Contains(HasSubstr(R"json("name":"connect")json"));
  bool is_made = false;
  while (!is_made && opens_one()) is_made = testing::Matches(makes_call)(done());
  ASSERT_TRUE(is_made);
  // The daemon may have carried it out.
  breaks(last());
  opens_daemon();
  EXPECT_THAT(done(), Not(makes_call));
}

TEST_F(LinkAbsenceTest, SendsWaitingRequestsInTheOrderOfTheClient) {
  open_listed_session();
  dies_before(1);
  for (int id = 2; id <= 5; ++id) client(call(id, "echo"));
  done();
  comes_back();
  std::vector<std::string> calls;
  for (const std::string& word : done()) {
    if (word.find("tools/call") != std::string::npos) calls.push_back(word.substr(word.find('{')));
  }
  EXPECT_THAT(calls, ElementsAre(call(1, "echo"), call(2, "echo"), call(3, "echo"), call(4, "echo"),
                                 call(5, "echo")));
  for (int id = 1; id <= 5; ++id) answers(*exchange_of(id), result(id, text_result("a")));
}

TEST_F(LinkAbsenceTest, ListsAreAnsweredFromTheLastKnownWhileTheDaemonIsAway) {
  open_listed_session();
  dies_before(1);
  done();
  client(request(2, "tools/list"));
  EXPECT_THAT(done(), ElementsAre(AllOf(HasSubstr("client "), HasSubstr("\"id\":2"),
                                        HasSubstr("\"echo\""), HasSubstr("sitter_status"))));
  client(request(3, "prompts/list"));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("\"id\":3")));
}

TEST_F(LinkAbsenceTest, AListIsAnsweredAfterTheFirstFailedReconnection) {
  open_listed_session();
  daemon_dies();
  client(request(1, "tools/list"));
  not_connected(*exchange_of(1));
  EXPECT_THAT(client_got(), IsEmpty());
  not_connected(last());
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("\"echo\"")));
}

TEST_F(LinkAbsenceTest, PingAndTheBuiltinToolsAreAnsweredAtOnce) {
  open_listed_session();
  dies_before(1);
  done();
  client(request(2, "ping"));
  EXPECT_THAT(done(), ElementsAre("client " + result(2)));
  client(call(3, "sitter_child_stderr"));
  EXPECT_THAT(client_got(), SizeIs(1));
  EXPECT_TRUE(status_tool().is_object());
}

TEST_F(LinkAbsenceTest, APingIsAnsweredWhenItsConnectionIsRefused) {
  open_listed_session();
  daemon_dies();
  client(request(1, "ping"));
  not_connected(*exchange_of(1));
  EXPECT_THAT(client_got(), ElementsAre(result(1)));
}

TEST_F(LinkAbsenceTest, AKillOfADaemonThatIsAwaySaysThatItWasNotStartedHere) {
  open_listed_session();
  dies_before(1);
  client(call(2, "sitter_kill"));
  const auto lines = client_got();
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_THAT(lines[0], AllOf(HasSubstr("was not delivered and"),
                              HasSubstr("Call again when it is restarted")));
  EXPECT_THAT(lines[1], HasSubstr("was not started by this mcp-sitter"));
}

TEST_F(LinkAbsenceTest, TheStatusSaysWhySinceWhenAndWhenTheDaemonIsTriedNext) {
  open_listed_session();
  EXPECT_TRUE(status_tool()["absence"].is_null());
  dies_before(1);
  const auto status = status_tool();
  EXPECT_EQ(status["absence"]["why"], "nothing listens on 127.0.0.1:3000");
  EXPECT_EQ(status["absence"]["seconds"], 0);
  EXPECT_EQ(status["absence"]["nextTryMs"], 40);
  EXPECT_EQ(status["absence"]["sinceUtc"], "2027-01-15T08:00:00.0000000Z");
  EXPECT_EQ(status["requestsWaiting"], 1);
  stays_down(seconds(3));
  EXPECT_EQ(status_tool()["absence"]["seconds"], 3);
  next_deadline_comes();
  EXPECT_TRUE(status_tool()["absence"]["nextTryMs"].is_null());
}

TEST_F(LinkAbsenceTest, TheStatusNamesNoProcessOfADaemonThatWasNotStartedHere) {
  open_listed_session();
  const auto status = status_tool();
  EXPECT_TRUE(status["childPid"].is_null());
  EXPECT_EQ(status["childState"], "ready");
}

TEST_F(LinkAbsenceTest, KeepsTryingTheDaemonWhenNoRequestWaits) {
  open_listed_session();
  dies_before(1);
  client(cancelled(1));
  stays_down(seconds(60));
  done();
  comes_back();
  client(call(2, "echo"));
  answers(*exchange_of(2), result(2, text_result("a")));
  EXPECT_THAT(answer_text(), HasSubstr("server restarted"));
}

TEST_F(LinkAbsenceTest, ANoticeAboutADaemonNamesNoProcess) {
  open_listed_session();
  dies_before(1);
  done();
  comes_back();
  answers(*exchange_of(1), result(1, text_result("a")));
  const auto lines = client_got();
  EXPECT_THAT(lines, Contains(HasSubstr("server restarted")));
  for (const std::string& line : lines) {
    for (const char* const word : {"pid", "exit", "stdout", "stderr"}) {
      EXPECT_THAT(line, Not(HasSubstr(word)));
    }
  }
}

TEST_F(LinkAbsenceTest, AProxyWithoutItsDaemonCountsAsAnAbsentDaemon) {
  open_listed_session();
  client(call(1, "echo"));
  done();
  status(*exchange_of(1), 503, "starting");
  EXPECT_THAT(done(), IsEmpty());
  EXPECT_EQ(status_tool()["absence"]["why"],
            "http://127.0.0.1:3000/mcp answers 503 Service Unavailable");
  client(request(2, "tools/list"));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("\"echo\"")));
  client(call(3, "echo"));
  EXPECT_THAT(done(), IsEmpty());
  next_deadline_comes();
  EXPECT_THAT(done(),
              ElementsAre("post 8 [s1] " + call(1, "echo"), "post 9 [s1] " + call(3, "echo")));
  answers(8, result(1));
  answers(9, result(3));
  EXPECT_THAT(client_got(), ElementsAre(result(1), result(3)));
}

TEST_F(LinkAbsenceTest, AProbeThatTimesOutProvesNoEra) {
  client(enveloped(1, "server/discover"));
  stays_down(config.wait_for_server - milliseconds(1));
  EXPECT_THAT(client_got(), IsEmpty());
  stays_down(milliseconds(1));
  EXPECT_THAT(error_text(-32603), HasSubstr("nothing listens on 127.0.0.1:3000"));
}

TEST_F(LinkAbsenceTest, AProbeIsAnsweredByTheDaemonThatComes) {
  client(enveloped(1, "server/discover"));
  stays_down(seconds(2));
  done();
  next_deadline_comes();
  opens_daemon();
  answers(*exchange_of(1), result(1, R"json({"resultType":"complete"})json"));
  EXPECT_THAT(client_got(), SizeIs(1));
}

TEST_F(LinkAbsenceTest, AStatelessDaemonThatIsBackIsListedAndComparedFirst) {
  serve_stateless();
  daemon_dies();
  client(enveloped_call(1, "echo"));
  not_connected(*exchange_of(1));
  stays_down(milliseconds(10));
  server.tools.push_back(tool("added"));
  done();
  comes_back();
  EXPECT_FALSE(exchange_of(1) == std::nullopt);
  answers(*exchange_of(1), result(1, R"json({"resultType":"complete","content":[]})json"));
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("server restarted"), HasSubstr("added"))));
}

TEST_F(LinkAbsenceTest, WhatWasRefusedIsSentAgainInItsOrderWhenTheDaemonSpeaks) {
  server.capabilities = R"json({"tools":{"listChanged":true},"prompts":{"listChanged":true}})json";
  open_session();
  for (const std::string kind : {"tools", "prompts"}) {
    event(kGetStream, notification("notifications/" + kind + "/list_changed"));
    ASSERT_THAT(done(), Contains(HasSubstr(kind + "/list\"")));
  }
  const Exchange prompts = last();
  for (const Exchange list : {prompts - 1, prompts}) {
    status(list, 503, "", {{"retry-after", "60"}});
  }
  done();
  event(kGetStream,
        notification("notifications/message", R"json({"level":"info","data":"x"})json"));
  EXPECT_THAT(done(), ElementsAre(HasSubstr("\"method\":\"tools/list\""),
                                  HasSubstr("\"method\":\"prompts/list\""), HasSubstr("client ")));
  opens_daemon();
  time_passes(seconds(60));
  EXPECT_THAT(done(), IsEmpty());
}

/// The link refuses what waits before the bridge has read the answer that shows the daemon again.
TEST_F(LinkAbsenceTest, NewRequestsDoNotOvertakeARefusedOne) {
  open_session();
  event(kGetStream, notification("notifications/tools/list_changed"));
  breaks(last());
  client(call(1, "echo"));
  client(call(2, "echo"));
  head(*exchange_of(1), 400);
  head(*exchange_of(2), 503);
  const Exchange list = *exchange_of(1) - 1;
  client(notification("notifications/roots/list_changed"));
  const Exchange held_by = last();
  client(call(3, "echo"));
  time_passes(limits::kHttpUselessWait - milliseconds(500));
  breaks(list);
  client(call(4, "echo"));
  done();
  time_passes(milliseconds(500));
  takes(held_by);
  next_deadline_comes();
  std::vector<std::string> calls;
  for (const std::string& word : done()) {
    if (word.starts_with("post ") && word.find("tools/call") != word.npos) {
      calls.push_back(word.substr(word.find('{')));
    }
  }
  EXPECT_THAT(calls, ElementsAre(call(2, "echo"), call(3, "echo"), call(4, "echo")));
  opens_daemon();
  for (const int id : {2, 3, 4}) answers(*exchange_of(id), result(id));
}

TEST(AbsenceTest, AResponseCancelsThePendingRetry) {
  Absence absence;
  absence.on_refused("refused", seconds(2), {});
  EXPECT_TRUE(absence.again_at());
  absence.on_heard();
  EXPECT_FALSE(absence.again_at());
}

TEST(AbsenceTest, LosingASessionIgnoresRefusalsAndResponses) {
  Absence absence;
  absence.on_refused("refused", seconds(2), {});
  absence.on_losing();
  absence.on_refused("refused", seconds(2), {});
  absence.on_try();
  absence.on_heard();
  EXPECT_FALSE(absence.is_on());
  EXPECT_TRUE(absence.holds());
  EXPECT_FALSE(absence.again_at());
}

}  // namespace
}  // namespace sitter
