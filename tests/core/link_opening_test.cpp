#include "core/http/http_link_limits.hpp"
#include "support/link_script.hpp"
#include "support/sent_headers.hpp"

namespace sitter {
namespace {

/// A daemon on its way from a first connection to serving.
class LinkOpeningTest : public LinkTest {
 protected:
  /// The waits between these failed tries.
  std::vector<Milliseconds> waits_after_failures(int count) {
    std::vector<Milliseconds> waits;
    for (int i = 0; i < count; ++i) {
      not_connected(static_cast<Exchange>(i + 1));
      waits.push_back(wait());
      next_deadline_comes();
    }
    return waits;
  }
};

TEST_F(LinkOpeningTest, ASessionIsOpenedAndItsIdAccompaniesEachLine) {
  client(initialize(0));
  EXPECT_THAT(done(), ElementsAre("connect 1"));
  connected(1);
  EXPECT_THAT(done(), ElementsAre("post 2 " + initialize(0)));
  answers(2, result(0, server.opening()), {{"mcp-session-id", "s1"}});
  EXPECT_THAT(client_got(), SizeIs(1));
  client(initialized());
  EXPECT_THAT(done(), ElementsAre("post 3 [s1] " + initialized()));
  takes(3);
  EXPECT_THAT(done(),
              ElementsAre("get 4 [s1]", "post 5 [s1] " + request("#1", "tools/list", "{}")));
  answers(5, result("#1", server.page("tools", server.tools)));
  client(call(1, "echo"));
  EXPECT_THAT(done(), ElementsAre("post 6 [s1] " + call(1, "echo")));
  answers(6, result(1));
  EXPECT_THAT(done(), ElementsAre("client " + result(1)));
}

TEST_F(LinkOpeningTest, ADaemonWithoutSessionsIsServedWithoutAnId) {
  daemon.has_sessions = false;
  open_session();
  client(call(1, "echo"));
  EXPECT_THAT(done(), ElementsAre("post 6 " + call(1, "echo")));
  answers(6, result(1));
}

TEST_F(LinkOpeningTest, TheOpeningMayBeAnsweredOnAStream) {
  client(initialize(0));
  connected(1);
  done();
  streams(2, {{"mcp-session-id", "s1"}});
  event(2, result(0, server.opening()));
  ends(2);
  EXPECT_THAT(client_got(), SizeIs(1));
  client(initialized());
  EXPECT_THAT(done(), ElementsAre("post 3 [s1] " + initialized()));
}

TEST_F(LinkOpeningTest, HeadersOfTheUserAccompanyEachRequest) {
  options.headers = {{"Authorization", "Bearer t"}};
  open_session();
  for (const Exchange exchange : {2, 3, 4, 5}) {
    EXPECT_EQ(sent_value(order_of(exchange), "Authorization"), "Bearer t") << exchange;
  }
  EXPECT_EQ(sent_value(order_of(4), "Accept"), "text/event-stream");
  EXPECT_EQ(sent_value(order_of(4), "MCP-Protocol-Version"), "2025-11-25");
}

TEST_F(LinkOpeningTest, RetriesALocalAddressEvery100Milliseconds) {
  client(initialize(0));
  EXPECT_THAT(waits_after_failures(4), ElementsAre(milliseconds(50), milliseconds(100),
                                                   milliseconds(100), milliseconds(100)));
  EXPECT_THAT(done(), ElementsAre("connect 1", "connect 2", "connect 3", "connect 4", "connect 5"));
  opens_daemon();
  EXPECT_THAT(client_got(), SizeIs(1));
}

TEST_F(LinkOpeningTest, AnotherMachineIsTriedLessAndLessOften) {
  std::string ignored;
  options.url = *parse_url("http://tools.example/mcp", ignored);
  client(initialize(0));
  EXPECT_THAT(
      waits_after_failures(7),
      ElementsAre(milliseconds(50), milliseconds(100), milliseconds(200), milliseconds(400),
                  milliseconds(800), limits::kHttpConnectWaitMax, limits::kHttpConnectWaitMax));
}

TEST_F(LinkOpeningTest, TheFirstWaitIsShortAgainOnceTheDaemonWasThere) {
  client(initialize(0));
  waits_after_failures(4);
  opens_daemon();
  client(initialized());
  opens_daemon();
  client(call(1, "echo"));
  not_connected(*exchange_of(1));
  not_connected(last());
  EXPECT_EQ(wait(), limits::kHttpConnectWaitMin);
  next_deadline_comes();
  client(cancelled(1));
}

TEST_F(LinkOpeningTest, TheBridgeOpensTheSessionItselfIfTheDaemonDoesNotCome) {
  client(initialize(0));
  stays_down(config.answer_within - milliseconds(1));
  EXPECT_THAT(client_got(), IsEmpty());
  stays_down(milliseconds(1));
  const auto opened = answer();
  EXPECT_EQ(opened["id"], 0);
  const std::string instructions = opened["result"]["instructions"];
  EXPECT_THAT(instructions, HasSubstr("http://127.0.0.1:3000/mcp"));
  EXPECT_THAT(instructions, HasSubstr("nothing listens on 127.0.0.1:3000"));
}

TEST_F(LinkOpeningTest, ASessionThatTheBridgeHasOpenedIsOpenedAtTheDaemonWhenItComes) {
  client(initialize(0));
  stays_down(seconds(9));
  client(initialized());
  client(call(1, "echo"));
  done();
  stays_down(seconds(1));
  done();
  next_deadline_comes();
  opens_daemon();
  ASSERT_TRUE(exchange_of(1));
  EXPECT_THAT(done(), Contains("client " + notification("notifications/tools/list_changed")));
  answers(*exchange_of(1), result(1, text_result("a")));
  EXPECT_THAT(answer_text(), HasSubstr("server started"));
}

TEST_F(LinkOpeningTest, AnOpeningThatIsNotFoundMayBeFoundLater) {
  client(initialize(0));
  connected(1);
  status(2, 404, "no such path");
  done();
  EXPECT_EQ(wait(), limits::kHttpConnectWaitMin);
  EXPECT_EQ(status_tool()["absence"]["why"], "http://127.0.0.1:3000/mcp answers 404 Not Found");
  next_deadline_comes();
  EXPECT_THAT(done(), ElementsAre("post 3 " + initialize(0)));
  opens_daemon();
  EXPECT_THAT(client_got(), SizeIs(1));
}

TEST_F(LinkOpeningTest, AProxyWithoutItsDaemonIsTriedAgain) {
  for (const int code : {502, 503, 504}) {
    client(initialize(0));
    if (code == 502) connected(1);
    done();
    status(last(), code);
    EXPECT_THAT(done(), IsEmpty()) << code;
    next_deadline_comes();
    opens_daemon();
    EXPECT_THAT(client_got(), SizeIs(1)) << code;
  }
}

TEST_F(LinkOpeningTest, AnOpeningWhoseConnectionBreaksIsSentAgain) {
  client(initialize(0));
  connected(1);
  done();
  breaks(2, "the connection was closed");
  EXPECT_EQ(status_tool()["absence"]["why"], "the connection was closed");
  next_deadline_comes();
  EXPECT_THAT(done(), ElementsAre("post 3 " + initialize(0)));
  opens_daemon();
  EXPECT_THAT(client_got(), SizeIs(1));
}

TEST_F(LinkOpeningTest, ADaemonOfOneSessionThatHasOneIsAFailedStart) {
  client(initialize(0));
  connected(1);
  done();
  status(2, 400, error("null", -32600, "Invalid Request: Server already initialized"));
  const std::string instructions = answer()["result"]["instructions"];
  EXPECT_THAT(instructions, HasSubstr("serves one session only and has one already"));
  EXPECT_THAT(instructions, HasSubstr("restart the server"));
  time_passes(seconds(60));
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(LinkOpeningTest, ADaemonThatAsksForAuthorizationIsNotTriedAgain) {
  client(initialize(0));
  connected(1);
  done();
  status(2, 401, "", {{"www-authenticate", "Bearer realm=\"mcp\""}});
  const std::string instructions = answer()["result"]["instructions"];
  EXPECT_THAT(instructions, HasSubstr("401 Unauthorized"));
  EXPECT_THAT(instructions, HasSubstr("WWW-Authenticate: Bearer realm=\"mcp\""));
  EXPECT_THAT(instructions, HasSubstr("--header"));
  time_passes(seconds(60));
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(LinkOpeningTest, AnErrorThatRefusesTheOpeningIsToldInItsWords) {
  client(initialize(0));
  connected(1);
  done();
  status(2, 400, error(0, -32000, "Bad Request: Unsupported protocol version"));
  EXPECT_THAT(std::string(answer()["result"]["instructions"]),
              HasSubstr("Unsupported protocol version"));
}

TEST_F(LinkOpeningTest, ADaemonThatAcceptsAndSaysNothingIsGivenUpAfterItsStartupTimeout) {
  client(initialize(0));
  connected(1);
  done();
  time_passes(config.answer_within);
  EXPECT_THAT(client_got(), SizeIs(1));
  time_passes(config.startup_timeout - config.answer_within);
  EXPECT_THAT(done(), ElementsAre("abort 2"));
}

TEST_F(LinkOpeningTest, TheEndOfTheSessionGivesUpAConnectionThatIsBeingOpened) {
  client(initialize(0));
  done();
  signal(143);
  time_passes(seconds(1));
  EXPECT_THAT(done(), Contains("exit 143 at once"));
}

TEST_F(LinkOpeningTest, LeavesAnInvalidVersionOutOfTheHeaders) {
  client(request(0, "initialize", R"json({"protocolVersion":"2025-11-25\r\nX-Other: 1"})json"));
  connected(1);
  answers(2, result(0, R"json({"protocolVersion":"2025-11-25\r\nX-Other: 1","capabilities":{},)json"
                       R"json("serverInfo":{"name":"d","version":"1"}})json"));
  EXPECT_THAT(client_got(), SizeIs(1));
  server.protocol_version.clear();
  client(initialized());
  for (const HttpHeader& header : sent_headers(order_of(last()))) {
    EXPECT_NE(header.name, "MCP-Protocol-Version");
  }
  takes(last());
}

}  // namespace
}  // namespace sitter
