#include <fmt/format.h>

#include <algorithm>

#include "support/rebuild_script.hpp"

namespace sitter {
namespace {

/// Files that change while the bridge watches them.
class BridgeWatchTest : public BridgeRebuildTest {
 protected:
  BridgeWatchTest() {
    config.build_command.clear();
    config.watch_patterns = {"src"};
  }

  /// Opens the session. Changes from before do not count any more.
  void open() {
    open_listed_session();
    time_passes(milliseconds(300));
    done();
  }
  void saves(const std::string& file = "a.c") {
    changes(file);
    time_passes(milliseconds(300));
  }
  nlohmann::json watch() {
    client(call(90, "sitter_status"));
    return nlohmann::json::parse(
        answer()["result"]["content"][0]["text"].get<std::string>())["watch"];
  }
};

TEST_F(BridgeWatchTest, ASaveReplacesTheServerWithoutACall) {
  open();
  server.tools = {tool("echo"), tool("find")};
  changes("a.c");
  time_passes(milliseconds(299));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(done(), Contains("start 2"));
  opens(2);
  EXPECT_THAT(done(), AllOf(Contains("client " + notification("notifications/tools/list_changed")),
                            Contains("close 1")));
  time_passes(seconds(1));
  client(call(5, "echo"));
  child(2, result(5, text_result("a")));
  EXPECT_THAT(answer().dump(),
              AllOf(HasSubstr("previous: replaced (a.c changed) after"), HasSubstr("(find)")));
}

TEST_F(BridgeWatchTest, WithABuildCommandItIsBuiltFirst) {
  config.build_command = "make";
  open();
  saves();
  EXPECT_THAT(done(), ElementsAre("start build 1"));
  dies(build(1), 0);
  EXPECT_THAT(done(), Contains("start 2"));
  opens(2);
}

TEST_F(BridgeWatchTest, AFailedBuildIsToldInTheNextResult) {
  config.build_command = "make";
  open();
  saves();
  child_says(build(1), "a.c:1: error: no");
  dies(build(1), 2);
  done();
  client(call(5, "echo"));
  child(1, result(5, text_result("a")));
  EXPECT_THAT(answer().dump(),
              AllOf(HasSubstr("the build failed (exit 2)"), HasSubstr("error: no")));
}

TEST_F(BridgeWatchTest, AThousandSavesAreOneReload) {
  open();
  for (int i = 0; i < 1000; ++i) {
    changes("a.c");
    time_passes(milliseconds(1));
  }
  time_passes(milliseconds(299));
  EXPECT_THAT(done(), Contains("start 2"));
  opens(2);
}

TEST_F(BridgeWatchTest, ASaveDuringTheBuildLeadsToOneMore) {
  config.build_command = "make";
  open();
  saves("a.c");
  saves("b.c");
  EXPECT_THAT(done(), ElementsAre("start build 1"));
  dies(build(1), 2);
  time_passes(milliseconds(300));
  EXPECT_THAT(done(), Contains("start build 2"));
  dies(build(2), 0);
  opens(2);
  time_passes(seconds(1));
  EXPECT_THAT(done(), Not(Contains("start build 3")));
}

TEST_F(BridgeWatchTest, ABuildThatWritesIntoWatchedFoldersDoesNotStartItselfForEver) {
  config.build_command = "make";
  open();
  saves("a.c");
  int builds = 0;
  while (builds < 100) {
    const auto orders = done();
    if (std::find(orders.begin(), orders.end(), fmt::format("start build {}", builds + 1)) ==
        orders.end()) {
      break;
    }
    ++builds;
    changes("gen.h");
    dies(build(builds), 0);
    opens(builds + 1);
    dies(builds, 0);
    time_passes(milliseconds(300));
  }
  EXPECT_EQ(builds, 5);
  EXPECT_THAT(logs(), Contains(HasSubstr("gen.h changes in each reload")));
  EXPECT_EQ(watch()["writtenByReloads"], nlohmann::json({"gen.h"}));
  client(call(50, "echo"));
  child(builds + 1, result(50, text_result("x")));
  EXPECT_THAT(answer_text(), HasSubstr("[mcp-sitter] gen.h changes in each reload"));
  client(call(51, "echo"));
  child(builds + 1, result(51, text_result("x")));
  EXPECT_EQ(answer_text(), "x");
}

TEST_F(BridgeWatchTest, AServerThatWritesAWatchedFileAfterItsStartIsNotStartedForEver) {
  open();
  saves("a.py");
  int starts = 1;
  while (starts < 100) {
    const auto orders = done();
    if (std::find(orders.begin(), orders.end(), fmt::format("start {}", starts + 1)) ==
        orders.end()) {
      break;
    }
    ++starts;
    opens(starts);
    dies(starts - 1, 0);
    time_passes(milliseconds(800));
    changes("notes.log");
    time_passes(milliseconds(300));
  }
  EXPECT_EQ(starts, 4);
  const std::string word = "notes.log changes after each start of the server";
  EXPECT_THAT(logs(), Contains(AllOf(HasSubstr(word), HasSubstr("--watch '!NAME'"))));
  EXPECT_EQ(watch()["writtenByReloads"], nlohmann::json({"notes.log"}));
  changes("notes.log");
  time_passes(milliseconds(300));
  EXPECT_THAT(done(), Not(Contains("start 5")));
  client(call(50, "echo"));
  child(starts, result(50, text_result("x")));
  EXPECT_THAT(answer_text(), AllOf(HasSubstr("[mcp-sitter] " + word), Not(HasSubstr("old code"))));
  client(call(51, "echo"));
  child(starts, result(51, text_result("x")));
  EXPECT_EQ(answer_text(), "x");
  saves("a.py");
  EXPECT_THAT(done(), Contains("start 5"));
}

TEST_F(BridgeWatchTest, WhoLooksAtEachSaveMayBeAsRegularAsAServer) {
  open();
  saves();
  for (int starts = 2; starts < 10; ++starts) {
    EXPECT_THAT(done(), Contains(fmt::format("start {}", starts)));
    opens(starts);
    dies(starts - 1, 0);
    client(call(starts, "echo"));
    child(starts, result(starts, text_result("x")));
    time_passes(milliseconds(800));
    saves();
  }
}

TEST_F(BridgeWatchTest, WhoWaitsForAnAnswerMayBeTheOneWhoSaves) {
  open();
  saves();
  for (int starts = 2; starts < 10; ++starts) {
    EXPECT_THAT(done(), Contains(fmt::format("start {}", starts)));
    opens(starts);
    dies(starts - 1, 0);
    client(call(starts, "slow"));
    time_passes(milliseconds(800));
    saves();
  }
}

TEST_F(BridgeWatchTest, ASaveWhileTheNewServerHangsInItsOpeningStartsAnother) {
  open();
  saves();
  done();
  saves();
  EXPECT_THAT(done(), Contains("close 2"));
  dies(2, 0);
  EXPECT_THAT(done(), Contains("start 3"));
  opens(3);
  client(call(5, "echo"));
  child(3, result(5));
}

TEST_F(BridgeWatchTest, AServerThatHasCrashedComesBack) {
  open();
  dies(1, 3);
  EXPECT_THAT(done(), Not(Contains("start 2")));
  saves();
  EXPECT_THAT(done(), Contains("start 2"));
  opens(2);
}

TEST_F(BridgeWatchTest, AfterSitterKillNoSaveBringsTheServerBack) {
  config.build_command = "make";
  open();
  client(call(5, "sitter_kill"));
  saves("a.c");
  dies(1, 0);
  saves("b.c");
  EXPECT_THAT(done(), AllOf(Not(Contains("start build 1")), Not(Contains("start 2"))));
  EXPECT_THAT(logs(), Contains(HasSubstr("b.c; the server was killed on purpose")));
  // A request brings the server back, and then saves count again.
  client(call(6, "echo"));
  EXPECT_THAT(done(), Contains("start 2"));
  opens(2);
  child(2, result(6));
  time_passes(seconds(1));
  saves("c.c");
  EXPECT_THAT(done(), Contains("start build 1"));
  dies(build(1), 1);
}

TEST_F(BridgeWatchTest, NoSaveStartsTheServerAfterAKillThatFindsNothing) {
  open();
  dies(1, 3);
  client(call(5, "sitter_kill"));
  saves();
  EXPECT_THAT(done(), Not(Contains("start 2")));
}

TEST_F(BridgeWatchTest, ARebuildIncludesEarlierSaves) {
  config.build_command = "make";
  open();
  changes("a.c");
  client(rebuild(1));
  dies(build(1), 2);
  time_passes(seconds(1));
  EXPECT_THAT(done(), Not(Contains("start build 2")));
}

TEST_F(BridgeWatchTest, AStartIncludesEarlierSaves) {
  open();
  dies(1, 3);
  changes("a.c");
  client(call(5, "echo"));
  opens(2);
  child(2, result(5));
  done();
  time_passes(seconds(1));
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(BridgeWatchTest, ABinaryThatIsEmptyIsWaitedFor) {
  config.watch_patterns.clear();
  config.watches_binary = true;
  open();
  binary_changes(false);
  time_passes(seconds(1));
  EXPECT_THAT(done(), IsEmpty());
  binary_changes(true);
  time_passes(milliseconds(300));
  EXPECT_THAT(done(), Contains("start 2"));
  opens(2);
}

TEST_F(BridgeWatchTest, TheBinaryThatABuildWritesLeadsToNoOther) {
  config.build_command = "make";
  config.watches_binary = true;
  open();
  saves("a.c");
  binary_changes();
  dies(build(1), 0);
  opens(2);
  binary_changes();
  time_passes(seconds(1));
  EXPECT_THAT(done(), Not(Contains("start build 2")));
  binary_changes();
  time_passes(milliseconds(300));
  EXPECT_THAT(done(), Contains("start build 2"));
  dies(build(2), 1);
}

TEST_F(BridgeWatchTest, AFailedProbeDoesNotLeaveTheWatchBusy) {
  config.watches_binary = true;
  client(enveloped("\"p\"", "server/discover"));
  done();
  child(1, error("\"p\"", -32601, "no"));
  client(initialize(2));
  opens(1);
  EXPECT_THAT(client_got(), SizeIs(2));
}

TEST_F(BridgeWatchTest, ARebuildCallIsAnsweredHoweverOftenFilesAreSaved) {
  config.build_command = "make";
  open();
  client(rebuild(1));
  dies(build(1), 0);
  saves();
  EXPECT_THAT(done(), Not(Contains("close 2")));
  opens(2);
  EXPECT_THAT(done(), AllOf(Contains(HasSubstr("spawn #2")), Contains("start build 2")));
  dies(build(2), 1);
}

TEST_F(BridgeWatchTest, AtTheEndNoSaveCounts) {
  open();
  client(call(2, "slow"));
  client_closes_input();
  done();
  saves();
  EXPECT_THAT(done(), IsEmpty());
  child(1, result(2));
}

TEST_F(BridgeWatchTest, TheStatusShowsWhatIsWatched) {
  open();
  watches(7);
  auto shown = watch();
  EXPECT_EQ(shown["patterns"], nlohmann::json({"src"}));
  EXPECT_EQ(shown["folders"], 7);
  EXPECT_EQ(shown["debounceMs"], 300);
  EXPECT_TRUE(shown["lastTrigger"].is_null());
  EXPECT_TRUE(shown["problem"].is_null());
  changes("b.c");
  saves("a.c");
  opens(2);
  done();
  shown = watch();
  EXPECT_EQ(shown["lastTrigger"]["files"], nlohmann::json({"a.c", "b.c"}));
  EXPECT_EQ(shown["lastTrigger"]["count"], 2);
  EXPECT_THAT(logs(), Contains(HasSubstr("changed: a.c, b.c; the server is reloaded")));
}

TEST_F(BridgeWatchTest, WithoutAPatternTheStatusShowsNone) {
  config.watch_patterns.clear();
  open_session();
  EXPECT_TRUE(watch().is_null());
}

TEST_F(BridgeWatchTest, AProblemIsToldOnceInTheNextResult) {
  open();
  watches(3, "the limit is reached");
  EXPECT_THAT(logs(), Contains("--watch: the limit is reached"));
  client(call(5, "echo"));
  child(1, result(5, text_result("a")));
  EXPECT_THAT(answer().dump(), HasSubstr("Not every save is noticed: the limit is reached."));
  client(call(6, "echo"));
  child(1, result(6, text_result("a")));
  EXPECT_THAT(answer().dump(), Not(HasSubstr("limit")));
  EXPECT_EQ(watch()["problem"], "the limit is reached");
}

TEST_F(BridgeWatchTest, APatternThatNoFileMatchesIsShownUntilAFileMatches) {
  open();
  watches(3, "", {"src"});
  EXPECT_THAT(logs(), Contains("--watch: no file matches src"));
  EXPECT_EQ(watch()["unmatched"], nlohmann::json({"src"}));
  watches(3);
  EXPECT_FALSE(watch().contains("unmatched"));
}

TEST_F(BridgeWatchTest, AProblemThatIsGoneIsNotTold) {
  open();
  watches(3, "the limit is reached");
  watches(3, "");
  client(call(5, "echo"));
  child(1, result(5, text_result("a")));
  EXPECT_THAT(answer().dump(), Not(HasSubstr("noticed")));
}

TEST_F(BridgeWatchTest, WithoutADebounceASaveReloadsAtOnceAndLeavesNoTimeout) {
  config.debounce = milliseconds(0);
  open();
  changes("a.c");
  EXPECT_THAT(done(), Contains("start 2"));
  opens(2);
  dies(1, 0);
  const auto next = bridge().next_timeout();
  EXPECT_TRUE(!next || *next > now.steady);
}

TEST_F(BridgeWatchTest, ABuildThatHasJustBegunReadsWhatWasSavedBefore) {
  config.build_command = "make";
  open();
  changes("a.c");
  // The call comes before the timer for the saved file.
  now.steady += milliseconds(300);
  client(rebuild(1));
  EXPECT_THAT(done(), ElementsAre("start build 1"));
  dies(build(1), 0);
  opens(2);
  dies(1, 0);
  time_passes(seconds(60));
  EXPECT_THAT(done(),
              AllOf(Contains(HasSubstr("the build succeeded")), Not(Contains("start build 2"))));
}

TEST_F(BridgeWatchTest, AKillEndsTheBuildThatASaveHasBegun) {
  config.build_command = "make";
  open_session();
  changes("a.c");
  time_passes(config.debounce);
  EXPECT_THAT(done(), Contains("start build 1"));
  client(call(1, "sitter_kill"));
  EXPECT_THAT(done(), Contains("close build 1"));
  dies(build(1), 143, "SIGTERM");
  dies(1, 0);
  answer();
  time_passes(seconds(60));
  EXPECT_THAT(done(), Not(Contains("start 2")));
}

TEST_F(BridgeWatchTest, AKillThatJoinsAnotherEndsWhatWasWantedBetweenThem) {
  config.build_command = "make";
  open_session();
  client(call(1, "sitter_kill"));
  client(call(2, "sitter_rebuild"));
  client(cancelled(2));
  client(call(3, "sitter_kill"));
  dies(build(1), 143, "SIGTERM");
  dies(1, 0);
  EXPECT_THAT(client_got(), SizeIs(2));
  changes("a.c");
  time_passes(seconds(60));
  EXPECT_THAT(done(), Not(Contains("start build 2")));
}

TEST_F(BridgeWatchTest, ABuildThatACallJoinedSurvivesAKill) {
  config.build_command = "make";
  open_session();
  changes("a.c");
  time_passes(config.debounce);
  client(call(1, "sitter_rebuild"));
  client(call(2, "sitter_kill"));
  dies(1, 0);
  dies(build(1), 0);
  EXPECT_THAT(done(), Contains("start 2"));
  opens(2);
  EXPECT_THAT(client_got(), Contains(HasSubstr("the build succeeded")));
}

TEST_F(BridgeWatchTest, ASaveStartsNothingAfterAKillThatFoundNothing) {
  open_session();
  dies(1, 139, "SIGSEGV");
  client(call(1, "sitter_kill"));
  answer();
  changes("a.c");
  time_passes(seconds(60));
  EXPECT_THAT(done(), Not(Contains("start 2")));
}

}  // namespace
}  // namespace sitter
