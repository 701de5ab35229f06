#include "core/http/http_words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "core/http/secrets.hpp"
#include "support/messages.hpp"

namespace sitter {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

std::string words(const std::string& body, std::string_view type) {
  return body_words(body, type, Secrets());
}
std::string html(const std::string& body) { return words(body, "text/html; charset=utf-8"); }
std::string plain(const std::string& body) { return words(body, "text/plain"); }

TEST(StatusLineTest, TheRegisteredPhraseFollowsTheNumber) {
  EXPECT_EQ(status_line(200), "200 OK");
  EXPECT_EQ(status_line(404), "404 Not Found");
  EXPECT_EQ(status_line(413), "413 Content Too Large");
  EXPECT_EQ(status_line(503), "503 Service Unavailable");
  EXPECT_EQ(status_line(511), "511 Network Authentication Required");
  EXPECT_EQ(status_line(100), "100 Continue");
}

TEST(StatusLineTest, AnotherNumberStandsAlone) {
  for (const int status : {0, 99, 209, 306, 418, 430, 499, 509, 599, 1000, -1}) {
    EXPECT_EQ(status_line(status), std::to_string(status));
  }
}

TEST(MediaTypeTest, CaseAndParametersDoNotCount) {
  for (const char* type :
       {"text/event-stream", "Text/Event-Stream", " text/event-stream ",
        "text/event-stream;charset=utf-8", "text/event-stream ; charset=\"a;b\""}) {
    EXPECT_TRUE(is_event_stream_type(type)) << type;
  }
  for (const char* type :
       {"", ";", "text/event-streams", "text/event-stream5; a", "text/event", "event-stream",
        "text/event-stream, text/html", "text/html; text/event-stream", "application/json"}) {
    EXPECT_FALSE(is_event_stream_type(type)) << type;
  }
}

TEST(BodyWordsTest, PlainTextIsShownOnOneLine) {
  EXPECT_EQ(plain("upstream connect error\r\nreset  \t before headers\n"),
            "upstream connect error reset before headers");
  EXPECT_EQ(plain(R"json({"detail": "Not Found"})json"), R"json({"detail": "Not Found"})json");
  EXPECT_EQ(plain("a < b && c > d &amp; e"), "a < b && c > d &amp; e");
  EXPECT_EQ(plain(""), "");
  EXPECT_EQ(plain(" \r\n "), "");
}

TEST(BodyWordsTest, BytesThatAreNoTextAreMadeReadable) {
  EXPECT_EQ(plain("a\x1B[31mb\xFF\x01"), "ab\xEF\xBF\xBD");
  EXPECT_EQ(html("<p>a\x1B[31mb</p>"), "ab");
}

TEST(BodyWordsTest, At200CharactersTheTextIsWholeAndALongerOneIsCut) {
  ASSERT_EQ(limits::kBodyWordsMax, 200U);
  std::string text;
  for (int i = 0; i < 200; ++i) text += "\xC3\xBC";
  EXPECT_EQ(plain(text), text);
  EXPECT_EQ(plain(text + "x"), text + "…");
  EXPECT_EQ(html("<p>" + text + "</p>"), text);
  EXPECT_EQ(html("<p>" + text + "\xC3\xBC</p>"), text + "…");
}

TEST(BodyWordsTest, OfABodyTheFirst64KiBAreRead) {
  ASSERT_EQ(limits::kBodyReadMax, 65536U);
  const std::string blanks(65533, ' ');
  EXPECT_EQ(plain(blanks + "abc"), "abc");
  EXPECT_EQ(plain(blanks + "abcd"), "abc");
  EXPECT_EQ(html("<!--" + std::string(65526, 'x') + "-->abc"), "abc");
}

TEST(BodyWordsTest, ShowsTheTextOfHtml) {
  EXPECT_EQ(html("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                 "<title>Error</title>\n</head>\n<body>\n<pre>Cannot POST /mcp</pre>\n</body>\n"
                 "</html>\n"),
            "Error Cannot POST /mcp");
  EXPECT_EQ(html("a<br/>b<td>c"), "a b c");
  EXPECT_EQ(html("a<p title=\"b"), "a");
}

TEST(BodyWordsTest, ScriptsStylesAndCommentsAreNoText) {
  EXPECT_EQ(html("<style>p { color: red }</style><p>a</p><script>if (a < b) { \"</p>\" }</script>"
                 "<!-- <p>no</p> --><p>b</p>"),
            "a b");
  EXPECT_EQ(html("a<SCRIPT src=x>no</Script>b"), "a b");
  for (const char* open : {"a<style>no", "a<script", "a<!-- no", "a<!--"}) {
    EXPECT_EQ(html(open), "a") << open;
  }
}

TEST(BodyWordsTest, WhatOnlyLooksLikeATagIsText) {
  EXPECT_EQ(html("1 < 2 <3 <> </ a<"), "1 < 2 <3 <> </ a<");
}

TEST(BodyWordsTest, EscapedCharactersAreDecoded) {
  EXPECT_EQ(html("&lt;b&gt; &amp; &quot;c&#34; &apos;d&#39; &#x27;e&#X2F;&nbsp;f"),
            "<b> & \"c\" 'd' 'e/ f");
  EXPECT_EQ(html("&amp;lt;"), "&lt;");
  for (const char* text : {"a & b", "&", "&;", "&unknown;", "&amp", "&#70000;"}) {
    EXPECT_EQ(html(text), text);
  }
}

TEST(BodyWordsTest, HtmlIsRecognizedByItsTypeOrItsBeginning) {
  EXPECT_EQ(words("<b>a</b>", "TEXT/HTML"), "a");
  EXPECT_EQ(words("<b>a</b>", "application/xhtml+xml"), "a");
  EXPECT_EQ(words("\n <!doctype HTML><p>a</p>", ""), "a");
  EXPECT_EQ(words("<HTML><p>a</p>", "text/plain"), "a");
  EXPECT_EQ(words("<b>a</b>", "text/xml"), "<b>a</b>");
}

/// 2026-03-01, 12:00:00 UTC.
constexpr WallTime kNoon =
    std::chrono::sys_days{std::chrono::year{2026} / 3 / 1} + std::chrono::hours{12};

TEST(RetryAfterTest, SecondsCountFromNow) {
  EXPECT_EQ(retry_after("0", kNoon), seconds(0));
  EXPECT_EQ(retry_after("120", kNoon), seconds(120));
  EXPECT_EQ(retry_after(" 7 ", kNoon), seconds(7));
}

TEST(RetryAfterTest, ADateIsATime) {
  EXPECT_EQ(retry_after("Sun, 01 Mar 2026 12:00:30 GMT", kNoon), seconds(30));
  EXPECT_EQ(retry_after(" Sun, 01 Mar 2026 12:01:00 GMT ", kNoon), seconds(60));
}

TEST(RetryAfterTest, ADateThatIsOverMeansNow) {
  EXPECT_EQ(retry_after("Sun, 01 Mar 2026 12:00:00 GMT", kNoon), seconds(0));
  EXPECT_EQ(retry_after("Sun, 06 Nov 1994 08:49:37 GMT", kNoon), seconds(0));
  EXPECT_EQ(retry_after("Thu, 01 Jan 0001 00:00:00 GMT", kNoon), seconds(0));
}

TEST(RetryAfterTest, FiveMinutesAreTheLongestWait) {
  EXPECT_EQ(retry_after("300", kNoon), seconds(300));
  EXPECT_EQ(retry_after("301", kNoon), seconds(300));
  EXPECT_EQ(retry_after("99999999999999999999999", kNoon), seconds(300));
  EXPECT_EQ(retry_after("Sun, 01 Mar 2026 12:05:00 GMT", kNoon), seconds(300));
  EXPECT_EQ(retry_after("Sun, 01 Mar 2026 12:05:01 GMT", kNoon), seconds(300));
  EXPECT_EQ(retry_after("Fri, 31 Dec 9999 23:59:59 GMT", kNoon), seconds(300));
}

TEST(RetryAfterTest, LeapDaysAndLeapSecondsAreDates) {
  const WallTime leap_day = std::chrono::sys_days{std::chrono::year{2028} / 2 / 29};
  EXPECT_EQ(retry_after("Tue, 29 Feb 2028 00:00:10 GMT", leap_day), seconds(10));
  EXPECT_EQ(retry_after("Sun, 01 Mar 2026 12:00:60 GMT", kNoon), seconds(60));
}

TEST(RetryAfterTest, AnythingElseIsNoWait) {
  for (const char* value : {"",
                            " ",
                            "-1",
                            "1.5",
                            "1s",
                            "soon",
                            "0x10",
                            "Sun, 01 Mar 2026 12:00:30",
                            "Sun, 01 Mar 2026 12:00:30 CET",
                            "Sun, 29 Feb 2026 12:00:30 GMT",
                            "Sun, 32 Mar 2026 12:00:30 GMT",
                            "Sun, 00 Mar 2026 12:00:30 GMT",
                            "Sun, 01 Mai 2026 12:00:30 GMT",
                            "Sun, 01 anF 2026 12:00:30 GMT",
                            "Sun, 01 Mar 2026 24:00:00 GMT",
                            "Sun, 01 Mar 2026 12:60:00 GMT",
                            "Sun, 01 Mar 2026 12:00:61 GMT",
                            "Sun, 01 Mar 2026 12:00 GMT",
                            "Sun, 1 Mar 2026 12:00:30 GMT",
                            "01 Mar 2026 12:00:30 GMT",
                            "Sun, 01 Mar 26 12:00:30 GMT",
                            "Sunday, 01-Mar-26 12:00:30 GMT",
                            "Sun Mar  1 12:02:00 2026",
                            "Sun, 01 Mar 2026 12:00:30 GMT x",
                            "Sun, 01 Mar -026 12:00:30 GMT"}) {
    EXPECT_FALSE(retry_after(value, kNoon)) << value;
  }
}

TEST(RpcErrorTest, IsAnErrorWithACode) {
  const std::string body = " " + error(7, -32020, "Header mismatch") + "\n";
  const auto found = rpc_error(body);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->error, R"json({"code":-32020,"message":"Header mismatch"})json");
  EXPECT_EQ(found->id, "7");
}

TEST(RpcErrorTest, TheIdMayBeMissing) {
  const std::string without = R"json({"jsonrpc":"2.0","error":{"code":-32600}})json";
  ASSERT_TRUE(rpc_error(without));
  EXPECT_EQ(rpc_error(without)->id, "");
  const std::string with_null = error("null", -32600, "x");
  EXPECT_EQ(rpc_error(with_null)->id, "");
  const std::string with_text = error("\"a\"", -32600, "x");
  EXPECT_EQ(rpc_error(with_text)->id, "\"a\"");
}

TEST(RpcErrorTest, RejectsOtherBodies) {
  for (const char* body :
       {"", "Not Found", "null", "[]", "{}", R"json({"error":"not found"})json",
        R"json({"error":{"message":"x"}})json", R"json({"error":{"code":"E1"}})json",
        R"json({"error":{"code":1.5}})json", R"json({"error":[{"code":1}]})json",
        R"json([{"error":{"code":1}}])json", R"json({"error":{"code":1})json",
        R"json({"error":{"code":1}} x)json", R"json({"error":{"code":1,}})json",
        R"json({"error":null,"result":{}})json", R"json({"error":{"code":1e400}})json"}) {
    EXPECT_FALSE(rpc_error(body)) << body;
  }
}

using Headers = std::vector<HttpHeader>;

TEST(Secrets, AreTheValueAndItsWordsButForTheScheme) {
  const Secrets secrets(Headers{{"Authorization", "Bearer tell-nobody"}});
  EXPECT_EQ(secrets.masked("Bearer tell-nobody, or tell-nobody, as a Bearer"),
            "***, or ***, as a Bearer");
}

TEST(Secrets, AreEachCookieAndItsValue) {
  const Secrets secrets(Headers{{"Cookie", "session=abcdefgh; theme=dark; key=123456"}});
  EXPECT_EQ(secrets.masked("no session=abcdefgh with theme=dark"), "no *** with ***");
  EXPECT_EQ(secrets.masked("the session abcdefgh with 123456 is gone"),
            "the session *** with *** is gone");
}

TEST(Secrets, AreWhatStandsInQuotes) {
  const Secrets secrets(Headers{{"Authorization", "Token token=\"abcdef\""}});
  EXPECT_EQ(secrets.masked("no such token: abcdef"), "no such token: ***");
}

TEST(Secrets, HaveSixBytesOrMore) {
  const Secrets secrets(Headers{{"X-Region", "north"}, {"X-Key", "abcdef"}, {"Cookie", "a=12345"}});
  EXPECT_EQ(secrets.masked("abcdef and 12345 are in the north"), "*** and 12345 are in the north");
}

TEST(Secrets, AreFoundWhereverTheyStand) {
  const Secrets secrets(Headers{{"X-Key", "abcdef"}});
  EXPECT_EQ(secrets.masked("abcdefabcdef and xabcdefx"), "****** and x***x");
}

TEST(Secrets, AreFoundWithTheEscapesOfJson) {
  const Secrets secrets(Headers{{"X-Key", "ab/\"c\\é"}});
  for (const char* written : {R"(ab/"c\é)", R"(ab\/\"c\\é)", R"(ab\/\u0022c\\\u00e9)",
                              R"(ab\\\/\\\"c\\\\é)", R"(\u0061b/\"c\\\u00E9)"}) {
    EXPECT_EQ(secrets.masked(std::string("x ") + written + " y"), "x *** y") << written;
  }
  EXPECT_EQ(secrets.masked(R"(ab\/\u0023c, ab\n, \u12, \)"), R"(ab\/\u0023c, ab\n, \u12, \)");
  const Secrets others(Headers{{"X-Key", "user-1"}, {"X-Sign", "sign-\U0001f600"}});
  EXPECT_EQ(others.masked(R"(\u0075ser-1, sign-\ud83d\ude00, C:\user-1)"), R"(***, ***, C:***)");
}

TEST(Secrets, AreFoundWithTheEscapesOfAUrl) {
  const Secrets secrets(Headers{{"X-Key", "ab/c=d"}, {"X-Other", "12%2F456"}});
  EXPECT_EQ(secrets.masked("?a=ab%2Fc%3dd&b=12/456 or %61b/c=d, 12%2F456"),
            "?a=***&b=*** or ***, ***");
  EXPECT_EQ(secrets.masked("ab%2fc%3de and 100 %"), "ab%2fc%3de and 100 %");
}

TEST(Secrets, AreFoundWithTheReferencesOfHtml) {
  const Secrets secrets(Headers{{"A", "ab/c+d==ö"}});
  for (const char* text : {"ab&#x2F;c&#43;d&#x3d;&#61;ö", "ab/c d==&#246;", "ab/c+d==&#xf6;"}) {
    EXPECT_EQ(secrets.masked(text), "***") << text;
  }
  for (const char* text : {"ab&#x2F", "ab&#;c+d==ö", "ab&#x2Fx;c+d==ö", "ab&#70000;c+d==ö"}) {
    EXPECT_EQ(secrets.masked(text), text);
  }
}

TEST(Secrets, AreHiddenInPartFromSixteenBytesOn) {
  const Secrets secrets(Headers{{"A", "0123456789abcdefghij"}});
  EXPECT_EQ(secrets.masked("0123456789abcde... 0123456789abcdef..."), "0123456789abcde... ***...");
}

TEST(Secrets, AreFoundBehindNoMoreBackslashesThanJsonInJsonHas) {
  const Secrets secrets(Headers{{"X-Key", "abcdef"}});
  EXPECT_EQ(secrets.masked(std::string(16, '\\') + "abcdef"), "***");
  EXPECT_EQ(secrets.masked(std::string(17, '\\') + "abcdef"), "\\***");
}

TEST(Secrets, AreWhatStandsInTheQueryOfTheUrl) {
  const Secrets secrets(secret_headers({}, "/mcp?t=a&api_key=123%2F456"));
  EXPECT_EQ(secrets.masked("no api_key=123%2F456, 123/456, t=a"), "no ***, ***, t=a");
  EXPECT_TRUE(secret_headers({}, "/mcp").empty());
}

TEST(Secrets, AreHiddenInPartWhereATextIsCut) {
  const Secrets secrets(Headers{{"X-Key", "ab/cdef"}});
  for (const char* end : {"ab/c", "ab\\", "ab\\/c", "ab\\u00"}) {
    EXPECT_EQ(secrets.masked(std::string("the key ") + end, true), "the key ***") << end;
    EXPECT_EQ(secrets.masked(end), end);
  }
  EXPECT_EQ(secrets.masked("the key ab/cdeg", true), "the key ab/cdeg");
}

TEST(Secrets, AreHiddenBeforeATextIsCut) {
  const Secrets secrets(Headers{{"X-Key", "abcdef"}});
  EXPECT_EQ(secrets.brief("the\nkey abcdef", 11), "the key ***");
  EXPECT_EQ(secrets.brief("a\033[1mbc\033[0mdef", 11), "***");
  EXPECT_EQ(body_words(std::string(197, 'x') + "abcdef", "", secrets),
            std::string(197, 'x') + "***");
  EXPECT_EQ(body_words("<i>" + std::string(limits::kBodyReadMax - 6, ' ') + "abcdef", "text/html",
                       secrets),
            "***");
}

TEST(Secrets, HideNothingWithoutHeaders) { EXPECT_EQ(Secrets().masked("a text"), "a text"); }

HttpRefusal refusal(int status, std::string_view body, bool had_session_id = true) {
  return {status, had_session_id, body, {}};
}

TEST(SessionLossTest, NotFoundMeansThatTheSessionOfTheRequestIsGone) {
  for (const std::string& body : {std::string(), std::string("<h1>Not Found</h1>"),
                                  error("null", -32001, "Session not found")}) {
    EXPECT_EQ(session_loss(refusal(404, body)), SessionLoss::gone) << body;
  }
}

TEST(SessionLossTest, WithoutASessionNotFoundIsAWrongAddress) {
  EXPECT_EQ(session_loss(refusal(404, "", false)), SessionLoss::none);
  EXPECT_EQ(session_loss(refusal(404, error("null", -32601, "Method not found"), false)),
            SessionLoss::none);
}

TEST(SessionLossTest, SomeServersSayItWithABadRequest) {
  for (const std::string& body :
       {error("null", -32000, "Bad Request: No valid session ID provided"),
        error("null", -32000, "Bad Request: Server not initialized"),
        error("null", -32000, "Bad Request: Mcp-Session-Id header is required"),
        error("null", -32001, "Session not found"), error(3, -32001, "invalid SESSION id"),
        error(3, -32000, "Server Not Initialized")}) {
    EXPECT_EQ(session_loss(refusal(400, body)), SessionLoss::gone) << body;
    EXPECT_EQ(session_loss(refusal(400, body, false)), SessionLoss::gone) << body;
  }
}

TEST(SessionLossTest, OtherBadRequestsSayNothingAboutTheSession) {
  for (const std::string& body :
       {error("null", -32000, "Bad Request: Unsupported protocol version: 1 (session)"),
        error("null", -32000, "Bad Request: Unsupported protocol version"),
        error("null", -32000, "Connection closed"), error("null", -32600, "No session"),
        error("null", -32602, "session_id is missing"), error("null", -32700, "Parse error"),
        error("null", -32020, "the session header differs"),
        std::string("No valid session ID provided"), std::string(),
        std::string(R"json({"error":"no session"})json"),
        std::string(R"json({"error":{"code":-32000,"message":7}})json"),
        std::string(R"json({"error":{"code":-32000,"data":"session"}})json"),
        std::string(R"json({"error":{"code":-32000,"message":"no session"})json")}) {
    EXPECT_EQ(session_loss(refusal(400, body)), SessionLoss::none) << body;
  }
}

TEST(SessionLossTest, UnauthorizedMeansALostSessionOnlyIfTheBodySaysSo) {
  EXPECT_EQ(session_loss(refusal(401, R"json({"error":"Invalid session"})json")),
            SessionLoss::gone);
  EXPECT_EQ(session_loss(refusal(401, "SESSION expired")), SessionLoss::gone);
  EXPECT_EQ(session_loss(refusal(401, "")), SessionLoss::none);
  EXPECT_EQ(session_loss(refusal(401, R"json({"error":"invalid_token"})json")), SessionLoss::none);
  EXPECT_EQ(session_loss({401, true, "Invalid session", "Bearer"}), SessionLoss::none);
}

TEST(SessionLossTest, OtherStatusesDoNotMeanALostSession) {
  const std::string body = error("null", -32001, "Session not found");
  for (const int status : {200, 202, 302, 402, 403, 405, 406, 410, 415, 429, 500, 502, 503}) {
    EXPECT_EQ(session_loss(refusal(status, body)), SessionLoss::none) << status;
  }
}

TEST(SessionLossTest, AServerThatIsAlreadyInitializedSaysSo) {
  const std::string body = error("null", -32600, "Invalid Request: Server already initialized");
  for (const int status : {400, 401, 404, 409, 499}) {
    EXPECT_EQ(session_loss(refusal(status, body)), SessionLoss::already_open) << status;
  }
  EXPECT_EQ(session_loss(refusal(409, "SERVER ALREADY INITIALIZED", false)),
            SessionLoss::already_open);
  EXPECT_EQ(session_loss(refusal(500, body)), SessionLoss::none);
  EXPECT_EQ(session_loss(refusal(200, body)), SessionLoss::none);
}

}  // namespace
}  // namespace sitter
