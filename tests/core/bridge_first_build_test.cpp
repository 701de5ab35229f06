#include "core/rebuild/pending_rebuild.hpp"
#include "support/rebuild_script.hpp"

namespace sitter {
namespace {

using ::testing::StartsWith;

/// The command of the server does not exist before the first build.
class BridgeFirstBuildTest : public BridgeRebuildTest {
 protected:
  BridgeFirstBuildTest() { plays.start = false; }

  /// The client opens a session, and the build of the server begins.
  void open_before_the_build() {
    client(initialize(0));
    start_finds_no_command(1);
    EXPECT_THAT(done(), ElementsAre("start 1", "start build 1"));
    started(build(1));
  }
  /// The bridge has answered the opening, and the build goes on.
  void answer_the_opening_during_the_build() {
    open_before_the_build();
    time_passes(config.answer_within);
    client(initialized());
    done();
  }
  /// The bridge has answered the opening, and no server was built.
  void fail_the_first_build() {
    open_before_the_build();
    child_says(build(1), "a.c:1:2: error: no");
    dies(build(1), 2);
    client(initialized());
    done();
  }
  /// The command is missing, and the build is tried again.
  void builds_again(Generation gen, int number) {
    EXPECT_THAT(done(), ElementsAre("start " + std::to_string(gen)));
    start_finds_no_command(gen);
    EXPECT_THAT(done(), ElementsAre("start build " + std::to_string(number)));
    started(build(number));
  }
  void expect_build_stopped() {
    EXPECT_THAT(done(), ElementsAre("close build 1", "terminate build 1"));
  }
  nlohmann::json status(const Id& id) {
    done();
    client(call(id, "sitter_status"));
    return nlohmann::json::parse(answer_text());
  }
};

TEST_F(BridgeFirstBuildTest, TheOpeningWaitsForTheBuildAndIsAnsweredByTheServer) {
  open_before_the_build();
  time_passes(seconds(7));
  dies(build(1), 0);
  EXPECT_THAT(done(), Contains("start 2"));
  started(2);
  EXPECT_THAT(done(), ElementsAre("child 2 " + initialize(0)));
  child(2, result(0, server.opening()));
  EXPECT_EQ(answer()["result"]["serverInfo"]["name"], "server");
}

TEST_F(BridgeFirstBuildTest, ASlowBuildIsNamedInTheOpeningAndItsServerIsAnnounced) {
  open_before_the_build();
  time_passes(config.answer_within - milliseconds(1));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(answer()["result"]["instructions"].get<std::string>(),
              HasSubstr("it is being built for the first time, and the build has been running for "
                        "8s. Wait, and then call sitter_status"));
  client(initialized());
  dies(build(1), 0);
  started(2);
  opens(2);
  EXPECT_THAT(client_got(), ElementsAre(notification("notifications/tools/list_changed")));
}

TEST_F(BridgeFirstBuildTest, ARequestWaitsForTheBuildAsForASlowStart) {
  open_before_the_build();
  time_passes(config.answer_within);
  client(initialized());
  client(call(1, "echo"));
  client(call(2, "echo"));
  done();
  time_passes(limits::kBuildPatience - milliseconds(1));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(
      client_got(),
      ElementsAre(HasSubstr("a build has been running for 53s (the server is not built yet)"),
                  HasSubstr("\"id\":2,")));
  client(call(3, "echo"));
  dies(build(1), 0);
  started(2);
  opens(2);
  EXPECT_THAT(done(), Contains("child 2 " + call(3, "echo")));
  child(2, result(3));
}

TEST_F(BridgeFirstBuildTest, TheCancellationOfTheLastRequestThatWaitsStopsTheBuild) {
  answer_the_opening_during_the_build();
  client(call(1, "echo"));
  client(call(2, "echo"));
  client(cancelled(1));
  EXPECT_THAT(done(), IsEmpty());
  client(cancelled(2));
  expect_build_stopped();
  dies(build(1), 143, "SIGTERM");
  EXPECT_THAT(done(), Not(Contains(StartsWith("start "))));
  client(call(3, "echo"));
  builds_again(2, 2);
  dies(build(2), 0);
  started(3);
  opens(3);
  EXPECT_THAT(done(), Contains("child 3 " + call(3, "echo")));
  child(3, result(3));
}

TEST_F(BridgeFirstBuildTest, ARequestDuringTheStopOfTheBuildStartsAnother) {
  answer_the_opening_during_the_build();
  client(call(1, "echo"));
  client(cancelled(1));
  client(call(2, "echo"));
  expect_build_stopped();
  dies(build(1), 143, "SIGTERM");
  EXPECT_THAT(done(), Contains("start 2"));
  start_finds_no_command(2);
  EXPECT_THAT(done(), ElementsAre("start build 2"));
  started(build(2));
  dies(build(2), 2);
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("\"id\":2,")));
}

TEST_F(BridgeFirstBuildTest, ACancellationStopsNoBuildForWhichTheOpeningWaits) {
  open_before_the_build();
  client(call(1, "echo"));
  client(cancelled(1));
  EXPECT_THAT(done(), IsEmpty());
  dies(build(1), 0);
  started(2);
  EXPECT_THAT(done(), Contains("child 2 " + initialize(0)));
  child(2, result(0, server.opening()));
}

TEST_F(BridgeFirstBuildTest, ACancellationOfARequestThatWasAnsweredStopsNoBuild) {
  answer_the_opening_during_the_build();
  client(call(1, "echo"));
  time_passes(limits::kBuildPatience);
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("call again to wait longer")));
  client(cancelled(1));
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(BridgeFirstBuildTest, ARebuildThatHasJoinedTheBuildKeepsItUntilItIsCancelledToo) {
  answer_the_opening_during_the_build();
  client(call(1, "echo"));
  client(rebuild(2));
  client(cancelled(1));
  EXPECT_THAT(done(), IsEmpty());
  client(cancelled(2));
  expect_build_stopped();
}

TEST_F(BridgeFirstBuildTest, ARequestKeepsTheBuildWhenARebuildThatHasJoinedIsCancelled) {
  answer_the_opening_during_the_build();
  client(call(1, "echo"));
  client(rebuild(2));
  client(cancelled(2));
  EXPECT_THAT(done(), IsEmpty());
  client(cancelled(1));
  expect_build_stopped();
}

TEST_F(BridgeFirstBuildTest, ACancelledRebuildStopsTheBuildForWhichNothingElseWaits) {
  answer_the_opening_during_the_build();
  client(rebuild(1));
  client(cancelled(1));
  expect_build_stopped();
}

TEST_F(BridgeFirstBuildTest, AReloadIsBuiltAfterTheBuildThatWasStopped) {
  answer_the_opening_during_the_build();
  client(call(1, "echo"));
  ask_reload();
  client(cancelled(1));
  expect_build_stopped();
  dies(build(1), 143, "SIGTERM");
  EXPECT_THAT(done(), Contains("start build 2"));
  started(build(2));
  client(call(2, "echo"));
  client(cancelled(2));
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(BridgeFirstBuildTest, TheCancellationOfAStreamStopsTheBuildForWhichNothingElseWaits) {
  client(listen(1, R"json({"toolsListChanged":true})json"));
  start_finds_no_command(1);
  started(build(1));
  done();
  client(cancelled(1));
  expect_build_stopped();
}

TEST_F(BridgeFirstBuildTest, TheBuildIsStoppedAfterTenMinutes) {
  answer_the_opening_during_the_build();
  time_passes(seconds(600) - config.answer_within - milliseconds(1));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(1));
  expect_build_stopped();
}

TEST_F(BridgeFirstBuildTest, AFailedBuildIsShownInTheOpening) {
  open_before_the_build();
  child_says(build(1), "a.c:1:2: error: no");
  time_passes(seconds(3));
  dies(build(1), 2);
  const auto got = done();
  EXPECT_THAT(got, Not(Contains("start 2")));
  EXPECT_THAT(got, Contains(AllOf(HasSubstr("the server could not be started: it is not built yet, "
                                            "and the build failed (exit 2) after 3s."),
                                  HasSubstr("Output of the build (sitter_build_log shows more):"),
                                  HasSubstr("1 error:\\na.c:1:2: error: no\\nIts tools"))));
}

TEST_F(BridgeFirstBuildTest, TheOpeningQuotes1024BytesOfTheBuildAndNoMore) {
  const std::string line(500, 'x');
  open_before_the_build();
  child_says(build(1), line);
  child_says(build(1), line);
  child_says(build(1), line.substr(0, 22));
  dies(build(1), 2);
  EXPECT_THAT(answer()["result"]["instructions"].get<std::string>(),
              HasSubstr("\n" + line.substr(0, 22) + "\nIts tools"));
  client(initialize(1));
  builds_again(2, 2);
  child_says(build(2), line);
  child_says(build(2), line);
  child_says(build(2), line.substr(0, 23));
  dies(build(2), 2);
  EXPECT_THAT(answer()["result"]["instructions"].get<std::string>(),
              HasSubstr("\n" + line.substr(0, 22) + "… [1 byte cut]\nIts tools"));
}

TEST_F(BridgeFirstBuildTest, EachRequestAfterAFailedBuildBuildsAgainAndShowsWhy) {
  fail_the_first_build();
  for (int number = 2; number <= 5; ++number) {
    client(call(number, "echo"));
    client(request(100 + number, "prompts/get"));
    builds_again(number, number);
    child_says(build(number), "a.c:1:2: error: still no");
    time_passes(seconds(2));
    dies(build(number), 2);
    const auto got = done();
    EXPECT_THAT(got, Contains(AllOf(HasSubstr("\"isError\":true"), HasSubstr("not delivered"),
                                    HasSubstr("1 error:\\na.c:1:2: error: still no"))));
    EXPECT_THAT(got, Contains(AllOf(HasSubstr("-32603"),
                                    HasSubstr("\"buildOutput\":\"1 error:\\na.c:1:2"))));
    EXPECT_THAT(got, Not(Contains(StartsWith("start "))));
  }
  client(call(6, "echo"));
  builds_again(6, 6);
  dies(build(6), 0);
  started(7);
  opens(7);
  EXPECT_THAT(done(), Contains("child 7 " + call(6, "echo")));
  child(7, result(6, text_result("x")));
  // The answers have told of the builds that failed.
  EXPECT_THAT(client_got(), ElementsAre(Not(HasSubstr("failed"))));
}

TEST_F(BridgeFirstBuildTest, ABuildThatMakesNoCommandFailsWithoutRetrying) {
  open_before_the_build();
  dies(build(1), 0);
  done();
  start_finds_no_command(2);
  auto got = done();
  EXPECT_THAT(got, AllOf(SizeIs(1), Contains(HasSubstr("the build succeeded, and server still does "
                                                       "not exist"))));
  client(initialized());
  client(call(1, "echo"));
  builds_again(3, 2);
  dies(build(2), 0);
  done();
  start_finds_no_command(4);
  got = done();
  EXPECT_THAT(got, AllOf(SizeIs(1), Contains(HasSubstr("the build succeeded, and server still does "
                                                       "not exist"))));
}

TEST_F(BridgeFirstBuildTest, TheStatusSaysThatTheBuildFailedAndWhatShowsIt) {
  open_before_the_build();
  time_passes(seconds(3));
  dies(build(1), 2);
  time_passes(seconds(5));
  const auto shown = status(1);
  const std::string what =
      "the server could not be started: it is not built yet, and the build failed (exit 2) after "
      "3s (sitter_build_log shows the build)";
  EXPECT_EQ(shown["summary"],
            "No server is running; 5s ago, " + what + "; the next request starts it.");
  EXPECT_EQ(shown["lastFailure"]["what"], what);
  EXPECT_EQ(shown["lastFailure"]["ageSeconds"], 5);
}

TEST_F(BridgeFirstBuildTest, AListAfterAFailedBuildStartsNothingAndTheNextCallBuilds) {
  fail_the_first_build();
  client(request(1, "tools/list"));
  EXPECT_THAT(done(), ElementsAre(HasSubstr("sitter_status")));
  EXPECT_THAT(status(2)["summary"].get<std::string>(), HasSubstr("the build failed (exit 2)"));
  done();
  time_passes(seconds(10));
  client(call(3, "echo"));
  builds_again(2, 2);
  dies(build(2), 2);
  EXPECT_THAT(answer_text(), HasSubstr("the build failed"));
}

TEST_F(BridgeFirstBuildTest, TheStatusForAPersonNamesTheCommandThatShowsTheBuild) {
  fail_the_first_build();
  control(7, R"json({"command":"status"})json");
  EXPECT_THAT(control_got(7),
              ElementsAre(HasSubstr("the build failed (exit 2) after 0s (mcp-sitter ctl reload "
                                    "builds again and shows the output)")));
}

TEST_F(BridgeFirstBuildTest, TheStatusSaysThatTheBuildBroughtNoCommand) {
  open_before_the_build();
  dies(build(1), 0);
  start_finds_no_command(2);
  const auto shown = status(1);
  const std::string what =
      "the server could not be started: the build succeeded, and server still does not exist "
      "(sitter_build_log shows the build)";
  EXPECT_THAT(shown["summary"].get<std::string>(), HasSubstr(what));
  EXPECT_EQ(shown["lastFailure"]["what"], what);
}

TEST_F(BridgeFirstBuildTest, TheStatusSaysThatTheBuildWasStopped) {
  fail_the_first_build();
  client(call(1, "echo"));
  builds_again(2, 2);
  client(call(2, "sitter_kill"));
  dies(build(2), 143, "SIGTERM");
  EXPECT_THAT(status(3)["summary"].get<std::string>(),
              HasSubstr("it is not built yet, and the build was stopped after 0s (sitter_build_log "
                        "shows the build)"));
}

TEST_F(BridgeFirstBuildTest, AProbeBuildsNothing) {
  client(enveloped("\"p\"", "server/discover"));
  start_finds_no_command(1);
  EXPECT_THAT(done(),
              ElementsAre("start 1", AllOf(HasSubstr(R"json("id":"p")json"), HasSubstr("-32601"))));
  client(initialize(0));
  EXPECT_THAT(done(), ElementsAre("start 2"));
  start_finds_no_command(2);
  EXPECT_THAT(done(), ElementsAre("start build 1"));
  started(build(1));
  dies(build(1), 2);
}

TEST_F(BridgeFirstBuildTest, ARebuildAndAReloadBuildTheMissingServer) {
  fail_the_first_build();
  client(rebuild(1));
  EXPECT_THAT(done(), ElementsAre("start build 2"));
  started(build(2));
  dies(build(2), 2);
  EXPECT_THAT(text_of(rebuilt()), HasSubstr("the build failed (exit 2)"));
  ask_reload();
  EXPECT_THAT(done(), ElementsAre("start build 3"));
  started(build(3));
  dies(build(3), 0);
  started(2);
  opens(2);
}

TEST_F(BridgeFirstBuildTest, ARequestDuringARebuildThatFailsIsAnsweredWithItsOutput) {
  fail_the_first_build();
  client(rebuild(1));
  started(build(2));
  client(call(2, "echo"));
  child_says(build(2), "a.c:1:2: error: still no");
  dies(build(2), 2);
  const auto got = done();
  EXPECT_THAT(got, Contains(AllOf(HasSubstr("\"id\":2,"), HasSubstr("error: still no"))));
  EXPECT_THAT(got, Not(Contains("start 2")));
}

TEST_F(BridgeFirstBuildTest, AReloadDuringTheBuildLeadsToAnotherBuildForWhichTheOpeningWaits) {
  open_before_the_build();
  ask_reload();
  dies(build(1), 2);
  EXPECT_THAT(done(), ElementsAre("release build 1", "start build 2"));
  started(build(2));
  dies(build(2), 0);
  started(2);
  EXPECT_THAT(done(), Contains("child 2 " + initialize(0)));
  child(2, result(0, server.opening()));
}

TEST_F(BridgeFirstBuildTest, ASaveBuildsTheMissingServer) {
  config.watch_patterns = {"src"};
  fail_the_first_build();
  changes("src/a.c");
  time_passes(config.debounce);
  EXPECT_THAT(done(), ElementsAre("start build 2"));
  started(build(2));
  dies(build(2), 0);
  started(2);
  opens(2);
  EXPECT_THAT(client_got(), ElementsAre(notification("notifications/tools/list_changed")));
}

TEST_F(BridgeFirstBuildTest, AKillEndsTheBuildAndAnswersTheRequests) {
  fail_the_first_build();
  client(call(1, "echo"));
  builds_again(2, 2);
  client(call(2, "sitter_kill"));
  EXPECT_THAT(client_got(), Contains(AllOf(HasSubstr("\"id\":1,"), HasSubstr("not delivered"))));
  dies(build(2), 143, "SIGTERM");
  EXPECT_THAT(done(), Not(Contains(StartsWith("start "))));
}

TEST_F(BridgeFirstBuildTest, AServerThatWasDeletedIsBuiltForTheNextRequest) {
  client(initialize(0));
  started(1);
  opens(1);
  client(initialized());
  opens(1);
  dies(1, 3);
  done();
  client(call(1, "echo"));
  builds_again(2, 1);
  dies(build(1), 0);
  started(3);
  opens(3);
  EXPECT_THAT(done(), Contains("child 3 " + call(1, "echo")));
  child(3, result(1));
}

TEST_F(BridgeFirstBuildTest, OtherFailedStartsRunNoBuild) {
  client(initialize(0));
  start_fails(1, "it is not executable");
  EXPECT_THAT(done(), ElementsAre("start 1", HasSubstr("it is not executable")));
}

TEST_F(BridgeFirstBuildTest, WithoutABuildCommandAMissingServerIsAFailedStart) {
  config.build_command.clear();
  client(initialize(0));
  start_finds_no_command(1);
  EXPECT_THAT(done(), ElementsAre("start 1", HasSubstr("no such file")));
}

TEST_F(BridgeFirstBuildTest, NoBuildBeginsWhenTheSessionEnds) {
  client(initialize(0));
  client_closes_input();
  start_finds_no_command(1);
  EXPECT_THAT(done(), AllOf(Contains("start 1"), Contains(HasSubstr("no such file")),
                            Not(Contains("start build 1"))));
}

}  // namespace
}  // namespace sitter
