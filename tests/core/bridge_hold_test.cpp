#include "core/client/client_facts.hpp"
#include "core/client/client_requests.hpp"
#include "support/rebuild_script.hpp"

namespace sitter {
namespace {

class BridgeHoldTest : public BridgeTest {
 protected:
  /// Respawns the child with one more tool and tells the client. The call with the id 1 is in
  /// flight then.
  void respawn_with_news(const std::string& line = call(1, "echo")) {
    dies(last_, 0);
    server.tools.push_back(tool("tool" + std::to_string(last_)));
    client(line);
    opens(++last_);
    EXPECT_THAT(client_got(), Contains(notification("notifications/tools/list_changed")));
  }
  /// The next child has another output schema for the tool "typed".
  void die_for_another_output_schema() {
    const auto typed = [](const std::string& type) {
      return tool("typed",
                  R"json(,"outputSchema":{"type":"object","properties":{"x":{"type":")json" + type +
                      "\"}}}");
    };
    server.tools = {tool("echo"), typed("string")};
    open_listed_session();
    dies(last_, 0);
    server.tools = {tool("echo"), typed("integer")};
  }
  void lists(int id) {
    client(request(id, "tools/list"));
    child(last_, result(id, Server::list("tools", server.tools)));
  }

  Generation last_ = 1;
};

TEST_F(BridgeHoldTest, TheAnswerWithTheNoticeWaitsUntilTheClientHasListed) {
  open_listed_session();
  respawn_with_news();
  child(2, result(1, text_result("x")));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(300));
  lists(2);
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("tool1")));
  // The list and the answer must not arrive in one read.
  time_passes(milliseconds(1));
  EXPECT_THAT(client_got(),
              ElementsAre(AllOf(HasSubstr("\"id\":1,"), HasSubstr("+1 added (tool1)"))));
}

TEST_F(BridgeHoldTest, ItWaitsForABoundedTime) {
  open_listed_session();
  respawn_with_news();
  time_passes(milliseconds(100));
  child(2, result(1, text_result("x")));
  time_passes(milliseconds(649));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("+1 added (tool1)")));
}

TEST_F(BridgeHoldTest, AClientThatHasNeverListedIsNotWaitedFor) {
  open_session();
  respawn_with_news();
  child(2, result(1, text_result("x")));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("+1 added (tool1)")));
}

TEST_F(BridgeHoldTest, StopsWaitingForAClientThatIgnoresTwoAnnouncements) {
  open_listed_session();
  for (int round = 1; round <= 2; ++round) {
    respawn_with_news(call(round, "echo"));
    child(last_, result(round, text_result("x")));
    EXPECT_THAT(done(), IsEmpty());
    time_passes(milliseconds(750));
    EXPECT_THAT(client_got(), SizeIs(1));
  }
  respawn_with_news(call(3, "echo"));
  child(last_, result(3, text_result("x")));
  EXPECT_THAT(client_got(), SizeIs(1));
}

TEST_F(BridgeHoldTest, AListByTheClientResetsTheIgnoredAnnouncements) {
  open_listed_session();
  for (int round = 1; round <= 5; ++round) {
    respawn_with_news(call(round, "echo"));
    child(last_, result(round, text_result("x")));
    EXPECT_THAT(done(), IsEmpty()) << round;
    if (round % 2 == 0) lists(100 + round);
    time_passes(milliseconds(750));
    done();
  }
}

TEST_F(BridgeHoldTest, AListThatCausedTheRespawnHoldsNothing) {
  open_listed_session();
  dies(1, 0);
  server.tools.push_back(tool("more"));
  client(request(1, "tools/list"));
  opens(2);
  child(2, result(1, Server::list("tools", server.tools)));
  client(call(2, "echo"));
  done();
  child(2, result(2, text_result("x")));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("+1 added (more)")));
}

TEST_F(BridgeHoldTest, PassesOtherMessagesDuringTheHold) {
  open_listed_session();
  respawn_with_news();
  client(call(2, "echo"));
  client(request(3, "vendor/x"));
  child(2, result(1, text_result("held")));
  done();
  child(2, result(3));
  child(2, result(2, R"json({"content":"no room for a notice"})json"));
  child(2, notification("notifications/message"));
  client(call(4, "sitter_child_stderr"));
  EXPECT_THAT(client_got(),
              ElementsAre(result(3), HasSubstr("no room for a notice"),
                          notification("notifications/message"), HasSubstr("\"id\":4,")));
  time_passes(seconds(1));
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("held"), HasSubstr("server restarted"))));
}

TEST_F(BridgeHoldTest, TheFirstResultThatLeavesHasTheNoticeAndNoneLeavesBefore) {
  open_listed_session();
  respawn_with_news();
  client(call(2, "echo"));
  client(call(3, "echo"));
  child(2, result(3, text_result("c")));
  child(2, result(2, text_result("b")));
  EXPECT_THAT(client_got(), IsEmpty());
  lists(4);
  done();
  time_passes(milliseconds(1));
  EXPECT_THAT(client_got(),
              ElementsAre(AllOf(HasSubstr("\"id\":2,"), HasSubstr("+1 added (tool1)")),
                          result(3, text_result("c"))));
  child(2, result(1, text_result("a")));
  EXPECT_THAT(client_got(), ElementsAre(result(1, text_result("a"))));
}

TEST_F(BridgeHoldTest, AResultThatWaitsForItsOutputSchemaHasTheNoticeIfItLeavesFirst) {
  die_for_another_output_schema();
  client(call(1, "typed"));
  client(call(2, "echo"));
  opens(2);
  done();
  child(2, result(2, text_result("x")));
  child(2, result(1, text_result("no number")));
  time_passes(milliseconds(750));
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("\"id\":1,"), HasSubstr("restarted")),
                                        result(2, text_result("x"))));
}

TEST_F(BridgeHoldTest, AClientThatListsOnlyOnceIsNotWaitedFor) {
  open_listed_session("codex-mcp-client");
  respawn_with_news();
  child(2, result(1, text_result("x")));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("+1 added (tool1)")));
}

TEST_F(BridgeHoldTest, AClientThatNeedsAPauseHasItBetweenItsListAndTheAnswer) {
  open_listed_session("gemini-cli-mcp-client");
  respawn_with_news();
  child(2, result(1, text_result("x")));
  lists(2);
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("tool1")));
  client(call(3, "echo"));
  done();
  child(2, notification("notifications/message"));
  EXPECT_THAT(client_got(), ElementsAre(notification("notifications/message")));
  time_passes(limits::kPauseAfterList - milliseconds(1));
  EXPECT_THAT(client_got(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(client_got(),
              ElementsAre(AllOf(HasSubstr("\"id\":1,"), HasSubstr("+1 added (tool1)"))));
  child(2, result(3, text_result("y")));
  EXPECT_THAT(client_got(), ElementsAre(result(3, text_result("y"))));
}

TEST_F(BridgeHoldTest, AnAnswerThatComesInThePauseWaitsForTheRestOfIt) {
  open_listed_session("gemini-cli-mcp-client");
  respawn_with_news();
  lists(2);
  done();
  time_passes(milliseconds(60));
  child(2, result(1, text_result("x")));
  time_passes(milliseconds(39));
  EXPECT_THAT(client_got(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("+1 added (tool1)")));
}

TEST_F(BridgeHoldTest, AnAnswerThatComesAfterThePauseDoesNotWait) {
  open_listed_session("gemini-cli-mcp-client");
  respawn_with_news();
  lists(2);
  done();
  time_passes(limits::kPauseAfterList);
  child(2, result(1, text_result("x")));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("+1 added (tool1)")));
}

TEST_F(BridgeHoldTest, TheEndOfInputEndsTheHold) {
  open_listed_session();
  respawn_with_news();
  child(2, result(1, text_result("x")));
  done();
  client_closes_input();
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("server restarted")));
}

TEST_F(BridgeHoldTest, ASignalEndsTheHold) {
  open_listed_session();
  respawn_with_news();
  child(2, result(1, text_result("x")));
  done();
  signal(143);
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("server restarted")));
}

TEST_F(BridgeHoldTest, ACancellationDropsTheAnswerAndTheNoticeGoesToTheNext) {
  open_listed_session();
  respawn_with_news();
  child(2, result(1, text_result("x")));
  client(cancelled(1));
  done();
  time_passes(seconds(1));
  EXPECT_THAT(done(), IsEmpty());
  client(call(2, "echo"));
  child(2, result(2, text_result("y")));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("server restarted")));
}

TEST_F(BridgeHoldTest, IfAHeldAnswerIsCancelledTheNextHeldAnswerGetsItsNotice) {
  open_listed_session();
  respawn_with_news();
  client(call(2, "echo"));
  child(2, result(1, text_result("x")));
  child(2, result(2, text_result("y")));
  client(cancelled(1));
  done();
  time_passes(milliseconds(750));
  EXPECT_THAT(client_got(),
              ElementsAre(AllOf(HasSubstr("\"id\":2,"), HasSubstr("+1 added (tool1)"))));
}

TEST_F(BridgeHoldTest, AHeldAnswerOutlivesItsChild) {
  open_listed_session();
  respawn_with_news();
  child(2, result(1, text_result("held")));
  dies(2, 3);
  EXPECT_THAT(client_got(), IsEmpty());
  time_passes(milliseconds(750));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("held")));
}

TEST_F(BridgeHoldTest, AnAnswerIsHeldNoLongerBecauseOfASecondRespawn) {
  open_listed_session();
  respawn_with_news();
  child(2, result(1, text_result("held")));
  time_passes(milliseconds(500));
  respawn_with_news(request(2, "vendor/x"));
  child(3, result(2));
  done();
  time_passes(milliseconds(250));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("held")));
}

TEST_F(BridgeHoldTest, AHeldAnswerSurvivesAKill) {
  open_listed_session();
  respawn_with_news();
  child(2, result(1, text_result("held")));
  client(call(2, "sitter_kill"));
  dies(2, 0);
  done();
  time_passes(milliseconds(750));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("held")));
}

TEST_F(BridgeHoldTest, AHeldAnswerLeavesAfterTheLastPageOfTheList) {
  open_listed_session();
  respawn_with_news();
  child(2, result(1, text_result("x")));
  client(request(2, "tools/list"));
  child(2, result(2, R"json({"tools":[],"nextCursor":"2"})json"));
  time_passes(milliseconds(5));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("\"id\":2,")));
  client(request(3, "tools/list", R"json({"cursor":"2"})json"));
  child(2, result(3, R"json({"tools":[]})json"));
  time_passes(milliseconds(1));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("\"id\":3,"), HasSubstr("\"id\":1,")));
}

TEST_F(BridgeHoldTest, ReadingOnePageCountsAsHeedingTheAnnouncement) {
  open_listed_session();
  for (int round = 1; round <= 4; ++round) {
    respawn_with_news(call(round, "echo"));
    child(last_, result(round, text_result("x")));
    client(request(100 + round, "tools/list"));
    child(last_, result(100 + round, R"json({"tools":[],"nextCursor":"2"})json"));
    EXPECT_THAT(client_got(), SizeIs(1)) << round;
    time_passes(milliseconds(750));
    EXPECT_THAT(client_got(), SizeIs(1));
  }
}

TEST_F(BridgeHoldTest, ResultsOfToolsWithAnotherOutputSchemaWaitToo) {
  die_for_another_output_schema();
  client(call(1, "echo"));
  client(call(2, "typed"));
  client(call(3, "typed"));
  opens(2);
  EXPECT_THAT(client_got(), ElementsAre(notification("notifications/tools/list_changed")));
  child(2, result(1, text_result("x")));
  // This result has no content for a notice.
  child(2, result(2, R"json({"structuredContent":{"x":1}})json"));
  child(2, result(3, R"json({"content":[],"structuredContent":{"x":2}})json"));
  EXPECT_THAT(client_got(), IsEmpty());
  client(request(4, "tools/list"));
  child(2, result(4, Server::list("tools", server.tools)));
  time_passes(milliseconds(1));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("\"id\":4,"),
                                        AllOf(HasSubstr("\"id\":1,"), HasSubstr("restarted")),
                                        HasSubstr("\"id\":2,"), HasSubstr("\"id\":3,")));
}

TEST_F(BridgeHoldTest, TheBytesOfAnswersThatWaitAreBounded) {
  open_listed_session();
  const std::size_t frame = result(1, text_result("")).size();
  for (const int over : {0, 1}) {
    SCOPED_TRACE(over);
    respawn_with_news(call(over, "echo"));
    const std::string text(limits::kHeldBytesMax - frame + static_cast<std::size_t>(over), 'x');
    child(last_, result(over, text_result(text)));
    EXPECT_THAT(client_got(), SizeIs(over));
    time_passes(milliseconds(750));
    done();
  }
}

TEST_F(BridgeHoldTest, AnErrorWaitsForTheListToo) {
  open_listed_session();
  respawn_with_news();
  child(2, error(1, -32602, "Unknown tool"));
  EXPECT_THAT(client_got(), IsEmpty());
  time_passes(seconds(1));
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("Unknown tool"), HasSubstr("restarted"))));
}

TEST_F(BridgeHoldTest, WithoutNoticesOnlyOtherOutputSchemasAreWaitedFor) {
  config.writes_notices = false;
  open_listed_session();
  respawn_with_news();
  child(2, result(1, text_result("x")));
  EXPECT_THAT(client_got(), ElementsAre(result(1, text_result("x"))));
}

/// The answer of sitter_rebuild waits too, with the notice in it.
class BridgeRebuildHoldTest : public BridgeRebuildTest {
 protected:
  void rebuild_with_news() {
    open_listed_session();
    server.tools = {tool("echo"), tool("find")};
    build_works();
    opens(2);
  }
};

TEST_F(BridgeRebuildHoldTest, TheNoticeOfAnAnswerThatIsCancelledWhileItWaitsIsStillOwed) {
  rebuild_with_news();
  client(cancelled(1));
  done();
  client(call(2, "echo"));
  child(2, result(2, text_result("x")));
  time_passes(milliseconds(750));
  EXPECT_THAT(client_got(),
              ElementsAre(AllOf(HasSubstr("\"id\":2,"), HasSubstr("+1 added (find)"))));
}

TEST_F(BridgeRebuildHoldTest, NoResultOvertakesTheAnswerThatHoldsTheNotice) {
  rebuild_with_news();
  client(call(2, "echo"));
  done();
  child(2, result(2, text_result("x")));
  EXPECT_THAT(client_got(), IsEmpty());
  time_passes(milliseconds(750));
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("\"id\":1,"), HasSubstr("+1 added (find)")),
                                        result(2, text_result("x"))));
}

TEST_F(BridgeRebuildHoldTest, AResultAskedForEarlierDoesNotOvertakeTheAnswerWithTheNotice) {
  open_listed_session();
  dies(1, 0);
  server.tools = {tool("echo"), tool("find")};
  client(call(2, "echo"));
  opens(2);
  child(2, result(2, text_result("x")));
  build_works();
  opens(3);
  EXPECT_THAT(client_got(), Not(Contains(HasSubstr("\"id\":2,"))));
  time_passes(milliseconds(750));
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("\"id\":1,"), HasSubstr("spawn #3")),
                                        result(2, text_result("x"))));
}

TEST_F(BridgeRebuildHoldTest, AnAnswerThatHasWaitedDoesNotCountForALaterRestart) {
  rebuild_with_news();
  dies(2, 3);
  client(call(2, "echo"));
  opens(3);
  done();
  time_passes(milliseconds(750));
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("\"id\":1,"), HasSubstr("spawn #2"))));
  child(3, result(2, text_result("x")));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("spawn #3")));
}

TEST_F(BridgeRebuildHoldTest, AProblemDuringTheHoldIsReportedInTheNextResult) {
  rebuild_with_news();
  watches(3, "the limit is reached");
  time_passes(milliseconds(750));
  EXPECT_THAT(client_got(), Contains(AllOf(HasSubstr("+1 added (find)"),
                                           Not(HasSubstr("the limit is reached")))));
  client(call(2, "echo"));
  child(2, result(2, text_result("x")));
  EXPECT_THAT(client_got(),
              ElementsAre(AllOf(HasSubstr("the limit is reached"), Not(HasSubstr("spawn #2")))));
}

TEST_F(BridgeRebuildHoldTest, AProblemBeforeTheHoldIsReportedOnce) {
  watches(3, "the limit is reached");
  rebuild_with_news();
  time_passes(milliseconds(750));
  EXPECT_THAT(client_got(),
              Contains(AllOf(HasSubstr("+1 added (find)"), HasSubstr("the limit is reached"))));
  client(call(2, "echo"));
  child(2, result(2, text_result("x")));
  EXPECT_THAT(client_got(), ElementsAre(result(2, text_result("x"))));
}

}  // namespace
}  // namespace sitter
