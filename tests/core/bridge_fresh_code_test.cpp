#include <string>

#include "support/rebuild_script.hpp"

namespace sitter {
namespace {

constexpr char kOldCode[] = "is still the old code's";

/// Requests that come after a save, before the code that was saved serves.
class BridgeFreshCodeTest : public BridgeRebuildTest {
 protected:
  BridgeFreshCodeTest() { config.watch_patterns = {"src"}; }

  void without_build() { config.build_command.clear(); }
  /// Opens the session. Changes from before do not count any more.
  void open() {
    open_session();
    time_passes(milliseconds(300));
    done();
  }
  /// The build of the change begins.
  void saves(const std::string& file = "a.c") {
    changes(file);
    time_passes(milliseconds(300));
    done();
  }
  /// What child 1 answers to this call, which was passed on.
  std::string answer_of_old(int id) {
    EXPECT_THAT(done(), Contains("child 1 " + call(id, "echo")));
    child(1, result(id, text_result("x")));
    return answer_text();
  }
};

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

TEST_F(BridgeFreshCodeTest, AScriptReadsItsOwnSourcesWithoutABuild) {
  config.needs_no_build = true;
  binary.path = "/srv/app/server.py";
  open();
  Generation gen = 1;
  for (const auto& [file, is_own] :
       {std::pair("/srv/app/server.py", true), std::pair("/srv/app/lib/notes.py", true),
        std::pair("/srv/app/notes.ts", false), std::pair("/srv/app/server.py", false)}) {
    SCOPED_TRACE(file);
    client(call(100 + gen, "sitter_kill"));
    dies(gen, 0);
    saves(file);
    client(call(gen, "echo"));
    opens(++gen);
    child(gen, result(gen - 1, text_result("x")));
    EXPECT_EQ(answer_text().find("nothing has built it since") == std::string::npos, is_own);
  }
}

TEST_F(BridgeFreshCodeTest, ARestartRunsNoSourceThatSomebodyElseBuilds) {
  without_build();
  config.built_endings = {".cpp"};
  binary.modified = now.wall;
  time_passes(seconds(5));
  open();
  Generation gen = 1;
  for (const auto& [file, told] :
       {std::pair("settings.json", ""), std::pair("a.cpp", "a.cpp changed"),
        std::pair("moved-away/", "moved-away/ and 1 more changed")}) {
    SCOPED_TRACE(file);
    ++gen;
    saves(file);
    opens(gen);
    dies(gen - 1, 0);
    done();
    for (int id = 10 * gen; id < 10 * gen + 2; ++id) {
      client(call(id, "echo"));
      child(gen, result(id, text_result("x")));
      const std::string hint = "; build it, call sitter_kill {\"restart\": true}, then call again";
      EXPECT_THAT(answer_text(),
                  *told == '\0'
                      ? ::testing::Matcher<std::string>(Not(HasSubstr(kOldCode)))
                      : HasSubstr(told +
                                  std::string(" just now and this answer is still the old "
                                              "code's: nothing has built it since") +
                                  hint));
    }
  }
  time_passes(seconds(5));
  binary.modified = now.wall;
  client(call(1, "sitter_kill", R"json({"restart": true})json"));
  dies(gen, 0);
  opens(++gen);
  done();
  client(call(2, "echo"));
  child(gen, result(2, text_result("x")));
  EXPECT_THAT(answer_text(), Not(HasSubstr(kOldCode)));
}

TEST_F(BridgeFreshCodeTest, AFileThatComesAndGoesUnreadIsNoChange) {
  open();
  for (const auto& [id, was_there] : {std::pair(1, false), std::pair(2, true)}) {
    SCOPED_TRACE(was_there);
    const Generation gen = id;
    client(call(10 * id, "sitter_kill"));
    dies(gen, 0);
    answer_text();
    if (!was_there) changes("server.new", now.wall, true);
    changes("server.new");
    time_passes(config.debounce);
    client(call(id, "echo"));
    opens(gen + 1);
    child(gen + 1, result(id, text_result("x")));
    EXPECT_EQ(answer_text().find(kOldCode) != std::string::npos, was_there);
  }
}

TEST_F(BridgeFreshCodeTest, ANewFileOfTheServerHoldsWhatSomebodyElseHasBuilt) {
  without_build();
  config.built_endings = {".c"};
  config.watches_binary = true;
  binary.modified = now.wall;
  time_passes(seconds(5));
  open();
  saves();
  opens(2);
  dies(1, 0);
  client(call(1, "echo"));
  child(2, result(1, text_result("x")));
  EXPECT_THAT(answer_text(), HasSubstr("nothing has built it since; build it, then call again"));
  time_passes(seconds(5));
  binary.modified = now.wall - milliseconds(1);
  binary_changes();
  time_passes(milliseconds(300));
  opens(3);
  dies(2, 0);
  client(call(2, "echo"));
  child(3, result(2, text_result("x")));
  EXPECT_THAT(answer_text(), Not(HasSubstr(kOldCode)));
}

TEST_F(BridgeFreshCodeTest, WithoutAFileThatShowsABuildTheNextStartButOneHasIt) {
  without_build();
  config.built_endings = {".ts"};
  config.needs_no_build = true;
  binary.path = "/srv/dist/server.js";
  binary.modified = now.wall;
  time_passes(seconds(5));
  open();
  saves("a.ts");
  opens(2);
  dies(1, 0);
  client(call(1, "echo"));
  child(2, result(1, text_result("x")));
  EXPECT_THAT(answer_text(), HasSubstr("a.ts changed just now and this answer is still the old "
                                       "code's: nothing has built it since"));
  client(call(2, "sitter_kill"));
  dies(2, 0);
  client(call(3, "echo"));
  opens(3);
  child(3, result(3, text_result("x")));
  done();
  client(call(4, "echo"));
  child(3, result(4, text_result("x")));
  EXPECT_THAT(answer_text(), Not(HasSubstr(kOldCode)));
}

TEST_F(BridgeFreshCodeTest, AFailedBuildThatHasWrittenTheProgramLeavesNoOldCode) {
  open();
  saves();
  time_passes(seconds(2));
  binary.modified = now.wall;
  dies(build(1), 2);
  client(call(1, "echo"));
  EXPECT_THAT(answer_of_old(1), HasSubstr("old code's: the build failed (exit 2)"));
  client(call(2, "sitter_kill", R"json({"restart": true})json"));
  dies(1, 0);
  opens(2);
  done();
  client(call(3, "echo"));
  child(2, result(3, text_result("x")));
  EXPECT_THAT(answer_text(), Not(HasSubstr(kOldCode)));
}

TEST_F(BridgeFreshCodeTest, TheTimesOfTheFilesSayWhatWasBuiltLast) {
  open();
  Generation gen = 1;
  // `after`: when the file was written, seen from the program, which is built before it is noticed.
  for (const auto& [after, is_old] :
       {std::pair(milliseconds(-1), false), std::pair(milliseconds(1), true),
        // An old file was moved here. A file from the future was, too.
        std::pair(milliseconds(-60000), true), std::pair(milliseconds(60000), true)}) {
    SCOPED_TRACE(after.count());
    client(call(10 * gen, "sitter_kill"));
    dies(gen, 0);
    done();
    time_passes(seconds(60));
    binary.modified = now.wall - milliseconds(10);
    changes("a.c", *binary.modified + after);
    time_passes(milliseconds(300));
    client(call(10 * gen + 1, "echo"));
    opens(gen + 1);
    child(gen + 1, result(10 * gen + 1, text_result("x")));
    EXPECT_EQ(answer_text().find("a.c changed") != std::string::npos, is_old);
    ++gen;
  }
}

TEST_F(BridgeFreshCodeTest, AChangeOfAnotherFileLeavesAloneWhatIsServed) {
  open();
  client(call(1, "sitter_kill"));
  dies(1, 0);
  saves("a.c");
  time_passes(seconds(5));
  binary.modified = now.wall;
  time_passes(seconds(5));
  changes("b.c");
  time_passes(seconds(5));
  client(call(2, "echo"));
  opens(2);
  child(2, result(2, text_result("x")));
  EXPECT_THAT(answer_text(), HasSubstr("b.c changed 5s ago"));
}

TEST_F(BridgeFreshCodeTest, AProgramThatWasBuiltByHandNeedsOnlyARestart) {
  open();
  client(call(1, "sitter_kill"));
  dies(1, 0);
  saves();
  client(call(2, "echo"));
  opens(2);
  child(2, result(2, text_result("x")));
  done();
  time_passes(seconds(5));
  source_changes("app");
  for (int id = 3; id < 5; ++id) {
    client(call(id, "echo"));
    child(2, result(id, text_result("x")));
    EXPECT_THAT(answer_text(),
                HasSubstr("a.c changed 5s ago and this answer is still the old code's: "
                          "it was built since; call sitter_rebuild, then call again"));
  }
}

TEST_F(BridgeFreshCodeTest, WithoutTheToolThatBuildsTheModelBuilds) {
  config.tools = {Builtin::kill};
  open();
  client(call(1, "sitter_kill"));
  dies(1, 0);
  saves();
  client(call(2, "echo"));
  opens(2);
  child(2, result(2, text_result("x")));
  EXPECT_THAT(answer_text(), HasSubstr("nothing has built it since; build it, call sitter_kill"));
}

TEST_F(BridgeFreshCodeTest, AKillBuildsNothingAndTheNextServerSaysSo) {
  open();
  client(call(1, "sitter_kill"));
  dies(1, 0);
  saves();
  client(call(2, "echo"));
  opens(2);
  child(2, result(2, text_result("x")));
  EXPECT_THAT(answer_text(), HasSubstr("nothing has built it since; sitter_rebuild builds it"));
  client(rebuild(3));
  dies(build(1), 0);
  opens(3);
  done();
  client(call(4, "echo"));
  child(3, result(4, text_result("x")));
  EXPECT_THAT(answer_text(), Not(HasSubstr(kOldCode)));
}

TEST_F(BridgeFreshCodeTest, AKillLeavesAFailedBuildToBeTold) {
  open();
  saves();
  dies(build(1), 2);
  client(call(1, "sitter_kill"));
  dies(1, 0);
  client(call(2, "echo"));
  opens(2);
  child(2, result(2, text_result("x")));
  done();
  client(call(3, "echo"));
  child(2, result(3, text_result("x")));
  EXPECT_THAT(answer_text(), HasSubstr("old code's: the build failed (exit 2)"));
}

TEST_F(BridgeFreshCodeTest, ASaveDuringTheBuildIsNotPartOfIt) {
  open();
  saves();
  time_passes(seconds(1));
  saves("second.c");
  time_passes(seconds(11));
  binary.modified = now.wall;
  dies(build(1), 0);
  opens(2);
  client(call(1, "echo"));
  time_passes(config.fresh_wait);
  child(2, result(1, text_result("x")));
  EXPECT_THAT(client_got(), Contains(HasSubstr("second.c changed")));
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

TEST_F(BridgeFreshCodeTest, AProgramThatWasBuiltInAnotherWayIsNew) {
  open();
  saves();
  dies(build(1), 2);
  time_passes(seconds(5));
  binary.modified = now.wall;
  client(call(1, "echo"));
  EXPECT_THAT(answer_of_old(1), HasSubstr(kOldCode));
  dies(1, 3);
  client(call(2, "echo"));
  opens(2);
  child(2, result(2, text_result("x")));
  EXPECT_THAT(answer_text(), Not(HasSubstr(kOldCode)));
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
