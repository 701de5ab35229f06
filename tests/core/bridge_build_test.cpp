#include "core/child/ending.hpp"
#include "core/rebuild/build.hpp"
#include "support/rebuild_script.hpp"

namespace sitter {
namespace {

/// The build of sitter_rebuild, and the call that waits for it.
class BridgeBuildTest : public BridgeRebuildTest {};

TEST_F(BridgeBuildTest, ItIsOfferedOnlyWithABuildCommand) {
  open_session();
  client(request(1, "tools/list"));
  child(1, result(1, Server::list("tools", server.tools)));
  EXPECT_THAT(done(), Contains(AllOf(HasSubstr(R"json("name":"sitter_rebuild")json"),
                                     HasSubstr(R"json("name":"sitter_build_log")json"))));
}

TEST_F(BridgeBuildTest, LeavesTheNameToTheServerWithoutABuildCommand) {
  config.build_command.clear();
  open_session();
  client(rebuild(1));
  EXPECT_THAT(done(), ElementsAre("child 1 " + rebuild(1)));
  child(1, result(1));
}

TEST_F(BridgeBuildTest, AFailedBuildLeavesTheServerAlone) {
  open_session();
  client(rebuild(1));
  child_says(build(1), "a.c:1: error: no");
  dies(build(1), 2);
  const auto answer = rebuilt();
  EXPECT_TRUE(answer.value("isError", false));
  EXPECT_THAT(text_of(answer), AllOf(HasSubstr("the build failed (exit 2)"), HasSubstr("serves on"),
                                     HasSubstr("a.c:1: error: no")));
  client(call(2, "echo"));
  EXPECT_THAT(done(), ElementsAre("child 1 " + call(2, "echo")));
  child(1, result(2, text_result("nothing")));
  EXPECT_THAT(client_got(), ElementsAre(result(2, text_result("nothing"))));
}

TEST_F(BridgeBuildTest, AFailedBuildLeavesAServerAloneThatIsStillStarting) {
  client(initialize(0));
  client(rebuild(1));
  dies(build(1), 2);
  EXPECT_THAT(text_of(rebuilt()), HasSubstr("that was already starting was not touched"));
  child(1, result(0, server.opening()));
  EXPECT_THAT(client_got(), SizeIs(1));
}

TEST_F(BridgeBuildTest, AfterAFailedBuildTheNextNoticeSaysThatTheProgramIsFromBeforeIt) {
  open_session();
  client(rebuild(1, R"json({"mode":"kill-first"})json"));
  dies(1, 0);
  dies(build(1), 2);
  rebuilt();
  client(call(2, "echo"));
  opens(2);
  child(2, result(2, text_result("x")));
  EXPECT_THAT(answer_text(),
              HasSubstr("\nthe build failed (exit 2) after 0s, so this is the program from before "
                        "it; fix the error and build again (sitter_build_log shows the build)"));
}

TEST_F(BridgeBuildTest, DoesNotCallAProgramOlderThanAFailedBuildThatItIsNewerThan) {
  open_session();
  client(rebuild(1, R"json({"mode":"kill-first"})json"));
  dies(1, 0);
  dies(build(1), 2);
  rebuilt();
  time_passes(seconds(1));
  binary.modified = now.wall;
  client(call(2, "echo"));
  opens(2);
  child(2, result(2, text_result("x")));
  EXPECT_THAT(answer_text(), AllOf(HasSubstr("server restarted"), Not(HasSubstr("from before"))));
}

TEST_F(BridgeBuildTest, ABuildThatCannotBeStartedIsSaid) {
  plays.start = false;
  client(initialize(0));
  started(1);
  opens(1);
  client(initialized());
  opens(1);
  client(rebuild(1));
  start_fails(build(1), "can't start /bin/sh: no such file");
  const auto answer = rebuilt();
  EXPECT_TRUE(answer.value("isError", false));
  EXPECT_THAT(text_of(answer), HasSubstr("the build could not be started: can't start /bin/sh"));
}

TEST_F(BridgeBuildTest, WithoutASessionTheServerIsNotStarted) {
  client(rebuild(1));
  dies(build(1), 0);
  EXPECT_THAT(text_of(rebuilt()), HasSubstr("started when the client opens a session"));
}

TEST_F(BridgeBuildTest, ASecondCallJoinsTheFirst) {
  open_session();
  client(rebuild(1));
  time_passes(seconds(2));
  client(rebuild(2, R"json({"mode":"kill-first"})json"));
  EXPECT_THAT(done(), ElementsAre("start build 1"));
  dies(build(1), 2);
  const auto got = client_got();
  ASSERT_THAT(got, SizeIs(2));
  EXPECT_THAT(got[0],
              AllOf(HasSubstr("\"id\":1,"), HasSubstr("build failed"), Not(HasSubstr("joined"))));
  EXPECT_THAT(got[1], AllOf(HasSubstr("\"id\":2,"), HasSubstr("build failed"),
                            HasSubstr("joined a build that had been running for 2s")));
}

TEST_F(BridgeBuildTest, ACancelledCallStopsTheBuild) {
  open_session();
  client(rebuild(1));
  done();
  client(cancelled(1));
  EXPECT_THAT(done(), ElementsAre("close build 1", "terminate build 1"));
  time_passes(milliseconds(500));
  EXPECT_THAT(done(), ElementsAre("kill build 1"));
  dies(build(1), 137, "SIGKILL");
  EXPECT_THAT(done(), ElementsAre("kill build 1", "release build 1"));
}

TEST_F(BridgeBuildTest, CancellingOneOfTwoCallsKeepsTheBuild) {
  open_session();
  client(rebuild(1));
  client(rebuild(2));
  done();
  client(cancelled(1));
  EXPECT_THAT(done(), IsEmpty());
  dies(build(1), 2);
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("\"id\":2,")));
}

TEST_F(BridgeBuildTest, ACallDuringTheStopOfABuildStartsAnotherBuild) {
  open_session();
  client(rebuild(1));
  client(cancelled(1));
  client(rebuild(2, R"json({"mode":"kill-first"})json"));
  done();
  dies(build(1), 143, "SIGTERM");
  EXPECT_THAT(done(), Contains("close 1"));
  dies(1, 0);
  EXPECT_THAT(done(), Contains("start build 2"));
  dies(build(2), 2);
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("\"id\":2,")));
}

TEST_F(BridgeBuildTest, ABuildThatDoesNotEndIsStoppedAtItsLimit) {
  open_session();
  client(rebuild(1, R"json({"timeout_seconds":7})json"));
  done();
  time_passes(milliseconds(6999));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(done(), ElementsAre("close build 1", "terminate build 1"));
  dies(build(1), 143, "SIGTERM");
  EXPECT_THAT(text_of(rebuilt()), HasSubstr("the build had not ended after 7s and was stopped"));
}

TEST_F(BridgeBuildTest, WrongArgumentsAreNamed) {
  open_session();
  client(rebuild(1, R"json({"mode":"fast"})json"));
  EXPECT_EQ(answer_text(), "mode must be swap or kill-first");
  client(rebuild(2, R"json({"timeout_seconds":0})json"));
  EXPECT_EQ(answer_text(), "timeout_seconds must be a whole number from 1 to 86400");
}

TEST_F(BridgeBuildTest, ProgressIsTheNewestLineAtMostFourTimesASecond) {
  open_session();
  client(call_with_progress(1, "sitter_rebuild"));
  done();
  child_says(build(1), "one");
  EXPECT_THAT(client_got(), ElementsAre(notification(
                                "notifications/progress",
                                R"json({"progressToken":1,"progress":1,"message":"one"})json")));
  child_says(build(1), "two");
  child_says(build(1), "three");
  time_passes(milliseconds(249));
  EXPECT_THAT(client_got(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr(R"json("progress":3,"message":"three")json")));
  time_passes(seconds(1));
  EXPECT_THAT(client_got(), IsEmpty());
  dies(build(1), 2);
}

TEST_F(BridgeBuildTest, TheLogSaysHowMuchOfItIsNotKept) {
  open_session();
  client(rebuild(2));
  for (std::size_t i = 0; i < limits::kBuildLogLinesMax + 7; ++i) child_says(build(1), "CC a.c");
  done();
  client(call(1, "sitter_build_log", R"json({"lines":1})json"));
  EXPECT_EQ(answer_text(), "[... 7 lines not kept]\nCC a.c");
  dies(build(1), 2);
}

TEST_F(BridgeBuildTest, TheLogOfABuildThatRunsAndOfTheLastOne) {
  open_session();
  client(call(1, "sitter_build_log"));
  EXPECT_EQ(answer_text(), "(nothing has been built yet)");
  client(rebuild(2));
  child_says(build(1), "CC a.c");
  child_says(build(1), "CC b.c");
  done();
  client(call(3, "sitter_build_log", R"json({"grep":"b"})json"));
  EXPECT_EQ(answer_text(), "CC b.c");
  dies(build(1), 2);
  done();
  client(call(4, "sitter_build_log", R"json({"lines":1})json"));
  EXPECT_EQ(answer_text(), "CC b.c");
}

TEST_F(BridgeBuildTest, StatusShowsTheBuild) {
  open_session();
  client(rebuild(1));
  done();
  client(call(2, "sitter_status"));
  auto status = nlohmann::json::parse(answer_text());
  EXPECT_EQ(status["build"]["command"], "make");
  EXPECT_EQ(status["build"]["running"], true);
  EXPECT_EQ(status["build"]["lastResult"], nullptr);
  time_passes(seconds(2));
  dies(build(1), 2);
  done();
  client(call(3, "sitter_status"));
  status = nlohmann::json::parse(answer_text());
  EXPECT_EQ(status["build"]["running"], false);
  EXPECT_EQ(status["build"]["lastResult"], "failed");
  EXPECT_EQ(status["build"]["exitCode"], 2);
  EXPECT_EQ(status["build"]["durationMs"], 2000);
}

TEST_F(BridgeBuildTest, AKillDuringTheBuildLeavesTheBuild) {
  open_session();
  client(rebuild(1));
  client(call(2, "sitter_kill"));
  EXPECT_THAT(done(), ElementsAre("start build 1", "close 1"));
  dies(1, 0);
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("\"id\":2,")));
  dies(build(1), 0);
  opens(2);
  EXPECT_THAT(text_of(rebuilt()), HasSubstr("spawn #2"));
}

TEST_F(BridgeBuildTest, AnAnswerIsWaitedForAtTheEnd) {
  open_session();
  client(rebuild(1));
  done();
  client_closes_input();
  EXPECT_THAT(done(), IsEmpty());
  dies(build(1), 2);
  EXPECT_THAT(done(), ElementsAre("release build 1", HasSubstr("the build failed"), "close 1"));
}

TEST_F(BridgeBuildTest, ASignalTakesTheBuildDownToo) {
  open_session();
  client(rebuild(1));
  done();
  signal(143);
  EXPECT_THAT(done(), ElementsAre("close 1", "terminate 1", "close build 1", "terminate build 1"));
  time_passes(milliseconds(200));
  EXPECT_THAT(done(), ElementsAre("kill build 1", "kill 1"));
  dies(build(1), 137, "SIGKILL");
  dies(1, 137, "SIGKILL");
  EXPECT_THAT(done(), AllOf(Contains(HasSubstr("\"id\":1,")), Contains("exit 143 at once")));
}

TEST_F(BridgeBuildTest, DropsPendingProgressWhenTheBuildEnds) {
  open_session();
  client(call_with_progress(1, "sitter_rebuild"));
  child_says(build(1), "one");
  child_says(build(1), "two");
  dies(build(1), 0);
  // Otherwise the program would spin until the new server is there.
  EXPECT_GT(*bridge().next_timeout(), now.steady + seconds(1));
  opens(2);
}

TEST_F(BridgeBuildTest, ACancelledBuildTellsNothingToTheNextCaller) {
  open_session();
  client(call_with_progress(1, "sitter_rebuild"));
  client(cancelled(1));
  client(call_with_progress(2, "sitter_rebuild"));
  child_says(build(1), "old");
  EXPECT_THAT(client_got(), IsEmpty());
  dies(build(1), 143, "SIGTERM");
  child_says(build(2), "new");
  EXPECT_THAT(client_got(),
              ElementsAre(AllOf(HasSubstr(R"json("progressToken":2,"progress":1,)json"),
                                HasSubstr("new"))));
  dies(build(2), 2);
}

TEST_F(BridgeBuildTest, ABuildThatHasEndedIsNotStoppedForItsOutput) {
  open_session();
  client(rebuild(1, R"json({"timeout_seconds":7})json"));
  time_passes(milliseconds(6900));
  exits(build(1), 0);
  // A process that the build has left behind still holds its output.
  time_passes(milliseconds(300));
  EXPECT_THAT(done(), Contains("start 2"));
  opens(2);
  EXPECT_THAT(text_of(rebuilt()), HasSubstr("the build succeeded after 6.9s"));
}

TEST_F(BridgeBuildTest, NoBuildBeginsAtTheEnd) {
  open_session();
  client(call(2, "hang"));
  client(rebuild(1, R"json({"mode":"kill-first"})json"));
  signal(143);
  done();
  dies(1, 137, "SIGKILL");
  const auto did = done();
  EXPECT_THAT(did, Not(Contains("start build 1")));
  EXPECT_THAT(did, Contains("exit 143 at once"));
}

TEST_F(BridgeBuildTest, NoDeadlineOfABuildIsLeftWithoutAHandler) {
  open_session();
  client(call(2, "hang"));
  client(rebuild(1, R"json({"mode":"kill-first"})json"));
  client_closes_input();
  time_passes(limits::kOwedWait);
  const auto next = bridge().next_timeout();
  ASSERT_TRUE(next);
  EXPECT_GT(*next, now.steady);
  dies(1, 0);
}

}  // namespace
}  // namespace sitter
