#include "sitter/http_limits.hpp"
#include "support/link_script.hpp"

namespace sitter {
namespace {

/// A daemon that was there and is away for a while.
class LinkAbsenceTest : public LinkTest {
 protected:
  /// The daemon dies, and the client's request with this id finds it out.
  void dies_before(const Id& id) {
    daemon_dies();
    client(call(id, "echo"));
    not_connected(*exchange_of(id));
    stays_down(milliseconds(10));
  }

  void comes_back() {
    next_deadline_comes();
    opens_daemon();
  }
};

TEST_F(LinkAbsenceTest, ARequestThatFindsNothingWaitsAndIsServedByTheNextSession) {
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

TEST_F(LinkAbsenceTest, NamedCallsAreMadeAgainBeforeTheQueueGoesOn) {
  config.replayed_tools = {"connect"};
  open_session();
  client(call(1, "connect"));
  answers(*exchange_of(1), result(1, text_result("a")));
  dies_before(2);
  done();
  next_deadline_comes();
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

TEST_F(LinkAbsenceTest, WhatWaitsIsSentInTheOrderOfTheClient) {
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

TEST_F(LinkAbsenceTest, AListThatFindsNothingIsAnsweredAfterTheFirstRefusal) {
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

TEST_F(LinkAbsenceTest, APingThatFindsNothingIsAnsweredAtOnce) {
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
  EXPECT_THAT(lines[0], AllOf(HasSubstr("was not delivered to it"),
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

TEST_F(LinkAbsenceTest, ACallThatWaitsForTooLongIsAnsweredAsNotDelivered) {
  open_listed_session();
  dies_before(1);
  done();
  stays_down(config.wait_for_server - milliseconds(11));
  EXPECT_THAT(client_got(), IsEmpty());
  stays_down(milliseconds(1));
  const auto line = answer();
  EXPECT_EQ(line["result"]["isError"], true);
  const std::string text = line["result"]["content"][0]["text"];
  EXPECT_THAT(text, HasSubstr("the server can't be reached: nothing listens on 127.0.0.1:3000"));
  EXPECT_THAT(text, HasSubstr("was not delivered to it and had no effect"));
  EXPECT_THAT(text, Not(HasSubstr("stderr")));
}

TEST_F(LinkAbsenceTest, WithoutAWaitAnOpeningThatIsUnderWayIsWaitedForAllTheSame) {
  config.wait_for_server = milliseconds(0);
  open_listed_session();
  client(call(1, "echo"));
  status(*exchange_of(1), 404);
  connected(last());
  done();
  time_passes(limits::kHttpOpeningWaitMin - milliseconds(1));
  EXPECT_THAT(client_got(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(answer_text(), HasSubstr("it has not answered its opening"));
}

TEST_F(LinkAbsenceTest, WithoutAWaitARequestThatFindsNothingIsAnsweredAtOnce) {
  config.wait_for_server = milliseconds(0);
  open_listed_session();
  dies_before(1);
  refuse_connections();
  time_passes(milliseconds(0));
  EXPECT_THAT(answer_text(), HasSubstr("nothing listens on 127.0.0.1:3000"));
}

TEST_F(LinkAbsenceTest, AReadThatWaitsForTooLongGetsAnErrorThatSaysNotDelivered) {
  open_listed_session();
  dies_before(1);
  client(request(2, "resources/read", R"json({"uri":"a:b"})json"));
  done();
  stays_down(config.wait_for_server);
  const auto lines = client_got();
  ASSERT_THAT(lines, SizeIs(2));
  const auto error = nlohmann::json::parse(lines[1])["error"];
  EXPECT_EQ(error["code"], -32603);
  EXPECT_THAT(std::string(error["message"]), HasSubstr("not delivered"));
  EXPECT_EQ(error["data"]["delivered"], false);
}

TEST_F(LinkAbsenceTest, EachRequestWaitsForItsOwnTime) {
  config.wait_for_server = seconds(5);
  open_listed_session();
  dies_before(1);
  stays_down(seconds(3));
  client(call(2, "echo"));
  done();
  stays_down(seconds(2));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("\"id\":1")));
  stays_down(seconds(3));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("\"id\":2")));
}

TEST_F(LinkAbsenceTest, TheDaemonIsTriedOnWhenNobodyWaits) {
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

TEST_F(LinkAbsenceTest, WhatARequestMeetsInAProxyWithoutItsDaemonIsAway) {
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

TEST_F(LinkAbsenceTest, RetryAfterIsHonoured) {
  open_listed_session();
  client(call(1, "echo"));
  status(*exchange_of(1), 503, "", {{"retry-after", "7"}});
  EXPECT_EQ(wait(), seconds(7));
  EXPECT_EQ(status_tool()["absence"]["nextTryMs"], 7000);
  next_deadline_comes();
  answers(*exchange_of(1), result(1));
}

TEST_F(LinkAbsenceTest, NobodyWaitsForLongerThanTheLimitOfRetryAfter) {
  config.wait_for_server = std::chrono::hours(1);
  open_listed_session();
  client(call(1, "echo"));
  status(*exchange_of(1), 503, "", {{"retry-after", "99999"}});
  EXPECT_EQ(wait(), limits::kHttpWaitMax);
  client(cancelled(1));
}

TEST_F(LinkAbsenceTest, ManyRequestsThatAreRefusedTogetherCountAsOneTry) {
  open_listed_session();
  for (int id = 1; id <= 5; ++id) client(call(id, "echo"));
  for (int id = 1; id <= 5; ++id) status(*exchange_of(id), 503);
  EXPECT_EQ(wait(), limits::kHttpConnectWaitMin);
  next_deadline_comes();
  for (int id = 1; id <= 5; ++id) answers(*exchange_of(id), result(id));
}

TEST_F(LinkAbsenceTest, ATryThatIsDueInLessThanAMillisecondIsNotMadeAtOnce) {
  open_listed_session();
  client(call(1, "echo"));
  client(call(2, "echo"));
  status(*exchange_of(1), 503);
  now.steady += limits::kHttpConnectWaitMin - std::chrono::microseconds(500);
  status(*exchange_of(2), 503);
  EXPECT_EQ(wait(), milliseconds(1));
  next_deadline_comes();
  for (int id = 1; id <= 2; ++id) answers(*exchange_of(id), result(id));
}

TEST_F(LinkAbsenceTest, ARequestThatIsRefusedAgainAndAgainIsAnsweredAtItsLimit) {
  open_listed_session();
  client(call(1, "echo"));
  done();
  const Instant limit = now.steady + config.wait_for_server;
  while (now.steady < limit) {
    EXPECT_THAT(client_got(), IsEmpty());
    if (const auto exchange = exchange_of(1)) {
      status(*exchange, 503);
    } else {
      next_deadline_comes();
    }
  }
  EXPECT_THAT(answer_text(), HasSubstr("not delivered"));
  client(call(2, "echo"));
  if (!exchange_of(2)) next_deadline_comes();
  answers(*exchange_of(2), result(2));
}

TEST_F(LinkAbsenceTest, TenThousandRequestsWaitAndTheNextIsRefused) {
  open_listed_session();
  dies_before(1);
  done();
  const int max = static_cast<int>(limits::kHttpWaitingCountMax);
  for (int id = 2; id <= max; ++id) client(call(id, "echo"));
  EXPECT_THAT(done(), IsEmpty());
  client(call(max + 1, "echo"));
  const std::string text = error_text(-32603);
  EXPECT_THAT(text, HasSubstr("10000 requests"));
  EXPECT_THAT(text, HasSubstr("was not accepted"));
  comes_back();
  int next = 1;
  while (next <= max) {
    const auto exchange = exchange_of(next);
    ASSERT_TRUE(exchange) << next;
    answers(*exchange, result(next, text_result("a")));
    ++next;
  }
  EXPECT_THAT(client_got(), SizeIs(limits::kHttpWaitingCountMax));
}

TEST_F(LinkAbsenceTest, SixtyFourMegabytesOfRequestsWaitAndTheNextIsRefused) {
  open_listed_session();
  dies_before(1);
  const std::size_t before = call(1, "echo").size();
  const std::string frame = call(2, "echo", "\"\"");
  done();
  client(call(2, "echo",
              '"' + std::string(limits::kHttpWaitingBytesMax - before - frame.size(), 'x') + '"'));
  EXPECT_THAT(done(), IsEmpty());
  client(request(3, "x"));
  EXPECT_THAT(error_text(-32603), HasSubstr("67108864 bytes"));
  client(cancelled(2));
}

TEST_F(LinkAbsenceTest, AProbeWaitsForItsLimitAndIsThenNoProofOfAnEra) {
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

TEST_F(LinkAbsenceTest, AStatelessCallWaitsTooAndFailsWithAResult) {
  serve_stateless();
  daemon_dies();
  client(enveloped_call(1, "echo"));
  not_connected(*exchange_of(1));
  stays_down(config.wait_for_server - milliseconds(1));
  EXPECT_THAT(client_got(), IsEmpty());
  stays_down(milliseconds(1));
  const auto line = answer();
  EXPECT_EQ(line["result"]["isError"], true);
  EXPECT_EQ(line["result"]["resultType"], "complete");
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

TEST_F(LinkAbsenceTest, ALongRetryAfterDoesNotConcernTheNextDaemon) {
  open_listed_session();
  client(call(1, "echo"));
  status(*exchange_of(1), 503, "", {{"retry-after", "20"}});
  EXPECT_EQ(wait(), seconds(20));
  next_deadline_comes();
  not_connected(*exchange_of(1));
  refuse_connections();
  EXPECT_LE(wait(), limits::kHttpLoopbackWaitMax);
  client(cancelled(1));
}

TEST_F(LinkAbsenceTest, ALongerRetryAfterThatComesLaterCounts) {
  open_listed_session();
  client(call(1, "echo"));
  client(call(2, "echo"));
  status(*exchange_of(1), 503);
  status(*exchange_of(2), 503, "", {{"retry-after", "7"}});
  EXPECT_EQ(wait(), seconds(7));
  client(cancelled(1));
  client(cancelled(2));
}

TEST_F(LinkAbsenceTest, ARefusedNotificationHonoursRetryAfter) {
  open_listed_session();
  client(notification("notifications/roots/list_changed"));
  status(last(), 503, "", {{"retry-after", "7"}});
  EXPECT_EQ(wait(), seconds(7));
}

TEST_F(LinkAbsenceTest, WhatWasRefusedIsSentAgainWhenTheDaemonSpeaks) {
  open_session();
  event(kGetStream, notification("notifications/tools/list_changed"));
  const auto asked = done();
  ASSERT_THAT(asked, Contains(HasSubstr("tools/list")));
  status(last(), 503, "", {{"retry-after", "60"}});
  done();
  event(kGetStream,
        notification("notifications/message", R"json({"level":"info","data":"x"})json"));
  EXPECT_THAT(done(), Contains(HasSubstr("\"method\":\"tools/list\"")));
  answers(last(), result("#2", server.page("tools", server.tools)));
}

/// The link refuses what waits before the bridge has read the answer that shows the daemon again.
TEST_F(LinkAbsenceTest, NothingOvertakesARequestWhoseRefusalIsNotRead) {
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

TEST_F(LinkAbsenceTest, AConnectionThatIsAcceptedAndClosedAtOnceIsTriedWithAPause) {
  client(initialize(0));
  connected(last());
  done();
  for (int i = 0; i < 5; ++i) {
    not_connected(last(), "127.0.0.1:3000 closed the connection before the request");
    EXPECT_THAT(done(), IsEmpty());
    EXPECT_GE(wait(), limits::kHttpConnectWaitMin);
    next_deadline_comes();
    EXPECT_THAT(done(), ElementsAre(HasSubstr("initialize")));
  }
  opens_daemon();
  EXPECT_THAT(client_got(), SizeIs(1));
}

TEST_F(LinkAbsenceTest, ADaemonThatAcceptsAndSaysNothingIsWaitedForNoLongerThanAnAbsentOne) {
  serve_stateless();
  daemon_dies();
  client(enveloped_call(1, "echo"));
  not_connected(*exchange_of(1));
  connected(last());
  done();
  time_passes(config.wait_for_server - milliseconds(1));
  EXPECT_THAT(client_got(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("not delivered")));
}

}  // namespace
}  // namespace sitter
