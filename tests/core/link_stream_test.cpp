#include <cstddef>

#include "core/http/http_link_limits.hpp"
#include "core/wire/room.hpp"
#include "sitter/bytes.hpp"
#include "support/link_script.hpp"

namespace sitter {
namespace {

/// Event streams of a daemon: those of its responses, and the one that GET opens.
class LinkStreamTest : public LinkTest {
 protected:
  /// The daemon answers this request 1 with a stream, which breaks behind an event with the id a1.
  void stream_breaks(const std::string& line) {
    open_listed_session();
    client(line);
    streams(*exchange_of(1));
    bytes(7, "id: a1\ndata:\n\n");
    breaks(7);
  }

  const std::string read_ = request(1, "resources/read", R"json({"uri":"a:b"})json");
};

TEST_F(LinkStreamTest, MessagesBeforeTheAnswerArePassedInTheirOrder) {
  open_listed_session();
  client(call_with_progress(1, "slow"));
  const Exchange post = *exchange_of(1);
  done();
  streams(post);
  event(post, progress(1, 1));
  EXPECT_THAT(done(), ElementsAre("client " + progress(1, 1)));
  event(post, result(1));
  time_passes(milliseconds(1));
  EXPECT_THAT(done(), ElementsAre("client " + result(1)));
  ends(post);
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(LinkStreamTest, AnAnswerOnSeveralLinesIsPassedAsOneLine) {
  open_listed_session();
  client(call(1, "echo"));
  const Exchange post = *exchange_of(1);
  done();
  streams(post);
  bytes(post, ": comment\r\ndata: {\"jsonrpc\":\"2.0\",\r\ndata: \"id\":1,\"result\":{}}\r\n\r\n");
  EXPECT_THAT(done(), ElementsAre("client {\"jsonrpc\":\"2.0\", \"id\":1,\"result\":{}}"));
  ends(post);
}

TEST_F(LinkStreamTest, AQuestionOnAStreamIsAnsweredWithAPost) {
  open_listed_session();
  client(call(1, "ask"));
  const Exchange post = *exchange_of(1);
  streams(post);
  done();
  event(post, request(5, "elicitation/create", R"json({"message":"?"})json"));
  const std::string id = answer()["id"].dump();
  client(result(id, R"json({"action":"accept"})json"));
  EXPECT_THAT(done(),
              ElementsAre(HasSubstr("[s1] " + result(5, R"json({"action":"accept"})json"))));
  takes(last());
  event(post, result(1));
  ends(post);
}

TEST_F(LinkStreamTest, AStreamWithEventIdsIsTakenUpWhereItBroke) {
  open_listed_session();
  client(call(1, "slow"));
  const Exchange post = *exchange_of(1);
  streams(post);
  bytes(post, "id: a1\nretry: 500\ndata:\n\n");
  done();
  breaks(post);
  EXPECT_THAT(done(), IsEmpty());
  EXPECT_EQ(wait(), milliseconds(500));
  next_deadline_comes();
  EXPECT_THAT(done(), ElementsAre("get 8 [s1] after=a1"));
  streams(8);
  event(8, result(1), "a2");
  EXPECT_THAT(done(), ElementsAre("client " + result(1)));
  ends(8);
}

TEST_F(LinkStreamTest, AStreamThatEndsInGoodOrderBeforeItsAnswerIsTakenUpToo) {
  open_listed_session();
  client(call(1, "slow"));
  const Exchange post = *exchange_of(1);
  streams(post);
  bytes(post, "id: a1\nretry: 200\ndata:\n\n");
  ends(post);
  done();
  EXPECT_EQ(wait(), milliseconds(200));
  next_deadline_comes();
  EXPECT_THAT(done(), ElementsAre("get 8 [s1] after=a1"));
  streams(8);
  event(8, result(1));
  ends(8);
}

TEST_F(LinkStreamTest, WithoutARetryAStreamIsTakenUpAfterASecond) {
  stream_breaks(call(1, "slow"));
  EXPECT_EQ(wait(), limits::kHttpStreamWaitMin);
  next_deadline_comes();
  streams(8);
  event(8, result(1));
  ends(8);
}

TEST_F(LinkStreamTest, GivesUpAfterTwoEmptyResumptions) {
  stream_breaks(call(1, "slow"));
  done();
  for (const Exchange get : {8, 9}) {
    next_deadline_comes();
    EXPECT_THAT(done(), ElementsAre("get " + std::to_string(get) + " [s1] after=a1"));
    streams(get);
    bytes(get, ": ping\n\n");
    ends(get);
  }
  EXPECT_THAT(answer_text(), HasSubstr("may or may not have taken effect"));
}

TEST_F(LinkStreamTest, AMessageResetsTheCountOfEmptyResumptions) {
  stream_breaks(call_with_progress(1, "slow"));
  next_deadline_comes();
  streams(8);
  ends(8);
  next_deadline_comes();
  streams(9);
  event(9, progress(1, 1), "a2");
  breaks(9);
  for (const Exchange get : {10, 11}) {
    next_deadline_comes();
    EXPECT_THAT(done(), Contains("get " + std::to_string(get) + " [s1] after=a2"));
    streams(get);
    ends(get);
  }
  EXPECT_THAT(client_got(), SizeIs(1));
}

TEST_F(LinkStreamTest, WithoutEventIdsABrokenCallMayHaveTakenEffect) {
  open_listed_session();
  client(call(1, "slow"));
  streams(*exchange_of(1));
  event(7, notification("notifications/message", R"json({"level":"info","data":1})json"));
  done();
  breaks(7, "127.0.0.1:3000 closed the connection within the response");
  const std::string text = answer_text();
  EXPECT_THAT(text, HasSubstr("closed the connection within the response"));
  EXPECT_THAT(text, HasSubstr("may or may not have taken effect"));
}

TEST_F(LinkStreamTest, WithoutEventIdsAPureReadIsSentOnceMore) {
  open_listed_session();
  client(read_);
  streams(*exchange_of(1));
  done();
  breaks(7);
  EXPECT_THAT(done(), ElementsAre("post 8 [s1] " + read_));
  breaks(8);
  EXPECT_THAT(error_text(-32603), HasSubstr("may or may not have taken effect"));
}

TEST_F(LinkStreamTest, ACallWhoseConnectionBreaksBeforeTheResponseMayHaveTakenEffect) {
  open_listed_session();
  client(call(1, "slow"));
  done();
  breaks(7);
  EXPECT_THAT(answer_text(), HasSubstr("may or may not have taken effect"));
  client(call(2, "echo"));
  EXPECT_THAT(done(), ElementsAre("post 8 [s1] " + call(2, "echo")));
  answers(8, result(2));
}

TEST_F(LinkStreamTest, WhatFollowsTheAnswerDoesNotMatter) {
  open_listed_session();
  client(call(1, "echo"));
  streams(*exchange_of(1));
  bytes(7, "id: a1\ndata:\n\n");
  event(7, result(1), "a2");
  done();
  breaks(7);
  time_passes(seconds(60));
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(LinkStreamTest, ARefusedConnectionOnResumptionLosesTheCall) {
  stream_breaks(call(1, "slow"));
  next_deadline_comes();
  done();
  not_connected(8);
  EXPECT_THAT(answer_text(), HasSubstr("may or may not have taken effect"));
  client(call(2, "echo"));
  opens_daemon();
  answers(*exchange_of(2), result(2));
}

TEST_F(LinkStreamTest, APureReadWhoseResumptionIsForgottenIsSentOnceMoreInAnotherSession) {
  stream_breaks(read_);
  next_deadline_comes();
  done();
  status(8, 404, error("null", -32001, "Session not found"));
  opens_daemon();
  EXPECT_THAT(done(), Contains(AllOf(HasSubstr("[s2]"), HasSubstr("resources/read"))));
  answers(*exchange_of(1), result(1));
}

TEST_F(LinkStreamTest, AResumptionThatIsRefusedIsALoss) {
  stream_breaks(call(1, "slow"));
  next_deadline_comes();
  done();
  status(8, 405);
  EXPECT_THAT(answer_text(), HasSubstr("405 Method Not Allowed"));
}

// ---- the stream of the session

TEST_F(LinkStreamTest, TheStreamOfTheSessionBringsMessages) {
  open_listed_session();
  event(kGetStream, notification("notifications/tools/list_changed"));
  EXPECT_THAT(done(), Contains("client " + notification("notifications/tools/list_changed")));
  opens_daemon();
}

TEST_F(LinkStreamTest, ADaemonWithoutAStreamIsNotAskedAgain) {
  daemon.has_stream = false;
  open_listed_session();
  client(notification("notifications/roots/list_changed"));
  opens_daemon();
  done();
  time_passes(seconds(120));
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(LinkStreamTest, OnlyOneStreamIsOpenedThoughNoHeadHasComeYet) {
  client_opens();
  takes(3);
  done();
  client(notification("notifications/roots/list_changed"));
  takes(last());
  EXPECT_THAT(done(), Not(Contains(HasSubstr("get "))));
  opens_daemon();
}

TEST_F(LinkStreamTest, AStreamThatBreaksIsOpenedAgainWhereItWas) {
  open_listed_session();
  event(kGetStream, notification("notifications/message", R"json({"level":"info","data":1})json"),
        "e7");
  bytes(kGetStream, "retry: 300\n\n");
  done();
  breaks(kGetStream);
  EXPECT_EQ(wait(), milliseconds(300));
  next_deadline_comes();
  EXPECT_THAT(done(), ElementsAre("get 7 [s1] after=e7"));
  streams(7);
  bytes(7, ": ping\n\n");
  breaks(7);
  EXPECT_EQ(wait(), milliseconds(300));
  next_deadline_comes();
  EXPECT_THAT(done(), ElementsAre("get 8 [s1] after=e7"));
  streams(8);
}

TEST_F(LinkStreamTest, WithoutARetryTheWaitDoublesUntilTheStreamBringsSomething) {
  open_listed_session();
  Exchange stream = kGetStream;
  for (const int wanted : {1, 2, 4, 8, 16, 30, 30}) {
    breaks(stream);
    EXPECT_EQ(wait(), seconds(wanted));
    next_deadline_comes();
    stream = last();
    streams(stream);
  }
  event(stream, notification("notifications/message", R"json({"level":"info","data":1})json"));
  breaks(stream);
  EXPECT_EQ(wait(), limits::kHttpStreamWaitMin);
}

TEST_F(LinkStreamTest, RetriesAStreamThatIsTakenByAnotherClient) {
  client_opens();
  takes(3);
  status(4, 409);
  opens_daemon();
  done();
  time_passes(limits::kHttpStreamWaitMin - milliseconds(1));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(done(), ElementsAre("get 6 [s1]"));
  status(6, 409);
  EXPECT_EQ(wait(), 2 * limits::kHttpStreamWaitMin);
  next_deadline_comes();
  streams(7);
}

TEST_F(LinkStreamTest, AStreamThatTheDaemonCannotGiveForNowIsAskedForLater) {
  client_opens();
  takes(3);
  status(4, 503);
  opens_daemon();
  done();
  time_passes(limits::kHttpStreamWaitMin);
  EXPECT_THAT(done(), ElementsAre("get 6 [s1]"));
  streams(6);
}

TEST_F(LinkStreamTest, ARefusedStreamConnectionShowsThatTheDaemonIsDown) {
  open_listed_session();
  breaks(kGetStream);
  next_deadline_comes();
  done();
  not_connected(7);
  EXPECT_THAT(done(), IsEmpty());
  client(call(1, "echo"));
  EXPECT_THAT(done(), ElementsAre("connect 8"));
  opens_daemon();
  answers(*exchange_of(1), result(1));
}

TEST_F(LinkStreamTest, TheNextSessionHasItsOwnStream) {
  open_listed_session();
  event(kGetStream, notification("notifications/message", R"json({"level":"info","data":1})json"),
        "e7");
  client(call(1, "echo"));
  status(*exchange_of(1), 404);
  done();
  opens_daemon();
  EXPECT_THAT(done(), Contains("get 11 [s2]"));
  answers(*exchange_of(1), result(1));
}

TEST_F(LinkStreamTest, AnEventOfAnotherTypeIsNoMessage) {
  open_listed_session();
  bytes(kGetStream, "event: ping\ndata: {}\n\n");
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(LinkStreamTest, AnEventThatIsTooLargeIsAnsweredInTheNameOfItsRequest) {
  open_listed_session();
  client(call(1, "large"));
  streams(*exchange_of(1));
  done();
  bytes(7, R"json(data: {"jsonrpc":"2.0","id":1,"result":")json");
  const std::string piece(16 * limits::kMiB, 'x');
  for (std::size_t sent = 0; sent <= limits::kLineMax; sent += piece.size()) bytes(7, piece);
  bytes(7, "\"}\n\n");
  EXPECT_THAT(answer_text(), HasSubstr("could not be read"));
  ends(7);
}

TEST_F(LinkStreamTest, AnAnswerOnAnotherStreamIsTheAnswer) {
  open_session();
  client(request(1, "resources/read", R"json({"uri":"a:b"})json"));
  const Exchange exchange = *exchange_of(1);
  streams(exchange);
  event(kGetStream, result(1));
  EXPECT_THAT(client_got(), ElementsAre(result(1)));
  done();
  ends(exchange);
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(LinkStreamTest, ARequestWhoseAnswerCannotBeReadIsNotSentAgain) {
  open_session();
  client(request(1, "x/effect"));
  const Exchange exchange = *exchange_of(1);
  streams(exchange);
  event(exchange, R"json({"jsonrpc":"2.0","id":1,"result":{"a":)json");
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("could not be read")));
  done();
  ends(exchange);
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(LinkStreamTest, AResumptionThatIsRefusedForNowIsAskedForAgain) {
  for (const int code : {409, 429}) {
    SCOPED_TRACE(code);
    open_session();
    client(call(1, "slow"));
    streams(*exchange_of(1));
    event(*exchange_of(1), progress("7", 1), "a");
    breaks(*exchange_of(1));
    next_deadline_comes();
    status(last(), code);
    done();
    next_deadline_comes();
    streams(last());
    event(last(), result(1), "b");
    EXPECT_THAT(client_got(), Contains(result(1)));
    break;
  }
}

TEST_F(LinkStreamTest, AStreamIsNotTakenUpWithoutAPause) {
  open_session();
  bytes(kGetStream, "retry: 0\n\n");
  ends(kGetStream);
  EXPECT_EQ(wait(), limits::kHttpRetryMin);
  next_deadline_comes();
  streams(last());
  ends(last());
  EXPECT_EQ(wait(), limits::kHttpRetryMin);
}

TEST_F(LinkStreamTest, AStreamThatWasThereIsAskedForAgainAfterAnyRefusal) {
  open_session();
  breaks(kGetStream);
  next_deadline_comes();
  status(last(), 500);
  EXPECT_EQ(wait(), 2 * limits::kHttpStreamWaitMin);
  next_deadline_comes();
  status(last(), 403);
  EXPECT_EQ(wait(), limits::kHttpStreamWaitMax);
  next_deadline_comes();
  status(last(), 429, "", {{"retry-after", "60"}});
  EXPECT_EQ(wait(), seconds(60));
}

TEST_F(LinkStreamTest, AStreamThatIsRefusedWithTheWordsOfALostSessionShowsThatItIsLost) {
  open_session();
  breaks(kGetStream);
  next_deadline_comes();
  status(
      last(), 400,
      R"json({"jsonrpc":"2.0","error":{"code":-32000,"message":"No valid session ID"},"id":null})json");
  client(call(1, "echo"));
  connected(last());
  opens_daemon();
  answers(*exchange_of(1), result(1));
}

TEST_F(LinkStreamTest, TheStreamIsOpenedAlthoughTheNotificationBeforeItWasLost) {
  client_opens();
  done();
  breaks(last());
  EXPECT_THAT(done(), Contains("get 4 [s1]"));
  opens_daemon();
}

TEST_F(LinkStreamTest, TheStreamIsOpenedAlthoughTheNotificationBeforeItWasNeverTaken) {
  client_opens();
  done();
  time_passes(limits::kHttpTakenWait);
  EXPECT_THAT(done(), Contains("get 4 [s1]"));
  opens_daemon();
}

}  // namespace
}  // namespace sitter
