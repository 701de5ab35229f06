#include <cstddef>

#include "core/client/relist_wait.hpp"
#include "core/http/http_link_limits.hpp"
#include "sitter/limits.hpp"
#include "support/link_script.hpp"
#include "support/sent_headers.hpp"
#include "support/stateless_script.hpp"

namespace sitter {
namespace {

/// Clients of 2026-07-28, and daemons that keep no session.
class LinkStatelessTest : public LinkTest {
 protected:
  static std::string done_text() { return R"json({"resultType":"complete","content":[]})json"; }

  /// A tool whose parameter `region` is repeated in the header Mcp-Param-Region.
  static std::string regional(const std::string& header = "\"Region\"") {
    return R"json({"name":"regional","inputSchema":{"type":"object","properties":)json"
           R"json({"region":{"type":"string","x-mcp-header":)json" +
           header + "}}}}";
  }
  static std::string regional_call(const Id& id, const std::string& region) {
    return enveloped(id, "tools/call",
                     R"json("name":"regional","arguments":{"region":)json" + region + "}");
  }

  void list_tools() {
    client(enveloped(901, "tools/list"));
    answers(*exchange_of(901), result(901, server.page("tools", server.tools)));
    done();
  }

  /// A stream for changes of the tools is open. Returns its exchange.
  Exchange open_listen() {
    client(listen(kStream, kTools));
    const Exchange post = last();
    streams(post);
    event(post, acknowledged(kStream, kTools));
    opens_daemon();
    done();
    return post;
  }
};

// ---- headers

TEST_F(LinkStatelessTest, ThereIsNoOpeningAndNoSession) {
  server.is_stateless = true;
  client(enveloped_call(1, "echo"));
  EXPECT_THAT(done(), ElementsAre("connect 1"));
  connected(1);
  const auto all = done();
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all[0], "post 2 " + enveloped_call(1, "echo"));
  EXPECT_EQ(sent_value(order_of(2), "MCP-Protocol-Version"), "2026-07-28");
  EXPECT_EQ(sent_value(order_of(2), "Mcp-Method"), "tools/call");
  EXPECT_EQ(sent_value(order_of(2), "Mcp-Name"), "echo");
  opens_daemon();
  answers(2, result(1, done_text()));
  EXPECT_THAT(done(), Not(Contains(HasSubstr("get "))));
}

TEST_F(LinkStatelessTest, ANamedParameterIsRepeatedInAHeader) {
  server.tools = {regional()};
  serve_stateless();
  client(regional_call(1, "\"eu\""));
  EXPECT_THAT(done(), ElementsAre(HasSubstr(" Region=eu {")));
  answers(last(), result(1, done_text()));
  done();
  client(regional_call(2, "null"));
  EXPECT_THAT(done(), ElementsAre(Not(HasSubstr("Region="))));
  answers(last(), result(2, done_text()));
  done();
  client(regional_call(3, "\"\u00fc\""));
  EXPECT_THAT(done(), ElementsAre(HasSubstr("Region==?base64?w7w=?=")));
  answers(last(), result(3, done_text()));
}

TEST_F(LinkStatelessTest, AToolWhoseAnnotationIsInvalidIsLeftOutOfTheList) {
  server.tools = {tool("echo"), regional("\"\"")};
  serve_stateless();
  client(enveloped(1, "tools/list"));
  answers(*exchange_of(1), result(1, server.page("tools", server.tools)));
  const auto lines = client_got();
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_THAT(lines[0], AllOf(HasSubstr("\"echo\""), Not(HasSubstr("\"regional\""))));
  EXPECT_THAT(logs(), Contains(HasSubstr("the tool regional is left out of the list")));
}

TEST_F(LinkStatelessTest, InASessionNoToolIsLeftOutAndNothingIsRepeated) {
  server.tools = {regional("\"\""), regional()};
  open_session();
  client(request(1, "tools/list"));
  answers(*exchange_of(1), result(1, server.page("tools", server.tools)));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("\"regional\"")));
  client(call(2, "regional", R"json({"region":"eu"})json"));
  EXPECT_THAT(done(), ElementsAre(Not(HasSubstr("Region="))));
  answers(last(), result(2));
}

TEST_F(LinkStatelessTest, ACallThatIsRefusedForItsHeadersIsSentOnceMoreAfterAList) {
  serve_stateless();
  list_tools();
  server.tools = {regional()};
  client(regional_call(1, "\"eu\""));
  done();
  status(last(), 400, error(1, -32020, "Header mismatch: Mcp-Param-Region"));
  EXPECT_THAT(done(), ElementsAre(HasSubstr("tools/list")));
  opens_daemon();
  EXPECT_THAT(done(), Contains(HasSubstr("post ")));
  // The list showed other tools, so another child serves, and it gets the call with the header.
  opens_daemon();
  ASSERT_TRUE(exchange_of(1));
  EXPECT_EQ(sent_value(order_of(*exchange_of(1)), "Mcp-Param-Region"), "eu");
  answers(*exchange_of(1), result(1, done_text()));
}

TEST_F(LinkStatelessTest, ACallThatIsRefusedForItsHeadersBeforeAnyListIsSentOnceMoreAfterAList) {
  server.is_stateless = true;
  server.tools = {regional()};
  client(regional_call(1, "\"eu\""));
  connected(1);
  status(*exchange_of(1), 400, error(1, -32020, "Header mismatch: Mcp-Param-Region"));
  EXPECT_FALSE(exchange_of(1));
  opens_daemon();
  ASSERT_TRUE(exchange_of(1));
  EXPECT_EQ(sent_value(order_of(*exchange_of(1)), "Mcp-Param-Region"), "eu");
  answers(*exchange_of(1), result(1, done_text()));
  EXPECT_THAT(client_got(), ElementsAre(result(1, done_text())));
}

TEST_F(LinkStatelessTest, ACallThatIsRefusedForItsHeadersTwiceFails) {
  serve_stateless();
  list_tools();
  const std::string refused = error(1, -32020, "Header mismatch");
  client(enveloped_call(1, "echo"));
  status(last(), 400, refused);
  done();
  opens_daemon();
  EXPECT_THAT(done(), ElementsAre(HasSubstr(enveloped_call(1, "echo"))));
  status(last(), 400, refused);
  EXPECT_THAT(done(), ElementsAre("client " + refused));
}

// ---- what shows the era

TEST_F(LinkStatelessTest, AProbeThatIsAnsweredWithAnErrorGetsThisError) {
  client(enveloped(1, "server/discover"));
  connected(1);
  const std::string refused = error(1, -32601, "Method not found");
  done();
  status(2, 404, refused);
  EXPECT_THAT(done(), ElementsAre("client " + refused));
}

TEST_F(LinkStatelessTest, AProbeOfADaemonThatAnswersInItsOwnWordsFindsAnEarlierEra) {
  for (const int code : {400, 404}) {
    client(enveloped(code, "server/discover"));
    opens_daemon();
    done();
    status(*exchange_of(code), code, "<html>Cannot POST</html>", {{"content-type", "text/html"}});
    EXPECT_THAT(error_text(-32601), HasSubstr(std::to_string(code)));
  }
}

TEST_F(LinkStatelessTest, AnHttpErrorProvesNoEra) {
  for (const int code : {401, 403, 500}) {
    client(enveloped(code, "server/discover"));
    opens_daemon();
    done();
    status(*exchange_of(code), code);
    EXPECT_THAT(error_text(-32603), HasSubstr(std::to_string(code)));
  }
}

TEST_F(LinkStatelessTest, AProbeThatMeetsAnAbsentDaemonBehindItsProxyWaits) {
  client(enveloped(1, "server/discover"));
  connected(1);
  done();
  status(2, 503);
  EXPECT_THAT(done(), IsEmpty());
  next_deadline_comes();
  EXPECT_THAT(done(), ElementsAre("post 3 " + enveloped(1, "server/discover")));
  answers(3, result(1, R"json({"resultType":"complete"})json"));
}

TEST_F(LinkStatelessTest, AClientThatOpensAfterItsProbeUsesTheSameDaemon) {
  client(enveloped(1, "server/discover"));
  connected(1);
  status(2, 400, error(1, -32000, "Bad Request: Server not initialized"));
  done();
  client(initialize(0));
  EXPECT_THAT(done(), ElementsAre("post 3 " + initialize(0)));
  opens_daemon();
  client(initialized());
  opens_daemon();
  client(call(2, "echo"));
  ASSERT_TRUE(exchange_of(2));
  answers(*exchange_of(2), result(2));
}

// ---- a restart without a session

TEST_F(LinkStatelessTest, AnotherListenerIsAnotherDaemonAndGetsTheRequest) {
  daemon.has_sessions = false;
  open_listed_session();
  client(call(1, "echo"));
  done();
  server.tools.push_back(tool("added"));
  daemon.listener = ListenerId{200};
  other_listener(*exchange_of(1));
  EXPECT_THAT(done(), Contains(HasSubstr("connect ")));
  opens_daemon();
  EXPECT_THAT(done(), Contains(HasSubstr("tools/list_changed")));
  client(request(2, "tools/list"));
  answers(*exchange_of(2), result(2, server.page("tools", server.tools)));
  answers(*exchange_of(1), result(1, text_result("a")));
  time_passes(limits::kRelistWait);
  EXPECT_THAT(done(), Contains(AllOf(HasSubstr("server restarted"),
                                     HasSubstr("another process listens now"))));
}

TEST_F(LinkStatelessTest, TheListenerIsWatchedForEachRequest) {
  serve_stateless();
  client(enveloped_call(1, "echo"));
  EXPECT_EQ(order_of(last()).listener, daemon.listener);
  other_listener(last());
  daemon.listener = ListenerId{200};
  opens_daemon();
  EXPECT_EQ(order_of(*exchange_of(1)).listener, daemon.listener);
  answers(*exchange_of(1), result(1, done_text()));
}

TEST_F(LinkStatelessTest, WithoutAListenerTheToolsAreTakenAfterAnUnexpectedClose) {
  daemon.listener = kNoListener;
  serve_stateless();
  list_tools();
  idle_connection_closes();
  EXPECT_THAT(done(), IsEmpty());
  client(enveloped_call(1, "echo"));
  EXPECT_THAT(done(), ElementsAre(HasSubstr("tools/list")));
  opens_daemon();
  EXPECT_THAT(done(), ElementsAre(HasSubstr(enveloped_call(1, "echo"))));
  answers(last(), result(1, done_text()));
}

TEST_F(LinkStatelessTest, OtherToolsThenAreAnotherDaemon) {
  daemon.listener = kNoListener;
  serve_stateless();
  list_tools();
  idle_connection_closes();
  server.tools.push_back(tool("added"));
  client(enveloped_call(1, "echo"));
  opens_daemon();
  ASSERT_TRUE(exchange_of(1));
  answers(*exchange_of(1), result(1, done_text()));
  EXPECT_THAT(client_got(), Contains(AllOf(HasSubstr("server restarted"), HasSubstr("added"))));
}

TEST_F(LinkStatelessTest, SuchToolsAreTakenAtMostEveryFiveSeconds) {
  daemon.listener = kNoListener;
  serve_stateless();
  list_tools();
  idle_connection_closes();
  client(enveloped_call(1, "echo"));
  opens_daemon();
  answers(*exchange_of(1), result(1, done_text()));
  time_passes(limits::kHttpProbeInterval - milliseconds(1));
  idle_connection_closes();
  done();
  client(enveloped_call(2, "echo"));
  EXPECT_THAT(done(), ElementsAre(HasSubstr(enveloped_call(2, "echo"))));
  answers(last(), result(2, done_text()));
  time_passes(milliseconds(1));
  idle_connection_closes();
  done();
  client(enveloped_call(3, "echo"));
  EXPECT_THAT(done(), ElementsAre(HasSubstr("tools/list")));
  opens_daemon();
  answers(*exchange_of(3), result(3, done_text()));
}

TEST_F(LinkStatelessTest, ToolsOverTheLimitOfAListAreNotCompared) {
  daemon.listener = kNoListener;
  const std::string frame = "[" + tool("big", R"json(,"title":"")json") + "]";
  server.is_stateless = true;
  const auto lists_after = [&](std::size_t size) {
    server.tools = {
        tool("big", R"json(,"title":")json" + std::string(size - frame.size(), 'x') + "\"")};
    client(enveloped(901, "tools/list"));
    opens_daemon();
    answers(*exchange_of(901), result(901, server.page("tools", server.tools)));
    opens_daemon();
    time_passes(limits::kHttpProbeInterval);
    idle_connection_closes();
    done();
    client(enveloped_call(1, "echo"));
    const bool lists = !exchange_of(1);
    opens_daemon();
    answers(*exchange_of(1), result(1, done_text()));
    return lists;
  };
  EXPECT_FALSE(lists_after(limits::kListBytesMax + 1));
  EXPECT_TRUE(lists_after(limits::kListBytesMax));
}

TEST_F(LinkStatelessTest, InASessionAnUnexpectedCloseNeedsNoList) {
  daemon.listener = kNoListener;
  open_listed_session();
  idle_connection_closes();
  client(call(1, "echo"));
  EXPECT_THAT(done(), ElementsAre(HasSubstr(call(1, "echo"))));
  answers(last(), result(1));
}

TEST_F(LinkStatelessTest, AListThatIsNotAnsweredHoldsTheRequestsForNoLongerThanItsLimit) {
  daemon.listener = kNoListener;
  serve_stateless();
  list_tools();
  idle_connection_closes();
  client(enveloped_call(1, "echo"));
  const Exchange probe = last();
  done();
  time_passes(limits::kToolsListWait - milliseconds(1));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(done(),
              ElementsAre("abort " + std::to_string(probe), HasSubstr(enveloped_call(1, "echo"))));
  answers(last(), result(1, done_text()));
}

TEST_F(LinkStatelessTest, ABrokenStatelessCallIsLostAndAReadIsSentOnceMore) {
  serve_stateless();
  client(enveloped_call(1, "echo"));
  streams(last());
  bytes(last(), "id: a\ndata:\n\n");
  breaks(last());
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("may or may not have taken effect")));
  const std::string read = enveloped(2, "resources/read", R"json("uri":"a:b")json");
  client(read);
  done();
  breaks(last());
  EXPECT_THAT(done(), ElementsAre(HasSubstr(read)));
  answers(last(), result(2, R"json({"resultType":"complete"})json"));
}

// ---- streams of subscriptions/listen

TEST_F(LinkStatelessTest, AStreamIsAPostThatStaysOpen) {
  serve_stateless();
  client(listen(kStream, kTools));
  const Exchange post = last();
  EXPECT_THAT(done(), ElementsAre(HasSubstr("subscriptions/listen")));
  streams(post);
  event(post, acknowledged(kStream, kTools));
  EXPECT_THAT(client_got(), ElementsAre(acknowledged(kStream, kTools)));
  event(post, to_stream(kStream, kChanged));
  EXPECT_THAT(client_got(), ElementsAre(to_stream(kStream, kChanged)));
  opens_daemon();
}

TEST_F(LinkStatelessTest, StreamsTakeNoPlaceOfRequests) {
  serve_stateless();
  open_listen();
  const int max = static_cast<int>(limits::kHttpRequestsMax);
  for (int id = 1; id <= max; ++id) client(enveloped_call(id, "slow"));
  EXPECT_TRUE(exchange_of(max));
  client(enveloped_call(max + 1, "slow"));
  EXPECT_FALSE(exchange_of(max + 1));
  for (int id = 1; id <= max + 1; ++id) answers(*exchange_of(id), result(id, done_text()));
}

TEST_F(LinkStatelessTest, AStreamThatBreaksIsOpenedAgainAndItsAcknowledgementIsSwallowed) {
  serve_stateless();
  const Exchange post = open_listen();
  breaks(post);
  EXPECT_THAT(done(), IsEmpty());
  EXPECT_EQ(wait(), limits::kHttpStreamWaitMin);
  next_deadline_comes();
  EXPECT_THAT(done(), ElementsAre(HasSubstr(listen(kStream, kTools))));
  streams(last());
  event(last(), acknowledged(kStream, kTools));
  EXPECT_THAT(done(), IsEmpty());
  event(last(), to_stream(kStream, kChanged));
  EXPECT_THAT(client_got(), ElementsAre(to_stream(kStream, kChanged)));
  opens_daemon();
}

TEST_F(LinkStatelessTest, AStreamThatBreaksBeforeItsAcknowledgementStillGetsOne) {
  serve_stateless();
  client(listen(kStream, kTools));
  streams(last());
  done();
  breaks(last());
  next_deadline_comes();
  streams(last());
  event(last(), acknowledged(kStream, kTools));
  EXPECT_THAT(client_got(), ElementsAre(acknowledged(kStream, kTools)));
}

TEST_F(LinkStatelessTest, AStreamIsOpenedAgainAndAgain) {
  serve_stateless();
  Exchange post = open_listen();
  for (int i = 0; i < 10; ++i) {
    breaks(post);
    next_deadline_comes();
    post = last();
    status(post, 307, "", {{"location", "/mcp/"}});
    post = last();
    streams(post);
    event(post, acknowledged(kStream, kTools));
  }
  EXPECT_THAT(client_got(), IsEmpty());
}

TEST_F(LinkStatelessTest, AStreamThatIsCancelledIsClosed) {
  serve_stateless();
  const Exchange post = open_listen();
  client(cancelled(kStream));
  EXPECT_THAT(done(), ElementsAre("abort " + std::to_string(post)));
}

TEST_F(LinkStatelessTest, AStreamThatIsCancelledWhileItIsBrokenIsNotOpenedAgain) {
  serve_stateless();
  const Exchange post = open_listen();
  breaks(post);
  client(cancelled(kStream));
  time_passes(seconds(60));
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(LinkStatelessTest, AStreamThatTheDaemonEndsInGoodOrderIsServedByTheNextDaemon) {
  serve_stateless();
  const Exchange post = open_listen();
  event(post, end_of(kStream, kStream));
  ends(post);
  EXPECT_THAT(done(), IsEmpty());
  client(enveloped_call(1, "echo"));
  other_listener(last());
  daemon.listener = ListenerId{200};
  done();
  opens_daemon();
  EXPECT_THAT(done(), Contains(HasSubstr(listen(kStream, kTools))));
  streams(last());
  event(last(), acknowledged(kStream, kTools));
  answers(*exchange_of(1), result(1, done_text()));
}

TEST_F(LinkStatelessTest, AStreamThatFindsNothingIsServedByTheDaemonThatComes) {
  serve_stateless();
  const Exchange post = open_listen();
  breaks(post);
  next_deadline_comes();
  done();
  not_connected(last());
  client(enveloped_call(1, "echo"));
  opens_daemon();
  EXPECT_THAT(done(), Contains(HasSubstr(listen(kStream, kTools))));
  answers(*exchange_of(1), result(1, done_text()));
  opens_daemon();
}

TEST_F(LinkStatelessTest, AProbeIsNoEraIfItsConnectionBreaks) {
  client(enveloped(1, "server/discover"));
  connected(1);
  done();
  breaks(last());
  EXPECT_THAT(client_got(), IsEmpty());
  next_deadline_comes();
  answers(*exchange_of(1), result(1, R"json({"resultType":"complete"})json"));
  EXPECT_THAT(client_got(), SizeIs(1));
}

TEST_F(LinkStatelessTest, ARequestForHeadersIsAnsweredWithAListThoughNoneIsKnown) {
  client(enveloped_call(1, "echo"));
  connected(1);
  done();
  status(*exchange_of(1), 400,
         R"json({"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"header mismatch"}})json");
  EXPECT_THAT(done(), Contains(HasSubstr("tools/list")));
  opens_daemon();
  answers(*exchange_of(1), result(1, R"json({"resultType":"complete","content":[]})json"));
}

}  // namespace
}  // namespace sitter
