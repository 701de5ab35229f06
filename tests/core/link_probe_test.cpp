#include "core/http/http_link_limits.hpp"
#include "support/link_script.hpp"

namespace sitter {
namespace {

/// A daemon that keeps no session and may have restarted unseen, and requests of the bridge's own.
class LinkProbeTest : public LinkTest {
 protected:
  void closes_idle_connection() { tell(fact::HttpIdleClosed{}); }

  /// The tools that the daemon lists to a probe.
  std::string listed() const {
    return result("\"mcp-sitter-probe\"", server.page("tools", server.tools));
  }

  /// The exchange of the probe, which must be the only order.
  Exchange probe() {
    const auto orders = done();
    EXPECT_THAT(orders, ElementsAre(AllOf(HasSubstr("post "), HasSubstr("mcp-sitter-probe"))));
    return last();
  }
};

TEST_F(LinkProbeTest, ADaemonThatListsTheSameToolsIsTheSame) {
  serve_stateless();
  closes_idle_connection();
  client(enveloped_call(1, "echo"));
  answers(probe(), listed());
  EXPECT_THAT(done(), ElementsAre(HasSubstr("\"echo\"")));
  ASSERT_TRUE(exchange_of(1));
  answers(*exchange_of(1), result(1, R"json({"resultType":"complete","content":[]})json"));
  EXPECT_THAT(client_got(), SizeIs(1));
}

TEST_F(LinkProbeTest, ADaemonThatListsOtherToolsHasRestarted) {
  serve_stateless();
  closes_idle_connection();
  client(enveloped_call(1, "echo"));
  server.tools = {tool("echo"), tool("search")};
  answers(probe(), listed());
  EXPECT_THAT(done(), Contains(HasSubstr("connect ")));
  opens_daemon();
  ASSERT_TRUE(exchange_of(1));
  done();
  answers(*exchange_of(1),
          result(1, R"json({"resultType":"complete","content":[{"type":"text","text":"a"}]})json"));
  EXPECT_THAT(client_got(),
              Contains(AllOf(HasSubstr("it lists other tools than before"), HasSubstr("search"))));
}

TEST_F(LinkProbeTest, AcceptsAnAnswerInAStreamThatStaysOpen) {
  serve_stateless();
  closes_idle_connection();
  client(enveloped_call(1, "echo"));
  const Exchange probed = probe();
  streams(probed);
  event(probed, listed());
  EXPECT_THAT(done(), ElementsAre("abort " + std::to_string(probed), HasSubstr("\"echo\"")));
  answers(*exchange_of(1), result(1, R"json({"resultType":"complete","content":[]})json"));
}

TEST_F(LinkProbeTest, ALostProbeIsIgnored) {
  serve_stateless();
  closes_idle_connection();
  client(enveloped_call(1, "echo"));
  breaks(probe());
  ASSERT_TRUE(exchange_of(1));
  done();
  answers(*exchange_of(1), result(1, R"json({"resultType":"complete","content":[]})json"));
}

TEST_F(LinkProbeTest, ThereIsOneProbeInFiveSeconds) {
  serve_stateless();
  closes_idle_connection();
  client(enveloped_call(1, "echo"));
  answers(probe(), listed());
  answers(*exchange_of(1), result(1, R"json({"resultType":"complete","content":[]})json"));
  time_passes(limits::kHttpProbeInterval - milliseconds(1));
  done();
  closes_idle_connection();
  client(enveloped_call(2, "echo"));
  EXPECT_THAT(done(), ElementsAre(HasSubstr("\"echo\"")));
  answers(*exchange_of(2), result(2, R"json({"resultType":"complete","content":[]})json"));
  time_passes(milliseconds(1));
  done();
  closes_idle_connection();
  client(enveloped_call(3, "echo"));
  answers(probe(), listed());
  answers(*exchange_of(3), result(3, R"json({"resultType":"complete","content":[]})json"));
}

TEST_F(LinkProbeTest, ADaemonWithASessionIsNotProbed) {
  open_listed_session();
  closes_idle_connection();
  client(call(1, "echo"));
  EXPECT_THAT(done(), ElementsAre(HasSubstr("\"echo\"")));
  answers(*exchange_of(1), result(1));
}

TEST_F(LinkProbeTest, ACallThatIsRefusedForItsHeadersIsSentOnceMoreAfterTheList) {
  serve_stateless();
  client(enveloped_call(1, "echo"));
  done();
  status(*exchange_of(1), 400, error(1, -32020, "header mismatch"));
  answers(probe(), listed());
  EXPECT_THAT(done(), ElementsAre(HasSubstr("\"echo\"")));
  status(*exchange_of(1), 400, error(1, -32020, "header mismatch"));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("-32020")));
}

TEST_F(LinkProbeTest, AListOfTheBridgesOwnWhoseAnswerIsLostIsAskedForOnceMore) {
  open_listed_session();
  client(call(1, "echo"));
  status(*exchange_of(1), 404);
  connected(last());
  answers(last(), result("#2", server.opening()), {{"mcp-session-id", "s2"}});
  takes(last());
  done();
  breaks(last());
  EXPECT_THAT(done(), Contains(HasSubstr("tools/list")));
  // After that the daemon counts as absent.
  breaks(last());
  EXPECT_THAT(done(), Not(Contains(HasSubstr("tools/list"))));
  next_deadline_comes();
  EXPECT_THAT(done(), Contains(HasSubstr("tools/list")));
  opens_daemon();
  answers(*exchange_of(1), result(1));
}

TEST_F(LinkProbeTest, ADaemonThatIsLostBeforeItsFirstAnswerIsNoFailedStart) {
  server.is_stateless = true;
  client(enveloped_call(1, "echo"));
  connected(last());
  other_listener(*exchange_of(1));
  EXPECT_THAT(done(), Contains(HasSubstr("connect ")));
  opens_daemon();
  ASSERT_TRUE(exchange_of(1));
  answers(*exchange_of(1), result(1, R"json({"resultType":"complete","content":[]})json"));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("\"id\":1")));
  opens_daemon();
}

}  // namespace
}  // namespace sitter
