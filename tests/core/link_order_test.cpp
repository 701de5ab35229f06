#include "core/http/http_link_limits.hpp"
#include "sitter/bytes.hpp"
#include "support/link_order_script.hpp"

namespace sitter {
namespace {

using ::testing::UnorderedElementsAre;

TEST_F(LinkOrderTest, ARequestDoesNotDelayLaterMessages) {
  open_listed_session();
  client(call(1, "slow"));
  client(call(2, "echo"));
  client(told_);
  EXPECT_THAT(done(), ElementsAre("post 7 [s1] " + call(1, "slow"),
                                  "post 8 [s1] " + call(2, "echo"), "post 9 [s1] " + told_));
  takes(9);
  answers(8, result(2));
  answers(7, result(1));
}

TEST_F(LinkOrderTest, ANotificationDelaysLaterMessagesUntilItIsAccepted) {
  open_listed_session();
  client(told_);
  client(call(1, "echo"));
  client(call(2, "echo"));
  EXPECT_THAT(done(), ElementsAre("post 7 [s1] " + told_));
  head(7, 202);
  EXPECT_THAT(done(),
              ElementsAre("post 8 [s1] " + call(1, "echo"), "post 9 [s1] " + call(2, "echo")));
  ends(7);
  answers(8, result(1));
  answers(9, result(2));
}

TEST_F(LinkOrderTest, ARefusalForNowWhoseBodyDoesNotEndDelaysNothing) {
  open_listed_session();
  client(told_);
  head(7, 429);
  client(call(1, "echo"));
  EXPECT_THAT(done(), ElementsAre("post 7 [s1] " + told_, "post 8 [s1] " + call(1, "echo")));
  answers(8, result(1));
  ends(7);
}

TEST_F(LinkOrderTest, RefusedNotificationsKeepNoMoreThanWhatWaitsForADaemon) {
  open_listed_session();
  const std::string padding(limits::kHttpWaitingBytesMax / 4, 'x');
  const std::string large =
      R"json({"jsonrpc":"2.0","method":"notifications/other","params":{"x":")json" + padding +
      R"json("}})json";
  for (int count = 1; count <= 4; ++count) {
    client(large);
    status(last(), 429, "", {{"retry-after", "1"}});
    EXPECT_EQ(!logs().empty() && logs().back().find("429") != std::string::npos, count == 4);
  }
}

TEST_F(LinkOrderTest, NotificationsFollowEachOther) {
  open_listed_session();
  const std::string other = notification("notifications/other");
  client(told_);
  client(other);
  client(call(1, "echo"));
  EXPECT_THAT(done(), ElementsAre("post 7 [s1] " + told_));
  takes(7);
  EXPECT_THAT(done(), ElementsAre("post 8 [s1] " + other));
  takes(8);
  EXPECT_THAT(done(), ElementsAre("post 9 [s1] " + call(1, "echo")));
  answers(9, result(1));
}

TEST_F(LinkOrderTest, ALostNotificationNoLongerDelaysLaterMessages) {
  open_listed_session();
  client(told_);
  client(call(1, "echo"));
  done();
  breaks(7);
  EXPECT_THAT(done(), ElementsAre("post 8 [s1] " + call(1, "echo")));
  answers(8, result(1));
}

TEST_F(LinkOrderTest, AnAnswerOfTheClientDelaysLaterMessagesToo) {
  open_listed_session();
  event(4, request(5, "roots/list"));
  const std::string id = answer()["id"].dump();
  client(result(id));
  client(call(1, "echo"));
  EXPECT_THAT(done(), ElementsAre("post 7 [s1] " + result(5)));
  takes(7);
  EXPECT_THAT(done(), ElementsAre("post 8 [s1] " + call(1, "echo")));
  answers(8, result(1));
}

TEST_F(LinkOrderTest, ThirtyTwoRequestsAreUnderWayAndTheNextWaits) {
  open_listed_session();
  fill();
  client(call(kMax + 1, "echo"));
  EXPECT_THAT(done(), IsEmpty());
  answers(*exchange_of(3), result(3));
  EXPECT_THAT(done(),
              ElementsAre(HasSubstr("[s1] " + call(kMax + 1, "echo")), "client " + result(3)));
  answers(*exchange_of(1), result(1));
  answers(*exchange_of(2), result(2));
  for (int id = 4; id <= kMax + 1; ++id) answers(*exchange_of(id), result(id));
}

TEST_F(LinkOrderTest, ARequestCountsWhileItsStreamWaitsToResume) {
  open_listed_session();
  fill();
  const Exchange first = *exchange_of(1);
  streams(first);
  bytes(first, "id: a\ndata:\n\n");
  breaks(first);
  client(call(kMax + 1, "echo"));
  EXPECT_THAT(done(), IsEmpty());
  next_deadline_comes();
  const Exchange resumed = last();
  EXPECT_THAT(done(), ElementsAre(HasSubstr("after=a")));
  streams(resumed);
  event(resumed, result(1));
  EXPECT_THAT(done(), Contains(HasSubstr(call(kMax + 1, "echo"))));
  answers(*exchange_of(kMax + 1), result(kMax + 1));
  empty(2);
}

TEST_F(LinkOrderTest, AnOpenResponseDoesNotCountAfterItsAnswer) {
  open_listed_session();
  fill();
  streams(*exchange_of(1));
  event(*exchange_of(1), result(1));
  done();
  client(call(kMax + 1, "echo"));
  EXPECT_THAT(done(), ElementsAre(HasSubstr(call(kMax + 1, "echo"))));
  answers(last(), result(kMax + 1));
  empty(2);
}

TEST_F(LinkOrderTest, AnElicitationInThirtyTwoCallsIsAnswered) {
  open_listed_session();
  fill();
  client(call(kMax + 1, "echo"));
  streams(*exchange_of(1));
  event(*exchange_of(1), request(5, "elicitation/create", R"json({"message":"?"})json"));
  const std::string id = answer()["id"].dump();
  client(result(id, R"json({"action":"accept"})json"));
  EXPECT_THAT(done(), ElementsAre(HasSubstr(result(5, R"json({"action":"accept"})json"))));
  takes(last());
  event(*exchange_of(1), result(1));
  EXPECT_THAT(done(), Contains(HasSubstr(call(kMax + 1, "echo"))));
  answers(*exchange_of(kMax + 1), result(kMax + 1));
  empty(2);
}

TEST_F(LinkOrderTest, ProgressOfTheClientPassesTheRequestsThatWait) {
  open_listed_session();
  fill();
  client(call(kMax + 1, "echo"));
  event(4, R"json({"jsonrpc":"2.0","id":5,"method":"elicitation/create",)json"
           R"json("params":{"message":"?","_meta":{"progressToken":"p"}}})json");
  const auto asked = answer();
  client(progress(asked["id"].dump(), 1));
  EXPECT_THAT(done(), ElementsAre(HasSubstr(progress("\"p\"", 1))));
  takes(last());
  answers(*exchange_of(1), result(1));
  answers(*exchange_of(kMax + 1), result(kMax + 1));
  empty(2);
}

TEST_F(LinkOrderTest, ACancellationPassesTheRequestsThatWaitAndMakesRoomForThem) {
  open_listed_session();
  fill();
  client(call(kMax + 1, "echo"));
  client(cancelled(1));
  EXPECT_THAT(done(), ElementsAre(HasSubstr("[s1] " + cancelled(1))));
  takes(last());
  EXPECT_THAT(done(), ElementsAre(HasSubstr(call(kMax + 1, "echo"))));
  answers(*exchange_of(kMax + 1), result(kMax + 1));
  empty(2);
}

TEST_F(LinkOrderTest, ANotificationWaitsForTheRequestsBeforeIt) {
  open_listed_session();
  fill();
  client(call(kMax + 1, "echo"));
  client(told_);
  EXPECT_THAT(done(), IsEmpty());
  answers(*exchange_of(1), result(1));
  EXPECT_THAT(done(), ElementsAre(HasSubstr(call(kMax + 1, "echo")), HasSubstr(told_),
                                  "client " + result(1)));
  takes(last());
  answers(*exchange_of(kMax + 1), result(kMax + 1));
  empty(2);
}

TEST_F(LinkOrderTest, AnswersComeInTheOrderOfTheDaemon) {
  open_listed_session();
  client(call(1, "a"));
  client(call(2, "b"));
  done();
  answers(*exchange_of(2), result(2));
  answers(*exchange_of(1), result(1));
  EXPECT_THAT(done(), ElementsAre("client " + result(2), "client " + result(1)));
}

// ---- cancellation

TEST_F(LinkOrderTest, InASessionTheCancellationIsPosted) {
  open_listed_session();
  client(call(1, "slow"));
  done();
  client(cancelled(1));
  EXPECT_THAT(done(), ElementsAre("post 8 [s1] " + cancelled(1)));
  takes(8);
  breaks(7);
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(LinkOrderTest, ARequestThatWasNotSentYetIsCancelledWithoutTheDaemon) {
  open_listed_session();
  fill();
  client(call(kMax + 1, "echo"));
  client(cancelled(kMax + 1));
  answers(*exchange_of(1), result(1));
  EXPECT_THAT(done(), ElementsAre("client " + result(1)));
  empty(2);
}

TEST_F(LinkOrderTest, ARequestThatWaitsForTheDaemonIsCancelledWithoutIt) {
  open_listed_session();
  daemon_dies();
  client(call(1, "echo"));
  not_connected(*exchange_of(1));
  not_connected(last());
  client(cancelled(1));
  next_deadline_comes();
  done();
  opens_daemon();
  EXPECT_THAT(done(), Not(Contains(HasSubstr("tools/call"))));
}

TEST_F(LinkOrderTest, ACancelledRequestThatIsTakenUpLaterIsCancelledToo) {
  open_listed_session();
  client(call(1, "slow"));
  streams(*exchange_of(1));
  bytes(7, "id: a\ndata:\n\n");
  breaks(7);
  done();
  client(cancelled(1));
  EXPECT_THAT(done(), ElementsAre("post 8 [s1] " + cancelled(1)));
  takes(8);
}

TEST_F(LinkOrderTest, AStatelessRequestIsCancelledByClosingItsStream) {
  serve_stateless();
  client(enveloped_call(1, "slow"));
  const Exchange post = *exchange_of(1);
  streams(post);
  done();
  client(cancelled(1));
  EXPECT_THAT(done(), ElementsAre("abort " + std::to_string(post)));
}

TEST_F(LinkOrderTest, AStatelessRequestThatHasNoResponseYetIsCancelledInTheSameWay) {
  serve_stateless();
  client(enveloped_call(1, "slow"));
  const Exchange post = *exchange_of(1);
  done();
  client(cancelled(1));
  EXPECT_THAT(done(), ElementsAre("abort " + std::to_string(post)));
  client(cancelled(1));
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(LinkOrderTest, AStatelessRequestThatWasNotSentYetIsCancelledWithoutTheDaemon) {
  serve_stateless();
  for (int id = 1; id <= kMax + 1; ++id) client(enveloped_call(id, "slow"));
  client(cancelled(kMax + 1));
  done();
  client(cancelled(1));
  EXPECT_THAT(done(), ElementsAre(HasSubstr("abort ")));
  for (int id = 2; id <= kMax; ++id) {
    answers(*exchange_of(id), result(id, R"json({"resultType":"complete","content":[]})json"));
  }
}

TEST_F(LinkOrderTest, AnIdThatIsUsedAgainNamesTheNewRequest) {
  serve_stateless();
  client(enveloped_call(1, "a"));
  const Exchange first = *exchange_of(1);
  streams(first);
  event(first, result(1, R"json({"resultType":"complete","content":[]})json"));
  client(enveloped_call(1, "b"));
  const Exchange second = last();
  done();
  client(cancelled(1));
  EXPECT_THAT(done(), ElementsAre("abort " + std::to_string(second)));
}

TEST_F(LinkOrderTest, CancelledRequestsLeaveRoomForTheNext) {
  open_session();
  const int max = static_cast<int>(limits::kHttpRequestsMax);
  for (int id = 1; id <= max; ++id) {
    client(call(id, "slow"));
    streams(*exchange_of(id));
    client(cancelled(id));
    takes(last());
  }
  done();
  client(call(max + 1, "echo"));
  ASSERT_TRUE(exchange_of(max + 1));
  answers(*exchange_of(max + 1), result(max + 1));
  EXPECT_THAT(client_got(), ElementsAre(result(max + 1)));
}

TEST_F(LinkOrderTest, ACancelledRequestIsGivenUpAfterAWhile) {
  open_session();
  client(call(1, "slow"));
  const Exchange exchange = *exchange_of(1);
  streams(exchange);
  client(cancelled(1));
  takes(last());
  done();
  time_passes(limits::kHttpUselessWait - milliseconds(1));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(done(), ElementsAre("abort " + std::to_string(exchange)));
}

TEST_F(LinkOrderTest, ACancelledRequestIsNotTakenUpAgain) {
  open_session();
  client(call(1, "slow"));
  const Exchange exchange = *exchange_of(1);
  streams(exchange);
  event(exchange, progress("7", 1), "a");
  client(cancelled(1));
  takes(last());
  breaks(exchange);
  done();
  time_passes(seconds(10));
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(LinkOrderTest, AResponseThatStaysOpenAfterItsAnswerIsClosedAfterAWhile) {
  open_session();
  client(call(1, "echo"));
  const Exchange exchange = *exchange_of(1);
  streams(exchange);
  event(exchange, result(1));
  done();
  time_passes(limits::kHttpUselessWait);
  EXPECT_THAT(done(), ElementsAre("abort " + std::to_string(exchange)));
}

TEST_F(LinkOrderTest, OfTheResponsesThatStayOpenTheOldestIsClosedAtTheLimit) {
  open_session();
  const int max = static_cast<int>(limits::kHttpAnsweredMax);
  Exchange oldest = 0;
  for (int id = 1; id <= max + 1; ++id) {
    client(call(id, "echo"));
    const Exchange exchange = *exchange_of(id);
    if (id == 1) oldest = exchange;
    streams(exchange);
    done();
    event(exchange, result(id));
    if (id > max) break;
    EXPECT_THAT(done(), ElementsAre("client " + result(id)));
  }
  EXPECT_THAT(done(),
              UnorderedElementsAre("client " + result(max + 1), "abort " + std::to_string(oldest)));
}

TEST_F(LinkOrderTest, AResponseHeadMeansThatANotificationWasAccepted) {
  open_session();
  client(notification("notifications/roots/list_changed"));
  const Exchange exchange = last();
  client(call(1, "echo"));
  head(exchange, 202);
  ASSERT_TRUE(exchange_of(1));
  answers(*exchange_of(1), result(1));
}

TEST_F(LinkOrderTest, AnUnansweredNotificationDelaysOthersUntilItsTimeout) {
  open_session();
  client(notification("notifications/roots/list_changed"));
  const Exchange exchange = last();
  client(call(1, "echo"));
  done();
  time_passes(limits::kHttpTakenWait - milliseconds(1));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(done(), ElementsAre("abort " + std::to_string(exchange), HasSubstr(call(1, "echo"))));
  EXPECT_THAT(logs(), Contains(HasSubstr("has not taken a notification")));
  answers(*exchange_of(1), result(1));
}

TEST_F(LinkOrderTest, APingPassesTheRequestsThatWait) {
  open_session();
  const int max = static_cast<int>(limits::kHttpRequestsMax);
  for (int id = 1; id <= max + 1; ++id) client(call(id, "slow"));
  client(request(900, "ping"));
  ASSERT_TRUE(exchange_of(900));
  answers(*exchange_of(900), result(900));
  for (int id = 1; id <= max + 1; ++id) answers(*exchange_of(id), result(id));
}

TEST_F(LinkOrderTest, ARequestThatWasNotSentBeforeAKillHadNoEffect) {
  open_session();
  const int max = static_cast<int>(limits::kHttpRequestsMax);
  for (int id = 1; id <= max + 1; ++id) client(call(id, "slow"));
  client(call(900, "sitter_kill"));
  takes(last());
  int delivered = 0;
  int undelivered = 0;
  for (const std::string& line : client_got()) {
    delivered += line.find("may or may not have taken effect") != line.npos;
    undelivered += line.find("was not delivered and had no effect") != line.npos;
  }
  EXPECT_EQ(delivered, max);
  EXPECT_EQ(undelivered, 1);
}

TEST_F(LinkOrderTest, RefusesRequestsAboveTheQueueLimit) {
  open_session();
  const int max = static_cast<int>(limits::kHttpRequestsMax);
  for (int id = 1; id <= max; ++id) client(call(id, "slow"));
  const std::string half(limits::kHttpOutboxMax / 2 - limits::kMiB, 'x');
  client(call(101, "echo", '"' + half + '"'));
  client(call(102, "echo", '"' + half + '"'));
  EXPECT_THAT(client_got(), IsEmpty());
  client(call(103, "echo", '"' + std::string(2 * limits::kMiB, 'x') + '"'));
  EXPECT_THAT(error_text(-32603), HasSubstr("already wait for their turn"));
  client(cancelled(102));
  client(call(104, "echo", '"' + std::string(2 * limits::kMiB, 'x') + '"'));
  EXPECT_THAT(client_got(), IsEmpty());
  for (const int id : {101, 104}) client(cancelled(id));
  for (int id = 1; id <= max; ++id) answers(*exchange_of(id), result(id));
}

}  // namespace
}  // namespace sitter
