#include <cstddef>

#include "core/http/http_link_limits.hpp"
#include "core/http/http_words.hpp"
#include "support/link_absence_script.hpp"

/// How long, and how much, waits for a daemon that is away, and how often the daemon is tried.
namespace sitter {
namespace {

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
  EXPECT_THAT(text, HasSubstr("was not delivered and had no effect"));
  EXPECT_THAT(text, Not(HasSubstr("stderr")));
}

TEST_F(LinkAbsenceTest, WaitsForARunningOpeningEvenWithoutAWait) {
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

TEST_F(LinkAbsenceTest, AnswersARefusedConnectionAtOnceWithoutAWait) {
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

TEST_F(LinkAbsenceTest, ARetryAfterDoesNotApplyToTheNextDaemon) {
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

TEST_F(LinkAbsenceTest, ACallForWhichThereIsNoDescriptorWaitsAndLosesNoOther) {
  open_listed_session();
  for (int id = 1; id <= 3; ++id) client(call(id, "echo"));
  for (int id = 2; id <= 3; ++id) no_descriptor(*exchange_of(id));
  done();
  EXPECT_EQ(wait(), limits::kHttpConnectWaitMin);
  EXPECT_EQ(status_tool()["absence"]["why"], "mcp-sitter may open no more files");
  done();
  // An exchange has ended, so that its descriptor serves the next one.
  answers(*exchange_of(1), result(1));
  for (int id = 2; id <= 3; ++id) answers(*exchange_of(id), result(id));
  EXPECT_THAT(client_got(), ElementsAre(result(1), result(2), result(3)));
}

TEST_F(LinkAbsenceTest, WithoutADescriptorACallWaitsNoLongerThanForTheDaemon) {
  config.wait_for_server = seconds(3);
  open_listed_session();
  client(call(1, "echo"));
  done();
  const Instant limit = now.steady + config.wait_for_server;
  while (now.steady < limit) {
    EXPECT_THAT(client_got(), IsEmpty());
    if (const auto exchange = exchange_of(1)) {
      no_descriptor(*exchange);
    } else {
      next_deadline_comes();
    }
  }
  EXPECT_THAT(answer_text(),
              AllOf(HasSubstr("may open no more files"), HasSubstr("not delivered")));
}

TEST_F(LinkAbsenceTest, WithoutADescriptorNotificationsAndStreamsAreSentAgain) {
  open_session();
  client(notification("notifications/roots/list_changed"));
  no_descriptor(last());
  breaks(kGetStream);
  done();
  next_deadline_comes();
  EXPECT_THAT(done(), ElementsAre(HasSubstr("roots/list_changed")));
  takes(last());
  next_deadline_comes();
  EXPECT_THAT(done(), ElementsAre(HasSubstr("get ")));
  no_descriptor(last());
  done();
  next_deadline_comes();
  EXPECT_THAT(done(), ElementsAre(HasSubstr("get ")));
}

TEST_F(LinkAbsenceTest, WithoutADescriptorNoDaemonIsStarted) {
  options.may_start = true;
  client(initialize(0));
  EXPECT_THAT(done(), ElementsAre("connect 1"));
  no_descriptor(1);
  EXPECT_THAT(done(), IsEmpty());
  next_deadline_comes();
  EXPECT_THAT(done(), ElementsAre(HasSubstr("connect ")));
  opens_daemon();
  EXPECT_THAT(client_got(), SizeIs(1));
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
