#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <string>
#include <vector>

#include "raw_http.hpp"
#include "support/temporary_directory.hpp"

// These tests look at fake-mcp as an HTTP daemon, without a bridge.

namespace sitter::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

const Json kEnvelope = {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"}};

Headers mirrored(const std::string& tool) {
  return {{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "tools/call"}, {"Mcp-Name", tool}};
}

std::string text_in(const Response& response) { return text_of(response.json()["result"]); }

TEST(FakeHttp, ASessionLivesFromInitializeToDelete) {
  Daemon daemon;
  EXPECT_EQ(daemon.call("echo").status, 404);
  EXPECT_EQ(daemon.open().json()["result"]["serverInfo"]["name"], "fake-mcp");
  EXPECT_THAT(daemon.session(), Not(IsEmpty()));
  Response answer = daemon.call("echo", {{"text", "hello"}});
  EXPECT_EQ(answer.headers["content-type"], "application/json");
  EXPECT_EQ(text_in(answer), "hello");
  EXPECT_EQ(daemon.post({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}}).status, 202);
  EXPECT_EQ(daemon.get({}, "DELETE").status, 200);
  Response lost = daemon.call("echo");
  EXPECT_EQ(lost.status, 404);
  EXPECT_EQ(lost.json()["error"]["code"], -32001);
}

TEST(FakeHttp, TheLossOfASessionHasTheWantedAnswer) {
  Daemon daemon({"--http-lost-session", R"json(400:{"id":%ID%,"error":{"code":-32000}})json"});
  Response lost = daemon.call("echo");
  EXPECT_EQ(lost.status, 400);
  EXPECT_EQ(lost.body, R"json({"id":7,"error":{"code":-32000}})json");
}

TEST(FakeHttp, ASingleSessionIsOpenedOnce) {
  Daemon daemon({"--http-single-session"});
  EXPECT_EQ(daemon.open().status, 200);
  Response second = daemon.open();
  EXPECT_EQ(second.status, 400);
  EXPECT_EQ(second.json()["error"]["code"], -32600);
}

TEST(FakeHttp, WithoutSessionsNothingIsNamed) {
  Daemon daemon({"--http-no-session"});
  daemon.open();
  EXPECT_EQ(daemon.session(), "");
  EXPECT_EQ(text_in(daemon.call("echo", {{"text", "hello"}})), "hello");
  EXPECT_EQ(daemon.get({}, "DELETE").status, 405);
}

TEST(FakeHttp, AMessageBeforeTheAnswerMakesAnEventStream) {
  Daemon daemon;
  daemon.open();
  Response answer = daemon.call("progress", {{"steps", 1}}, {}, {{"progressToken", 5}});
  EXPECT_EQ(answer.headers["content-type"], "text/event-stream");
  EXPECT_TRUE(answer.is_complete);
  EXPECT_THAT(answer.body,
              StartsWith("event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notif"));
  EXPECT_THAT(answer.body, HasSubstr("\n\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":7,"));
}

TEST(FakeHttp, AnEventStreamCanBeWanted) {
  Daemon daemon({"--http-sse"});
  EXPECT_EQ(daemon.open().headers["content-type"], "text/event-stream");
  EXPECT_THAT(daemon.call("echo").body, StartsWith("event: message\ndata: {"));
}

TEST(FakeHttp, MessagesOutsideACallWaitForTheGetStream) {
  Daemon daemon({"--notify", "notifications/early"});
  daemon.open();
  daemon.post({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}});
  RawConnection stream = daemon.connect();
  stream.request("GET", daemon.headers());
  EXPECT_TRUE(stream.shows("notifications/early"));
  EXPECT_EQ(text_in(daemon.call("change_tools")), "changed");
  EXPECT_TRUE(stream.shows("notifications/tools/list_changed"));
}

TEST(FakeHttp, AQuestionGoesToTheCallAndItsAnswerIsAPost) {
  Daemon daemon;
  daemon.open();
  RawConnection call = daemon.connect();
  call.request(
      "POST", daemon.headers(),
      R"json({"id":2,"method":"tools/call","params":{"name":"ask","arguments":{"method":"roots/list"}}})json");
  EXPECT_TRUE(call.shows(R"("id":0,"method":"roots/list")"));
  EXPECT_EQ(daemon.post({{"id", 0}, {"result", {{"roots", Json::array()}}}}).status, 202);
  EXPECT_THAT(call.response().body, HasSubstr(R"(roots\":[])"));
}

TEST(FakeHttp, ASecondGetEndsTheFirstOrIsRefused) {
  for (const bool refused : {false, true}) {
    Daemon daemon(refused ? std::vector<std::string>{"--http-get-conflict"}
                          : std::vector<std::string>{});
    daemon.open();
    RawConnection first = daemon.connect();
    first.request("GET", daemon.headers());
    EXPECT_TRUE(first.shows("\r\n\r\n"));
    RawConnection second = daemon.connect();
    second.request("GET", daemon.headers());
    EXPECT_TRUE(second.shows(refused ? "409 Conflict" : "200 OK"));
    if (!refused) {
      EXPECT_TRUE(first.response().is_complete);
    }
  }
}

TEST(FakeHttp, UnsupportedMethodsGet405) {
  Daemon daemon({"--http-no-get", "--http-no-delete"});
  daemon.open();
  EXPECT_EQ(daemon.get().status, 405);
  EXPECT_EQ(daemon.get({}, "DELETE").status, 405);
}

TEST(FakeHttp, AClosedStreamIsResumed) {
  Daemon daemon(
      {"--http-event-ids", "--http-retry", "5", "--http-close-before-answer", "tools/call"});
  daemon.open();
  Response closed = daemon.call("sleep", {{"ms", 50}});
  EXPECT_FALSE(closed.is_complete);
  EXPECT_TRUE(closed.is_closed);
  EXPECT_EQ(closed.body, "id: 2-0\nretry: 5\ndata: \n\n");
  Response resumed = daemon.get({{"Last-Event-ID", "2-0"}});
  EXPECT_TRUE(resumed.is_complete);
  EXPECT_THAT(resumed.body, HasSubstr("id: 2-1\nevent: message\ndata: {"));
  EXPECT_THAT(resumed.body, HasSubstr("slept"));
  EXPECT_EQ(daemon.get({{"Last-Event-ID", "2-2"}}).status, 400);
}

TEST(FakeHttp, ABodyIsCutOnce) {
  Daemon daemon({"--http-cut-after-bytes", "tools/call=9", "--http-cut-once"});
  daemon.open();
  Response cut = daemon.call("echo");
  EXPECT_EQ(cut.body, "{\"jsonrpc");
  EXPECT_FALSE(cut.is_complete);
  EXPECT_TRUE(cut.is_closed);
  EXPECT_TRUE(daemon.call("echo").is_complete);
}

TEST(FakeHttp, AnAnswerIsReplacedForTheFirstRequests) {
  Daemon daemon(
      {"--http-status", "tools/call=503x1:Retry-After=2:Location=http://a:1/b:<p>no</p>"});
  daemon.open();
  Response refused = daemon.call("echo");
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.headers["retry-after"], "2");
  EXPECT_EQ(refused.headers["location"], "http://a:1/b");
  EXPECT_EQ(refused.headers["content-type"], "text/html; charset=utf-8");
  EXPECT_EQ(refused.body, "<p>no</p>");
  EXPECT_EQ(daemon.call("echo").status, 200);
}

TEST(FakeHttp, AllRequestsCanGetOneAnswer) {
  Daemon daemon({"--http-status", "*=502:Bad gateway", "--http-not-found-first", "1"});
  EXPECT_EQ(daemon.open().status, 404);
  EXPECT_EQ(daemon.open().body, "Bad gateway");
  EXPECT_EQ(daemon.get().status, 502);
}

TEST(FakeHttp, OtherPathsAndClientsThatDoNotKeepToTheTransportAreRefused) {
  Daemon daemon;
  daemon.open();
  RawConnection connection = daemon.connect();
  connection.request("POST", daemon.headers(), "{}", "/other");
  EXPECT_EQ(connection.response().status, 404);
  EXPECT_EQ(daemon.call("echo", {}, {{"Accept", "application/json"}}).status, 406);
  EXPECT_EQ(daemon.call("echo", {}, {{"Content-Type", "text/plain"}}).status, 415);
  EXPECT_EQ(daemon.call("echo", {}, {{"Origin", "http://localhost"}}).status, 403);
  EXPECT_EQ(daemon.call("echo", {}, {{"MCP-Protocol-Version", "1999-01-01"}}).status, 400);
  EXPECT_EQ(daemon.post(Json::array()).json()["error"]["code"], -32700);
}

TEST(FakeHttp, AConnectionIsKeptUnlessAnOptionClosesIt) {
  const std::string ping = R"json({"id":1,"method":"ping"})json";
  Daemon keeps({"--http-no-session", "--http-keep-alive-header", "5"});
  RawConnection kept = keeps.connect();
  kept.request("POST", keeps.headers(), ping);
  EXPECT_EQ(kept.response().headers["keep-alive"], "timeout=5");
  kept.request("POST", keeps.headers(), ping);
  EXPECT_EQ(kept.response().status, 200);
  Daemon closes({"--http-no-session", "--http-close-each"});
  RawConnection closed = closes.connect();
  closed.request("POST", closes.headers(), ping);
  EXPECT_EQ(closed.response().headers["connection"], "close");
  EXPECT_TRUE(closed.is_closed_by_daemon());
  Daemon idle({"--http-close-idle", "1"});
  EXPECT_TRUE(idle.connect().is_closed_by_daemon());
}

TEST(FakeHttp, HeadsCanBeOdd) {
  EXPECT_THAT(Daemon({"--http-continue"}).open().head,
              StartsWith("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"));
  Daemon endless({"--http-endless-header"});
  RawConnection connection = endless.connect();
  connection.request("GET", {});
  EXPECT_TRUE(connection.takes(100'000));
  EXPECT_THAT(connection.input(),
              AllOf(StartsWith("HTTP/1.1 200 OK\r\nX-Endless: "), Not(HasSubstr("\r\n\r\n"))));
}

TEST(FakeHttp, AMuteDaemonTakesRequests) {
  Daemon daemon({"--http-mute"});
  RawConnection connection = daemon.connect();
  connection.request("GET", daemon.headers());
  EXPECT_TRUE(eventually([&] { return daemon.journal().size() == 1; }));
  EXPECT_EQ(connection.input(), "");
}

TEST(FakeHttp, JsonAndEventsMaySpanLines) {
  Daemon daemon({"--http-multiline"});
  Response json = daemon.open();
  EXPECT_THAT(json.body, StartsWith("{\n  \"jsonrpc\":\"2.0\",\n"));
  EXPECT_EQ(json.json()["id"], 1);
  const std::string events =
      daemon.call("progress", {{"steps", 2}}, {}, {{"progressToken", 5}}).body;
  EXPECT_THAT(events,
              HasSubstr(": event 1\r\nevent: message\r\ndata: {\r\n:\r\ndata:   \"jsonrpc\""));
  EXPECT_THAT(events, HasSubstr(": event 2\revent: message\rdata: {\r:\rdata:   \"jsonrpc\""));
  EXPECT_THAT(events, HasSubstr(": event 3\nevent: message\ndata: {\n:\ndata:   \"jsonrpc\""));
}

TEST(FakeHttp, AnEventCanBeBig) {
  Daemon daemon({"--http-big-event", "1000000"});
  daemon.open();
  EXPECT_THAT(daemon.call("echo").body, HasSubstr("\"data\":\"" + std::string(1'000'000, 'x')));
}

TEST(FakeHttp, TheHeadersOfTheModernEraMustMatchTheBody) {
  Daemon daemon({"--era", "modern"});
  EXPECT_EQ(text_in(daemon.call("echo", {{"text", "hello"}}, mirrored("echo"), kEnvelope)),
            "hello");
  EXPECT_EQ(daemon.call("echo", {}, mirrored("=?base64?ZWNobw==?="), kEnvelope).status, 200);
  for (const std::string name : {"MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"}) {
    Headers headers = mirrored("echo");
    headers[name] = "other";
    Response refused = daemon.call("echo", {}, headers, kEnvelope);
    EXPECT_EQ(refused.status, 400);
    EXPECT_EQ(refused.json()["error"]["code"], -32020);
    headers.erase(name);
    EXPECT_EQ(daemon.call("echo", {}, headers, kEnvelope).json()["error"]["code"], -32020);
  }
  EXPECT_EQ(daemon.get().status, 405);
}

TEST(FakeHttp, AnnotatedParametersMustBeRepeated) {
  TemporaryDirectory directory;
  const std::string tools =
      directory.write("tools.json", R"json([{"name":"q","inputSchema":{"properties":{
      "place":{"properties":{"region":{"type":"string","x-mcp-header":"Region"}}},
      "count":{"type":"integer","x-mcp-header":"Count"}}}}])json");
  Daemon daemon({"--era", "modern", "--tools", tools});
  const Json arguments = {{"place", {{"region", "Zürich"}}}, {"count", 42}};
  Headers headers = mirrored("q");
  EXPECT_EQ(daemon.call("q", arguments, headers, kEnvelope).json()["error"]["code"], -32020);
  headers["Mcp-Param-Region"] = "=?base64?WsO8cmljaA==?=";
  headers["Mcp-Param-Count"] = "42.0";
  EXPECT_EQ(daemon.call("q", arguments, headers, kEnvelope).status, 200);
  EXPECT_EQ(daemon.call("q", {{"count", nullptr}}, mirrored("q"), kEnvelope).status, 200);
}

TEST(FakeHttp, AClosedStreamOfTheModernEraIsCancelled) {
  Daemon daemon({"--era", "modern"});
  const Json listen = {
      {"id", "s"},
      {"method", "subscriptions/listen"},
      {"params", {{"_meta", kEnvelope}, {"notifications", {{"toolsListChanged", true}}}}}};
  const auto state = [&] {
    return Json::parse(text_in(daemon.call("state", {}, mirrored("state"), kEnvelope)));
  };
  {
    RawConnection stream = daemon.connect();
    stream.request("POST",
                   daemon.headers({{"MCP-Protocol-Version", "2026-07-28"},
                                   {"Mcp-Method", "subscriptions/listen"}}),
                   listen.dump());
    EXPECT_TRUE(stream.shows("notifications/subscriptions/acknowledged"));
    EXPECT_EQ(state()["listens"], Json({"s"}));
    daemon.call("change_tools", {}, mirrored("change_tools"), kEnvelope);
    EXPECT_TRUE(stream.shows("notifications/tools/list_changed"));
  }
  EXPECT_TRUE(eventually([&] { return state()["listens"].empty(); }));
  EXPECT_EQ(state()["cancelled"], Json({"s"}));
}

TEST(FakeHttp, ErasAreServedSideBySide) {
  Daemon daemon({"--era", "dual"});
  daemon.open();
  EXPECT_FALSE(daemon.call("echo").json()["result"].contains("resultType"));
  EXPECT_TRUE(
      daemon.call("echo", {}, mirrored("echo"), kEnvelope).json()["result"].contains("resultType"));
}

TEST(FakeHttp, TheJournalHasEachRequest) {
  Daemon daemon;
  daemon.open();
  daemon.call("echo", {}, {{"MCP-Protocol-Version", "2025-11-25"}, {"Authorization", "Bearer x"}});
  daemon.get({{"Last-Event-ID", "0-4"}}, "DELETE");
  const std::vector<Json> rows = daemon.journal();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0]["method"], "initialize");
  EXPECT_EQ(rows[0]["session"], nullptr);
  EXPECT_EQ(rows[1]["id"], 7);
  EXPECT_EQ(rows[1]["session"], daemon.session());
  EXPECT_EQ(rows[1]["version"], "2025-11-25");
  EXPECT_EQ(rows[1]["headers"]["authorization"], "Bearer x");
  EXPECT_EQ(rows[2]["http"], "DELETE");
  EXPECT_EQ(rows[2]["path"], "/mcp");
  EXPECT_EQ(rows[2]["lastEventId"], "0-4");
}

TEST(FakeHttp, FaultsOnAMethodWorkOverHttpToo) {
  Daemon daemon({"--answer-and-exit", "tools/call=4"});
  daemon.open();
  EXPECT_EQ(text_in(daemon.call("echo", {{"text", "hello"}})), "hello");
  EXPECT_EQ(daemon.program().wait(), 4);
}

TEST(FakeHttp, ADaemonEndsOfASignalOrOfOldAge) {
  Daemon daemon;
  daemon.program().signal(SIGTERM);
  EXPECT_EQ(daemon.program().wait(), 128 + SIGTERM);
  EXPECT_EQ(Daemon({"--life-limit", "1"}).program().wait(), 124);
}

TEST(FakeHttp, AFastDaemonAnswersWithoutASession) {
  for (const bool streams : {false, true}) {
    Daemon daemon(streams ? std::vector<std::string>{"--fast", "--http-sse"}
                          : std::vector<std::string>{"--fast"});
    daemon.open();
    EXPECT_EQ(daemon.session(), "");
    Response answer = daemon.call("echo");
    EXPECT_EQ(answer.status, 200);
    EXPECT_THAT(answer.body, HasSubstr(R"({"jsonrpc":"2.0","id":7,"result":)"));
    EXPECT_EQ(answer.body.starts_with("event: message\ndata: "), streams);
    EXPECT_EQ(daemon.get().status, 405);
  }
}

}  // namespace
}  // namespace sitter::testing
