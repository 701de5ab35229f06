#include <cstddef>

#include "core/http/http_link_limits.hpp"
#include "core/http/http_words.hpp"
#include "core/wire/room.hpp"
#include "core/wire/salvage.hpp"
#include "sitter/bytes.hpp"
#include "support/link_script.hpp"
#include "support/sent_headers.hpp"

namespace sitter {
namespace {

/// Responses that are no answer and say nothing of the session.
class LinkStatusTest : public LinkTest {
 protected:
  /// The daemon answers the call 1 like this. Returns the message of the error for the client.
  std::string error_after(int code, const std::string& body = "", const Headers& headers = {}) {
    client(call(1, "echo"));
    done();
    status(*exchange_of(1), code, body, headers);
    return error_text(-32603);
  }
};

TEST_F(LinkStatusTest, ARequestForAuthorizationIsAnErrorThatSaysHowToGiveIt) {
  open_listed_session();
  const std::string text =
      error_after(401, "", {{"www-authenticate", "Bearer error=\"invalid_token\""}});
  EXPECT_THAT(text, HasSubstr("http://127.0.0.1:3000/mcp answers 401 Unauthorized"));
  EXPECT_THAT(text, HasSubstr("WWW-Authenticate: Bearer error=\"invalid_token\""));
  EXPECT_THAT(text, HasSubstr("--header-env NAME=VARIABLE"));
  time_passes(seconds(60));
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(LinkStatusTest, AForbiddenResponseSaysHowToAuthorizeToo) {
  open_listed_session();
  const std::string text = error_after(403, "the scope notes.write is missing");
  EXPECT_THAT(text, HasSubstr("403 Forbidden: the scope notes.write is missing; give the server"));
  EXPECT_THAT(text, Not(HasSubstr("WWW-Authenticate")));
  EXPECT_THAT(text, HasSubstr("--header"));
}

TEST_F(LinkStatusTest, AnErrorShowsNoSecretOfTheUser) {
  options.headers = {{"Authorization", "Bearer tell-nobody"}};
  open_listed_session();
  client(call(1, "echo"));
  status(*exchange_of(1), 401, "you sent Bearer tell-nobody");
  client(call(2, "echo"));
  not_connected(*exchange_of(2));
  not_connected(last());
  client(call(3, "sitter_status"));
  for (const std::string& line : client_got()) EXPECT_THAT(line, Not(HasSubstr("tell-nobody")));
  for (const std::string& line : logs()) EXPECT_THAT(line, Not(HasSubstr("tell-nobody")));
  client(cancelled(2));
}

TEST_F(LinkStatusTest, ALostGatewayMayHaveDeliveredTheCall) {
  open_listed_session();
  for (const int code : {502, 504}) {
    client(call(code, "echo"));
    done();
    status(*exchange_of(code), code);
    EXPECT_THAT(answer_text(), AllOf(HasSubstr(std::to_string(code)),
                                     HasSubstr("may or may not have taken effect")));
  }
}

TEST_F(LinkStatusTest, APureReadBehindALostGatewayIsSentOnceMore) {
  open_listed_session();
  const std::string read = request(1, "resources/read", R"json({"uri":"a:b"})json");
  client(read);
  done();
  status(7, 502);
  EXPECT_THAT(done(), ElementsAre("post 8 [s1] " + read));
  answers(8, result(1));
}

TEST_F(LinkStatusTest, AnErrorInTheBodyIsPassedUnderTheIdOfTheClient) {
  open_listed_session();
  client(call("\"a\"", "echo"));
  done();
  status(7, 413, error("null", -32600, "Request too large"));
  EXPECT_THAT(done(), ElementsAre("client " + error("\"a\"", -32600, "Request too large")));
}

TEST_F(LinkStatusTest, AnErrorOverSeveralLinesIsPassedAsOne) {
  open_listed_session();
  client(call(1, "echo"));
  done();
  status(7, 400,
         "{\n \"jsonrpc\": \"2.0\",\n \"error\": {\n\"code\": -32600,\r\n\"message\":\"a\"}}\n");
  EXPECT_THAT(answer()["error"]["message"], "a");
}

TEST_F(LinkStatusTest, AnotherBodyIsShownInPart) {
  open_listed_session();
  const std::string text = error_after(413, std::string(300, 'x'));
  EXPECT_THAT(text, HasSubstr("413"));
  EXPECT_THAT(text, HasSubstr(std::string(limits::kBodyWordsMax - 1, 'x')));
  EXPECT_THAT(text, Not(HasSubstr(std::string(limits::kBodyWordsMax + 1, 'x'))));
}

TEST_F(LinkStatusTest, ShowsTheTextOfHtml) {
  open_listed_session();
  const std::string text = error_after(
      500,
      "<html><head><title>Error</title><style>a{}</style></head><body><h1>It broke</h1></body>",
      {{"content-type", "text/html; charset=utf-8"}});
  EXPECT_THAT(text, HasSubstr("500 Internal Server Error"));
  EXPECT_THAT(text, HasSubstr("Error It broke"));
  EXPECT_THAT(text, Not(HasSubstr("<")));
}

TEST_F(LinkStatusTest, AnEmptyRefusalIsAnErrorWithItsStatus) {
  open_listed_session();
  EXPECT_THAT(error_after(405),
              HasSubstr("http://127.0.0.1:3000/mcp answers 405 Method Not Allowed"));
}

TEST_F(LinkStatusTest, ASuccessWithoutAnAnswerIsAnError) {
  open_listed_session();
  EXPECT_THAT(error_after(202), HasSubstr("202 Accepted, but without an answer"));
}

TEST_F(LinkStatusTest, ASuccessWithATextIsAnErrorThatShowsIt) {
  open_listed_session();
  EXPECT_THAT(error_after(200, "<p>Log in first</p>", {{"content-type", "text/html"}}),
              HasSubstr("this is not the answer: Log in first"));
}

TEST_F(LinkStatusTest, AnAnswerToSomethingElseIsShownInTheError) {
  open_listed_session();
  EXPECT_THAT(error_after(200, result(99)), HasSubstr("this is not the answer: " + result(99)));
}

TEST_F(LinkStatusTest, AJsonAnswerIsReadWhateverItsTypeIs) {
  open_listed_session();
  client(call(1, "echo"));
  done();
  status(7, 200, result(1), {{"content-type", "text/plain"}});
  EXPECT_THAT(done(), ElementsAre("client " + result(1)));
  client(call(2, "echo"));
  done();
  status(*exchange_of(2), 200, "\xEF\xBB\xBF" + result(2));
  EXPECT_THAT(done(), ElementsAre("client " + result(2)));
}

TEST_F(LinkStatusTest, AnArrayOfMessagesIsPassedOneByOne) {
  server.protocol_version = "2025-03-26";
  open_session("2025-03-26");
  client(call(1, "echo"));
  done();
  answers(*exchange_of(1),
          "[" + notification("notifications/message", R"json({"level":"info","data":1})json") +
              "," + result(1) + "]");
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("notifications/message"), result(1)));
}

TEST_F(LinkStatusTest, AnAnswerOverTheLimitOfALineIsAnError) {
  open_listed_session();
  client(call(1, "large"));
  done();
  head(7, 200, {{"content-type", "application/json"}});
  const std::string piece(16 * limits::kMiB, ' ');
  for (std::size_t sent = 0; sent < limits::kLineMax; sent += piece.size()) bytes(7, piece);
  EXPECT_THAT(done(), IsEmpty());
  bytes(7, " ");
  EXPECT_THAT(error_text(-32603), HasSubstr("268435457 bytes"));
}

TEST_F(LinkStatusTest, OfManyLargeAnswersOneIsReadAtATime) {
  open_listed_session();
  for (const int id : {1, 2, 3}) client(call(id, "large"));
  done();
  const Exchange larger = *exchange_of(1), other = *exchange_of(2), small = *exchange_of(3);
  for (const Exchange exchange : {larger, other, small}) {
    head(exchange, 200, {{"content-type", "application/json"}});
  }
  bytes(larger, std::string(limits::kHttpUnfinishedMax / 2 + 2, ' '));
  bytes(small, std::string(limits::kHttpSmallResponse - 2, ' '));
  bytes(other, std::string(limits::kHttpUnfinishedMax / 2 - limits::kHttpSmallResponse - 1, ' '));
  EXPECT_THAT(done(), IsEmpty());
  bytes(small, " ");
  EXPECT_THAT(done(), IsEmpty());
  bytes(larger, " ");
  EXPECT_THAT(done(), ElementsAre(fmt::format("pause {}", other)));
  ends(larger);
  EXPECT_THAT(done(), Contains(fmt::format("go on with {}", other)));
}

TEST_F(LinkStatusTest, ALargeAnswerThatStopsWhileOthersWaitIsGivenUp) {
  open_listed_session();
  for (const int id : {1, 2}) client(call(id, "large"));
  done();
  const Exchange larger = *exchange_of(1), other = *exchange_of(2);
  for (const Exchange exchange : {larger, other}) {
    head(exchange, 200, {{"content-type", "application/json"}});
  }
  bytes(larger, std::string(limits::kHttpUnfinishedMax, ' '));
  time_passes(2 * limits::kHttpStalledWait);
  EXPECT_THAT(done(), IsEmpty());
  bytes(other, std::string(limits::kHttpSmallResponse + 1, ' '));
  EXPECT_THAT(done(), ElementsAre(fmt::format("pause {}", other)));
  time_passes(limits::kHttpStalledWait - milliseconds(1));
  bytes(larger, " ");
  time_passes(limits::kHttpStalledWait - milliseconds(1));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(done(), AllOf(Contains(fmt::format("go on with {}", other)),
                            Contains(HasSubstr("nothing more of its answer has come for 10s"))));
}

TEST_F(LinkStatusTest, ABodyOfMoreMessagesThanABatchMayHoldIsNoAnswer) {
  open_listed_session();
  client(call(1, "echo"));
  done();
  std::string array = "[" + result(1);
  for (std::size_t count = 1; count <= limits::kBatchCountMax; ++count) array += ",{}";
  head(7, 200, {{"content-type", "application/json"}});
  bytes(7, array + "]");
  ends(7);
  EXPECT_THAT(error_text(-32603), HasSubstr("an array of more than 10000 messages"));
}

TEST_F(LinkStatusTest, AnAnswerForWhichThereIsNoMemoryIsAnError) {
  options.has_room = [](std::size_t) { return false; };
  open_listed_session();
  client(call(1, "large"));
  done();
  head(7, 200, {{"content-type", "application/json"}});
  bytes(7, std::string(limits::kRoomAskedFrom, ' '));
  EXPECT_THAT(error_text(-32603), HasSubstr("there is no memory for a line of 1048576 bytes"));
}

TEST_F(LinkStatusTest, ABodyOfARefusalOverItsLimitIsCut) {
  open_listed_session();
  const std::string frame = error("null", -32600, "");
  client(call(1, "echo"));
  done();
  const std::string whole(limits::kHttpErrorBodyMax - frame.size(), 'x');
  status(*exchange_of(1), 400, error("null", -32600, whole));
  EXPECT_EQ(answer()["error"]["message"], whole);
  client(call(2, "echo"));
  done();
  const Exchange second = *exchange_of(2);
  head(second, 400);
  bytes(second, error("null", -32600, whole + "x"));
  EXPECT_THAT(error_text(-32603), HasSubstr("400 Bad Request"));
}

TEST_F(LinkStatusTest, ANotificationThatFindsTheDaemonAwayIsSentAgain) {
  open_listed_session();
  const std::string told = notification("notifications/roots/list_changed");
  client(told);
  client(call(1, "echo"));
  done();
  status(7, 503);
  EXPECT_THAT(done(), ElementsAre("post 8 [s1] " + call(1, "echo")));
  next_deadline_comes();
  EXPECT_THAT(done(), ElementsAre("post 9 [s1] " + told));
  takes(9);
  answers(8, result(1));
}

TEST_F(LinkStatusTest, ANotificationThatIsRefusedIsLogged) {
  open_listed_session();
  client(notification("notifications/roots/list_changed"));
  status(last(), 500, "broken");
  EXPECT_THAT(logs(), Contains(AllOf(HasSubstr("500"), HasSubstr("broken"))));
}

// ---- redirects

TEST_F(LinkStatusTest, ARedirectOnTheSameOriginIsFollowedWithTheSameBody) {
  open_listed_session();
  client(call(1, "echo"));
  done();
  status(7, 307, "", {{"location", "/mcp/"}});
  EXPECT_THAT(done(), ElementsAre("post 8 [s1] to /mcp/ " + call(1, "echo")));
  answers(8, result(1));
  client(call(2, "echo"));
  EXPECT_THAT(done(), Contains("post 9 [s1] " + call(2, "echo")));
  answers(9, result(2));
}

TEST_F(LinkStatusTest, APermanentRedirectIsRemembered) {
  open_listed_session();
  client(call(1, "echo"));
  done();
  status(7, 308, "", {{"location", "http://127.0.0.1:3000/new"}});
  EXPECT_THAT(done(), ElementsAre("post 8 [s1] to /new " + call(1, "echo")));
  answers(8, result(1));
  done();
  client(call(2, "echo"));
  EXPECT_THAT(done(), ElementsAre("post 9 [s1] to /new " + call(2, "echo")));
  answers(9, result(2));
}

TEST_F(LinkStatusTest, ARedirectToAnotherOriginIsAnErrorThatNamesIt) {
  options.headers = {{"Authorization", "Bearer t"}};
  open_listed_session();
  for (const char* const location :
       {"https://127.0.0.1:3000/mcp", "http://127.0.0.1:3001/mcp", "http://evil.example/mcp"}) {
    EXPECT_THAT(error_after(307, "", {{"location", location}}), HasSubstr(location));
  }
  EXPECT_THAT(error_after(308), HasSubstr("308 Permanent Redirect without a Location"));
}

TEST_F(LinkStatusTest, ALongLocationIsCut) {
  open_listed_session();
  const std::string location =
      "http://evil.example/" + std::string(limits::kAbsenceWhyMax - 20, 'x');
  EXPECT_THAT(error_after(307, "", {{"location", location}}), HasSubstr(location + ";"));
  EXPECT_THAT(error_after(307, "", {{"location", location + "y"}}), HasSubstr("1 byte cut"));
}

TEST_F(LinkStatusTest, AnotherRedirectIsNotFollowed) {
  open_listed_session();
  for (const int code : {301, 302, 303}) {
    EXPECT_THAT(error_after(code, "", {{"location", "/mcp/"}}), HasSubstr(std::to_string(code)));
  }
}

TEST_F(LinkStatusTest, RedirectsInACircleAreFollowedFiveTimes) {
  open_listed_session();
  client(call(1, "echo"));
  for (int i = 0; i < limits::kHttpRedirectsMax; ++i) {
    ASSERT_TRUE(exchange_of(1)) << i;
    status(*exchange_of(1), 307, "", {{"location", "/mcp"}});
  }
  ASSERT_TRUE(exchange_of(1));
  done();
  status(*exchange_of(1), 307, "", {{"location", "/mcp"}});
  EXPECT_THAT(error_text(-32603), HasSubstr("for the 6th time in a row"));
}

TEST_F(LinkStatusTest, ANotificationIsRedirectedBeforeWhatFollowsIt) {
  open_listed_session();
  const std::string told = notification("notifications/roots/list_changed");
  client(told);
  client(call(1, "echo"));
  done();
  status(7, 307, "", {{"location", "/mcp/"}});
  EXPECT_THAT(done(), ElementsAre("post 8 [s1] to /mcp/ " + told));
  takes(8);
  EXPECT_THAT(done(), ElementsAre("post 9 [s1] " + call(1, "echo")));
  answers(9, result(1));
}

TEST_F(LinkStatusTest, TheStreamAndTheEndOfTheSessionAreRedirectedToo) {
  client(initialize(0));
  connected(1);
  status(2, 307, "", {{"location", "/mcp/"}});
  done();
  answers(3, result(0, server.opening()), {{"mcp-session-id", "s1"}});
  client(initialized());
  status(4, 307, "", {{"location", "/mcp/"}});
  takes(5);
  done();
  status(6, 307, "", {{"location", "/mcp/"}});
  EXPECT_THAT(done(), ElementsAre("get 8 [s1] to /mcp/"));
  streams(8);
  status(7, 307, "", {{"location", "/mcp/"}});
  opens_daemon();
  done();
  client_closes_input();
  EXPECT_THAT(done(), ElementsAre("abort 8", "delete 10 [s1]"));
  status(10, 307, "", {{"location", "/mcp/"}});
  EXPECT_THAT(done(), ElementsAre("delete 11 [s1] to /mcp/"));
  status(11, 307, "", {{"location", "http://evil.example/"}});
  EXPECT_THAT(done(), ElementsAre("exit 0"));
}

TEST_F(LinkStatusTest, ARefusalWhoseBodyDoesNotEndIsAnsweredAfterAWhile) {
  open_session();
  client(call(1, "echo"));
  const Exchange exchange = *exchange_of(1);
  head(exchange, 500);
  bytes(exchange, "out of order");
  EXPECT_THAT(client_got(), IsEmpty());
  time_passes(limits::kHttpUselessWait);
  EXPECT_THAT(error_text(-32603), HasSubstr("out of order"));
}

TEST_F(LinkStatusTest, ARefusalIsAnsweredAsSoonAsItsBodyIsLongEnough) {
  open_session();
  client(call(1, "echo"));
  const Exchange exchange = *exchange_of(1);
  head(exchange, 500);
  bytes(exchange, std::string(limits::kHttpErrorBodyMax, 'x'));
  EXPECT_THAT(client_got(), IsEmpty());
  bytes(exchange, "x");
  EXPECT_THAT(done(), Contains("abort " + std::to_string(exchange)));
}

TEST_F(LinkStatusTest, ASecretThatTheDaemonRepeatsIsHidden) {
  options.headers = {{"Authorization", "Bearer 123456"}};
  open_session();
  client(call(1, "echo"));
  status(*exchange_of(1), 500, "bad token 123456, and 123456 again");
  const std::string text = error_text(-32603);
  EXPECT_THAT(text, Not(HasSubstr("123456")));
  EXPECT_THAT(text, HasSubstr("bad token ***, and *** again"));
}

TEST_F(LinkStatusTest, NoPartOfASecretIsShownWhereATextIsCut) {
  options.headers = {{"Authorization", "Bearer abc/def"}};
  open_listed_session();
  const std::string challenge = std::string(limits::kChallengeBytesMax - 3, 'x');
  const std::string body = R"json({"key":"abc\/def"})json" + std::string(184, 'y') + "abc/def";
  const std::string text = error_after(401, body, {{"www-authenticate", challenge + "abc/def"}});
  EXPECT_THAT(text, HasSubstr(challenge + "***: "));
  EXPECT_THAT(text, HasSubstr(R"json({"key":"***"}yyy)json"));
  EXPECT_THAT(text, Not(HasSubstr("abc")));
}

TEST_F(LinkStatusTest, AnErrorOfTheDaemonPassesAsItIs) {
  options.headers = {{"X-Team", "1000001"}, {"X-Kind", "message"}, {"X-Key", "123456"}};
  open_session();
  client(call(1000001, "echo"));
  done();
  status(*exchange_of(1000001), 400, error("null", -32000, "bad token 123456"));
  EXPECT_THAT(done(), ElementsAre("client " + error(1000001, -32000, "bad token 123456")));
}

TEST_F(LinkStatusTest, AnErrorOfOursKeepsItsIdAndMembers) {
  options.headers = {{"X-Team", "1000001"}, {"X-Kind", "message"}, {"X-Key", "jsonrpc"}};
  open_session();
  client(call(1000001, "echo"));
  done();
  status(*exchange_of(1000001), 500, "this message is no jsonrpc");
  EXPECT_THAT(answer()["error"]["message"], HasSubstr("this *** is no ***"));
}

TEST_F(LinkStatusTest, AnErrorThatRefusesTheNextSessionIsQuotedWithoutASecret) {
  options.headers = config.secret_headers = {{"X-Key", "123456"}};
  open_listed_session();
  client(call(1, "echo"));
  status(*exchange_of(1), 404);
  connected(last());
  status(last(), 400, error("null", -32000, "bad token 123456"));
  EXPECT_THAT(client_got(), Contains(HasSubstr("bad token ***")));
}

TEST_F(LinkStatusTest, ALocationIsShownWithoutItsQuery) {
  open_session();
  client(call(1, "echo"));
  status(*exchange_of(1), 308, "", {{"location", "https://other.example/mcp?token=secret"}});
  const std::string text = error_text(-32603);
  EXPECT_THAT(text, HasSubstr("https://other.example/mcp"));
  EXPECT_THAT(text, Not(HasSubstr("secret")));
}

TEST_F(LinkStatusTest, AUserAgentOfTheUserTakesThePlaceOfOurs) {
  options.headers = {{"user-agent", "mine"}};
  open_session();
  int count = 0;
  for (const HttpHeader& header : sent_headers(order_of(2))) count += header.name.size() == 10;
  EXPECT_EQ(count, 1);
}

}  // namespace
}  // namespace sitter
