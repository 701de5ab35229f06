#include <cstddef>

#include "core/http/http_link_limits.hpp"
#include "support/link_script.hpp"

namespace sitter {
namespace {

/// A daemon that has forgotten the session.
class LinkSessionTest : public LinkTest {
 protected:
  /// How often this line was sent since the last `done()`.
  std::size_t sent_count(const std::string& line) {
    std::size_t count = 0;
    for (const std::string& word : done()) {
      if (word.starts_with("post ") && word.ends_with(line)) ++count;
    }
    return count;
  }

  /// The daemon refuses the call with this, and it is found to have lost the session.
  void expect_lost(int code, const std::string& body, const Headers& headers = {}) {
    const Id id(static_cast<int>(last()));
    client(call(id, "echo"));
    done();
    status(*exchange_of(id), code, body, headers);
    EXPECT_THAT(done(), Contains(HasSubstr("connect "))) << code << ' ' << body;
    opens_daemon();
    EXPECT_EQ(sent_count(call(id, "echo")), 1u) << code << ' ' << body;
    ASSERT_TRUE(exchange_of(id)) << code << ' ' << body;
    answers(*exchange_of(id), result(id, text_result("a")));
    EXPECT_THAT(answer_text(), AllOf(HasSubstr("session opened again"), HasSubstr("session lost")));
  }

  /// The daemon refuses the call with this, which says nothing of the session.
  nlohmann::json expect_kept(int code, const std::string& body, const Headers& headers = {}) {
    const Id id(static_cast<int>(last()));
    client(call(id, "echo"));
    done();
    status(*exchange_of(id), code, body, headers);
    const auto line = answer();
    EXPECT_EQ(line["id"].dump(), id.raw);
    client(call(id, "echo"));
    EXPECT_THAT(done(), ElementsAre(HasSubstr("[s1]")));
    answers(*exchange_of(id), result(id));
    done();
    return line["error"];
  }
};

TEST_F(LinkSessionTest, ARequestThatTheNextDaemonDoesNotKnowIsSentOnceMoreInAnotherSession) {
  open_listed_session();
  client(call(1, "echo"));
  done();
  status(7, 404, error("null", -32001, "Session not found"));
  EXPECT_THAT(done(), ElementsAre("abort 4", "connect 8"));
  connected(8);
  const auto opening = done();
  ASSERT_THAT(opening, SizeIs(1));
  EXPECT_THAT(opening[0], AllOf(HasSubstr("post 9 {"), HasSubstr("\"initialize\"")));
  opens_daemon();
  const auto all = done();
  EXPECT_THAT(all, Contains("post 10 [s2] " + initialized()));
  EXPECT_THAT(all, Contains("post 13 [s2] " + call(1, "echo")));
  answers(13, result(1, text_result("a")));
  EXPECT_THAT(answer_text(), HasSubstr("session lost"));
}

TEST_F(LinkSessionTest, EachFormOfALostSessionIsKnown) {
  open_listed_session();
  expect_lost(404, "");
  expect_lost(404, "<html><body>Not Found</body></html>", {{"content-type", "text/html"}});
  expect_lost(404, error("null", -32001, "Session not found"));
  expect_lost(400, error("null", -32000, "Bad Request: No valid session ID provided"));
  expect_lost(400, error("null", -32000, "Bad Request: Server not initialized"));
  expect_lost(400, error("null", -32001, "Unknown session"));
  expect_lost(401, error("null", -32000, "Unauthorized: unknown session"));
}

TEST_F(LinkSessionTest, OtherRefusalsDoNotEndTheSession) {
  open_listed_session();
  EXPECT_EQ(expect_kept(
                400, error("null", -32000, "Bad Request: Unsupported protocol version"))["message"],
            "Bad Request: Unsupported protocol version");
  EXPECT_EQ(expect_kept(400, error("null", -32700, "Parse error"))["code"], -32700);
  EXPECT_THAT(
      std::string(expect_kept(401, "no session", {{"www-authenticate", "Bearer"}})["message"]),
      HasSubstr("401 Unauthorized"));
  EXPECT_THAT(std::string(expect_kept(410, "gone")["message"]), HasSubstr("410 Gone: gone"));
}

TEST_F(LinkSessionTest, WithoutASessionA404IsAnError) {
  daemon.has_sessions = false;
  open_listed_session();
  client(call(1, "echo"));
  status(*exchange_of(1), 404, "no such route");
  done();
  client(call(2, "echo"));
  status(*exchange_of(2), 404, "no such route");
  EXPECT_THAT(error_text(-32603),
              HasSubstr("http://127.0.0.1:3000/mcp answers 404 Not Found: no such route"));
}

TEST_F(LinkSessionTest, AnErrorThatNamesTheOpeningIsPassedWithoutAnotherQuestion) {
  open_listed_session();
  const std::string refused = error(1, -32602, "Received request before initialization");
  client(call(1, "echo"));
  done();
  answers(*exchange_of(1), refused);
  EXPECT_THAT(done(), ElementsAre("client " + refused));
  bytes(4, "data: Restarting './server.js'\n\n");
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(LinkSessionTest, AllThatIsRefusedWithTheSessionIsSentOnceMoreInItsOrder) {
  open_listed_session();
  for (int id = 1; id <= 3; ++id) client(call(id, "echo"));
  done();
  status(*exchange_of(2), 404);
  status(*exchange_of(1), 404);
  status(*exchange_of(3), 404);
  opens_daemon();
  std::vector<std::string> calls;
  for (const std::string& word : done()) {
    if (word.find("tools/call") != word.npos) calls.push_back(word.substr(word.find('{')));
  }
  EXPECT_THAT(calls, ElementsAre(call(1, "echo"), call(2, "echo"), call(3, "echo")));
  for (int id = 1; id <= 3; ++id) answers(*exchange_of(id), result(id));
}

TEST_F(LinkSessionTest, ResendsARedirectedRequestInTheNextSession) {
  open_listed_session();
  client(call(1, "slow"));
  client(call(2, "echo"));
  done();
  status(*exchange_of(2), 404);
  status(*exchange_of(1), 307, "", {{"location", "/other"}});
  EXPECT_THAT(done(), ElementsAre("abort 4", HasSubstr("connect ")));
  opens_daemon();
  EXPECT_THAT(done(), AllOf(Contains(HasSubstr("[s2] " + call(1, "slow"))),
                            Contains(HasSubstr("[s2] " + call(2, "echo")))));
  answers(*exchange_of(1), result(1));
  answers(*exchange_of(2), result(2));
}

TEST_F(LinkSessionTest, AcceptsAnswersWhileTheSessionIsBeingLost) {
  open_listed_session();
  client(call(1, "slow"));
  client(call(2, "echo"));
  done();
  status(*exchange_of(2), 404);
  EXPECT_THAT(done(), IsEmpty());
  answers(*exchange_of(1), result(1));
  EXPECT_THAT(done(), ElementsAre("abort 4", "client " + result(1), HasSubstr("connect ")));
  opens_daemon();
  answers(*exchange_of(2), result(2));
}

TEST_F(LinkSessionTest, ResponsesDoNotUndoTheLossOfASession) {
  open_listed_session();
  for (int id = 1; id <= 3; ++id) client(call(id, "echo"));
  client(call(4, "slow"));
  const Exchange slow = *exchange_of(4);
  const Headers soon = {{"retry-after", "1"}};
  done();
  status(*exchange_of(1), 503, "", soon);
  time_passes(milliseconds(500));
  status(*exchange_of(2), 404);
  status(*exchange_of(3), 503, "", soon);
  streams(slow);
  const std::string message = notification("notifications/message", R"json({"data":"x"})json");
  event(slow, message);
  // The daemon would be tried again meanwhile.
  time_passes(milliseconds(900));
  client(call(5, "echo"));
  EXPECT_THAT(done(), ElementsAre("client " + message));
  event(slow, result(4));
  opens_daemon();
  for (const int id : {1, 2, 3, 5}) {
    ASSERT_TRUE(exchange_of(id)) << id;
    answers(*exchange_of(id), result(id));
  }
}

TEST_F(LinkSessionTest, ACallThatTheLosingDaemonDoesNotAnswerInTimeIsNotSentTwice) {
  open_listed_session();
  client(call(1, "slow"));
  client(call(2, "echo"));
  status(*exchange_of(2), 404);
  done();
  time_passes(limits::kHttpLosingWait - milliseconds(1));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(answer_text(), AllOf(HasSubstr("the server has forgotten the session"),
                                   HasSubstr("may or may not have taken effect")));
  opens_daemon();
  EXPECT_EQ(sent_count(call(1, "slow")), 0u);
  answers(*exchange_of(2), result(2));
}

TEST_F(LinkSessionTest, ARequestThatEachSessionRefusesIsSentTwiceAndNotMore) {
  open_listed_session();
  client(call(1, "echo"));
  status(*exchange_of(1), 404);
  opens_daemon();
  done();
  status(*exchange_of(1), 404, "still unknown");
  const std::string text = answer_text();
  EXPECT_THAT(text, HasSubstr("404 Not Found"));
  EXPECT_THAT(text, HasSubstr("not carried out"));
  opens_daemon();
  EXPECT_EQ(sent_count(call(1, "echo")), 0u);
  client(call(2, "echo"));
  opens_daemon();
  answers(*exchange_of(2), result(2));
}

TEST_F(LinkSessionTest, ADaemonThatForgetsEverySessionAtOnceIsNotOpenedWithoutEnd) {
  open_listed_session();
  client(call(1, "echo"));
  status(*exchange_of(1), 404);
  done();
  int openings = 0;
  for (int i = 0; i < 1000 && open_count() > 0; ++i) {
    const Exchange next = last();
    const auto& sent = order_of(next);
    if (sent.body.empty()) {
      connected(next);
    } else if (sent.body.find("\"initialize\"") != std::string::npos) {
      ++openings;
      answers(next, result("#" + std::to_string(openings + 1), server.opening()),
              {{"mcp-session-id", "s9"}});
    } else {
      status(next, 404);
    }
  }
  EXPECT_LE(openings, 3);
  EXPECT_THAT(answer_text(), HasSubstr("not delivered"));
  time_passes(seconds(60));
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(LinkSessionTest, ADaemonWhosePathIsGoneIsDown) {
  open_listed_session();
  client(call(1, "echo"));
  status(*exchange_of(1), 404);
  connected(last());
  done();
  status(last(), 404);
  EXPECT_THAT(done(), IsEmpty());
  EXPECT_EQ(status_tool()["absence"]["why"], "http://127.0.0.1:3000/mcp answers 404 Not Found");
  next_deadline_comes();
  opens_daemon();
  answers(*exchange_of(1), result(1));
}

TEST_F(LinkSessionTest, ANotificationThatIsRefusedShowsTheLossToo) {
  open_listed_session();
  client(notification("notifications/roots/list_changed"));
  done();
  status(last(), 404);
  EXPECT_THAT(done(), ElementsAre("abort 4"));
  client(call(1, "echo"));
  opens_daemon();
  answers(*exchange_of(1), result(1));
}

TEST_F(LinkSessionTest, TheStreamOfTheSessionShowsTheLossToo) {
  open_listed_session();
  breaks(4);
  next_deadline_comes();
  EXPECT_THAT(done(), ElementsAre("get 7 [s1]"));
  status(7, 404);
  EXPECT_THAT(done(), IsEmpty());
  client(call(1, "echo"));
  EXPECT_THAT(done(), ElementsAre("connect 8"));
  opens_daemon();
  answers(*exchange_of(1), result(1));
}

TEST_F(LinkSessionTest, AMissingStreamDoesNotMeanALostSession) {
  daemon.has_stream = false;
  client_opens();
  takes(3);
  status(4, 404);
  opens_daemon();
  done();
  client(call(1, "echo"));
  EXPECT_THAT(done(), ElementsAre(HasSubstr("[s1]")));
  answers(*exchange_of(1), result(1));
}

TEST_F(LinkSessionTest, ASecondOpeningOfTheClientHasASessionAndAStreamOfItsOwn) {
  open_listed_session();
  client(initialize(1));
  EXPECT_THAT(done(), ElementsAre("post 7 " + initialize(1)));
  opens_daemon();
  EXPECT_THAT(done(), Contains("abort 4"));
  client(initialized());
  opens_daemon();
  EXPECT_THAT(done(), Contains("get 9 [s2]"));
  client(call(2, "echo"));
  EXPECT_THAT(done(), ElementsAre(HasSubstr("[s2] " + call(2, "echo"))));
  answers(last(), result(2));
}

TEST_F(LinkSessionTest, ASettingOfTheClientIsToldInTheNextSession) {
  server.capabilities = R"json({"tools":{},"logging":{}})json";
  open_session();
  client(request(1, "logging/setLevel", R"json({"level":"debug"})json"));
  answers(*exchange_of(1), result(1));
  client(call(2, "echo"));
  status(*exchange_of(2), 404);
  done();
  opens_daemon();
  EXPECT_THAT(done(), Contains(AllOf(HasSubstr("[s2]"), HasSubstr("logging/setLevel"))));
  answers(*exchange_of(2), result(2));
}

TEST_F(LinkSessionTest, CancelsTheRequestsOfALostSession) {
  open_listed_session();
  event(4, request(77, "roots/list"));
  const auto asked = answer();
  client(call(1, "echo"));
  done();
  status(*exchange_of(1), 404);
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("notifications/cancelled"),
                                              HasSubstr(asked["id"].dump()))));
  opens_daemon();
  done();
  client(result(asked["id"].dump()));
  EXPECT_THAT(done(), IsEmpty());
  answers(*exchange_of(1), result(1));
}

TEST_F(LinkSessionTest, ResendsACallRefusedWithoutABodyWhenTheSessionIsLost) {
  open_listed_session();
  client(call(1, "echo"));
  client(call(2, "echo"));
  const Exchange first = *exchange_of(1);
  head(first, 404);
  status(*exchange_of(2), 404);
  time_passes(limits::kHttpLosingWait);
  opens_daemon();
  ASSERT_TRUE(exchange_of(1));
  answers(*exchange_of(1), result(1));
  answers(*exchange_of(2), result(2));
}

}  // namespace
}  // namespace sitter
