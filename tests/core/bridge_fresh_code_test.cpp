#include <string>

#include "support/fresh_code.hpp"

namespace sitter {
namespace {

TEST_F(BridgeFreshCodeTest, ACallWaitsFromTheFirstSignOfAChange) {
  without_build();
  open();
  changes("a.py");
  client(call(1, "echo"));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(300));
  EXPECT_THAT(done(), AllOf(Contains("start 2"), Not(Contains(HasSubstr("tools/call")))));
  opens(2);
  EXPECT_THAT(done(), Contains("child 2 " + call(1, "echo")));
  child(2, result(1, text_result("new")));
  EXPECT_THAT(answer_text(), HasSubstr("server restarted"));
}

TEST_F(BridgeFreshCodeTest, PromptsReadsAndListsWaitToo) {
  open();
  saves();
  client(request(1, "prompts/get"));
  client(request(2, "resources/read"));
  client(request(3, "tools/list"));
  client(request(4, "ping"));
  client(call(5, "sitter_status"));
  EXPECT_THAT(client_got(), SizeIs(2));
  dies(build(1), 0);
  opens(2);
  EXPECT_THAT(done(), AllOf(Contains("child 2 " + request(1, "prompts/get")),
                            Contains("child 2 " + request(2, "resources/read"))));
  child(2, result(1));
  child(2, result(2));
  child(2, result(3, R"json({"tools":[]})json"));
}

TEST_F(BridgeFreshCodeTest, TheOldServerAnswersAfterTheLimitAndTheResultSaysSo) {
  open();
  saves();
  client(call(1, "echo"));
  time_passes(config.fresh_wait - milliseconds(301));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_EQ(answer_of_old(1),
            "[mcp-sitter] a.c changed 10s ago and this answer is still the old code's: the build "
            "has been running for 9.7s; sitter_rebuild waits for it");
  // No call waits again for this change.
  client(call(2, "echo"));
  EXPECT_THAT(answer_of_old(2), HasSubstr(kOldCode));
  dies(build(1), 0);
  opens(2);
  client(call(3, "echo"));
  child(2, result(3, text_result("new")));
  EXPECT_THAT(answer_text(), Not(HasSubstr(kOldCode)));
}

TEST_F(BridgeFreshCodeTest, AFailedBuildLetsTheCallsGoAtOnce) {
  open();
  saves();
  client(call(1, "echo"));
  dies(build(1), 2);
  EXPECT_THAT(answer_of_old(1),
              HasSubstr("a.c changed just now and this answer is still the old code's: the build "
                        "failed (exit 2) after"));
  time_passes(seconds(60));
  client(call(2, "echo"));
  EXPECT_THAT(answer_of_old(2),
              AllOf(HasSubstr("a.c changed 1 min ago"), HasSubstr("the build failed (exit 2)")));
}

TEST_F(BridgeFreshCodeTest, AServerThatFailsToStartLetsTheCallsGo) {
  without_build();
  open();
  saves();
  client(call(1, "echo"));
  dies(2, 1);
  EXPECT_THAT(answer_of_old(1), HasSubstr("the old code's: the new server has failed to start; "
                                          "sitter_child_stderr shows its stderr"));
}

TEST_F(BridgeFreshCodeTest, AnAnswerOfBeforeTheChangeSaysSo) {
  open();
  client(call(1, "echo"));
  changes("a.c");
  EXPECT_THAT(answer_of_old(1), HasSubstr("the server is reloaded when no file has changed for "
                                          "0.3s"));
}

TEST_F(BridgeFreshCodeTest, StructuredResultsAndErrorsSaySoEachTime) {
  open();
  saves();
  dies(build(1), 2);
  const std::string structured =
      R"json({"content":[{"type":"text","text":"a"}],"structuredContent":{"a":1}})json";
  for (int id = 1; id <= 3; ++id) {
    client(call(id, "echo"));
    child(1, result(id, structured));
    EXPECT_THAT(client_got(), ElementsAre(HasSubstr(kOldCode))) << id;
  }
  client(call(4, "echo"));
  child(1, error(4, -32602, "Unknown tool"));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr(kOldCode)));
}

TEST_F(BridgeFreshCodeTest, ANewChangeIsWaitedForAgainButNoCallWaitsLonger) {
  open();
  saves("a.c");
  client(call(1, "echo"));
  time_passes(seconds(9));
  changes("b.c");
  client(call(2, "echo"));
  time_passes(milliseconds(700));
  // The oldest call has waited for ten seconds; what it waits with goes along.
  time_passes(milliseconds(300));
  EXPECT_THAT(answer_of_old(1), HasSubstr("b.c and 1 more changed 1s ago"));
  child(1, result(2, text_result("x")));
  done();
  client(call(3, "echo"));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(seconds(9));
  EXPECT_THAT(answer_of_old(3), HasSubstr(kOldCode));
}

TEST_F(BridgeFreshCodeTest, WritesWithoutAPauseAreOneChange) {
  open();
  for (int i = 0; i < 100; ++i) {
    changes("server.log");
    time_passes(milliseconds(100));
  }
  client(call(1, "echo"));
  EXPECT_THAT(answer_of_old(1), HasSubstr("server.log changed just now"));
}

TEST_F(BridgeFreshCodeTest, FilesThatReloadsWriteKeepNoCallWaiting) {
  open();
  saves();
  for (int i = 1; i <= 5; ++i) {
    changes("gen.h");
    dies(build(i), 0);
    opens(i + 1);
    dies(i, 0);
    time_passes(milliseconds(300));
  }
  client(call(1, "echo"));
  child(6, result(1, text_result("x")));
  EXPECT_THAT(answer_text(), Not(HasSubstr(kOldCode)));
}

TEST_F(BridgeFreshCodeTest, AClientThatSavesAndCallsInTurnIsAlwaysAnsweredByNewCode) {
  without_build();
  open();
  for (int i = 1; i <= 20; ++i) {
    changes("a.py");
    client(call(i, "echo"));
    time_passes(milliseconds(300));
    opens(i + 1);
    dies(i, 0);
    child(i + 1, result(i, text_result("x")));
    EXPECT_THAT(answer_text(), HasSubstr("previous: replaced")) << i;
  }
}

TEST_F(BridgeFreshCodeTest, PromptsAndResourcesSayItToo) {
  open();
  saves();
  dies(build(1), 2);
  done();
  client(request(1, "prompts/get", R"json({"name":"p"})json"));
  child(1, result(1, R"json({"messages":[]})json"));
  EXPECT_THAT(answer()["result"]["messages"][0]["content"]["text"], HasSubstr(kOldCode));
  client(request(2, "resources/read", R"json({"uri":"a:b"})json"));
  child(1, result(2, R"json({"contents":[{"uri":"a:b","text":"x"}]})json"));
  const auto contents = answer()["result"]["contents"];
  EXPECT_EQ(contents[0]["text"], "x");
  EXPECT_EQ(contents[1]["uri"], "mcp-sitter:notice");
  EXPECT_THAT(contents[1]["text"], HasSubstr(kOldCode));
}

TEST_F(BridgeFreshCodeTest, ABinaryThatIsNeverUsableKeepsNoCallForLong) {
  config.watches_binary = true;
  open();
  binary_changes(false);
  client(call(1, "echo"));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(300));
  EXPECT_EQ(answer_of_old(1), "x");
}

TEST_F(BridgeFreshCodeTest, WithoutAWaitTheOldServerAnswersAtOnce) {
  config.fresh_wait = milliseconds(0);
  open();
  saves();
  client(call(1, "echo"));
  EXPECT_THAT(answer_of_old(1), HasSubstr(kOldCode));
}

TEST_F(BridgeFreshCodeTest, WithoutNoticesNothingIsSaid) {
  config.writes_notices = false;
  open();
  saves();
  client(call(1, "echo"));
  dies(build(1), 2);
  EXPECT_EQ(answer_of_old(1), "x");
}

TEST_F(BridgeFreshCodeTest, ACallThatIsCancelledWhileItWaitsIsNeverSent) {
  open();
  saves();
  client(call(1, "echo"));
  client(cancelled(1));
  time_passes(seconds(10));
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(BridgeFreshCodeTest, TheEndOfTheSessionEndsTheWait) {
  open();
  saves();
  client(call(1, "echo"));
  client_closes_input();
  EXPECT_THAT(answer_of_old(1), HasSubstr(kOldCode));
}

TEST_F(BridgeFreshCodeTest, AnAnswerAfterTheSwapIsOfTheServerBefore) {
  open();
  client(call(1, "echo"));
  saves();
  dies(build(1), 0);
  opens(2);
  child(1, result(1, text_result("x")));
  EXPECT_THAT(answer_text(), AllOf(HasSubstr(kOldCode), Not(HasSubstr("server restarted"))));
}

TEST_F(BridgeFreshCodeTest, AClientThatHasOnlyProbedGetsTheNewCodeWhenItBegins) {
  without_build();
  client(enveloped(1, "server/discover"));
  done();
  changes("a.py");
  child(1,
        result(1, R"json({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}})json"));
  time_passes(seconds(1));
  EXPECT_THAT(done(), Not(Contains("start 2")));
  client(enveloped_call(2, "echo"));
  EXPECT_THAT(done(), AllOf(Contains("start 2"), Not(Contains(HasSubstr("tools/call")))));
}

}  // namespace
}  // namespace sitter
