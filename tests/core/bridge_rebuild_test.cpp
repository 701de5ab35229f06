#include "support/stateless_script.hpp"

namespace sitter {
namespace {

/// sitter_rebuild in a session that was opened with initialize.
class BridgeRebuildTest : public BridgeTest {
 protected:
  BridgeRebuildTest() { config.build_command = "make"; }

  static std::string rebuild(const Id& id, const std::string& arguments = "{}") {
    return call(id, "sitter_rebuild", arguments);
  }

  /// Call 1 rebuilds, and the build works.
  void build_works() {
    client(rebuild(1));
    dies(build(1), 0);
  }

  /// The only answer among what was done.
  nlohmann::json rebuilt() {
    nlohmann::json found;
    for (const std::string& line : client_got()) {
      auto message = nlohmann::json::parse(line, nullptr, false);
      if (message.value("id", 0) != 1) continue;
      EXPECT_TRUE(found.is_null()) << "a second answer";
      found = std::move(message["result"]);
    }
    EXPECT_FALSE(found.is_null()) << "no answer";
    return found;
  }
  static std::string text_of(const nlohmann::json& result) {
    return result.is_object() ? result["content"][0]["text"].get<std::string>() : "";
  }
};

TEST_F(BridgeRebuildTest, ItIsOfferedOnlyWithABuildCommand) {
  open_session();
  client(request(1, "tools/list"));
  child(1, result(1, Server::list("tools", server.tools)));
  EXPECT_THAT(done(), Contains(AllOf(HasSubstr(R"json("name":"sitter_rebuild")json"),
                                     HasSubstr(R"json("name":"sitter_build_log")json"))));
}

TEST_F(BridgeRebuildTest, WithoutOneTheNameIsTheServers) {
  config.build_command.clear();
  open_session();
  client(rebuild(1));
  EXPECT_THAT(done(), ElementsAre("child 1 " + rebuild(1)));
  child(1, result(1));
}

TEST_F(BridgeRebuildTest, TheOldServerServesUntilTheNewOneDoes) {
  open_session();
  client(rebuild(1));
  EXPECT_THAT(done(), ElementsAre("start build 1"));
  client(call(2, "echo"));
  EXPECT_THAT(done(), ElementsAre("child 1 " + call(2, "echo")));
  child(1, result(2));
  child_says(build(1), "CC a.c");
  exits(build(1), 0);
  EXPECT_THAT(done(), ElementsAre("client " + result(2), "terminate build 1"));
  closes_output(build(1));
  EXPECT_THAT(done(), ElementsAre("release build 1", "start 2", HasSubstr("child 2 {")));
  client(call(3, "echo"));
  EXPECT_THAT(done(), ElementsAre("child 1 " + call(3, "echo")));
  child(1, result(3));
  done();
  opens(2);
  const auto did = done();
  EXPECT_THAT(did, Contains("close 1"));
  EXPECT_THAT(did.back(), AllOf(HasSubstr("\"id\":1,"), HasSubstr("the build succeeded after"),
                                HasSubstr("server restarted (spawn #2, pid 1002"),
                                HasSubstr("previous: replaced after"), HasSubstr("CC a.c"),
                                Not(HasSubstr("isError"))));
  client(call(4, "echo"));
  EXPECT_THAT(done(), ElementsAre("child 2 " + call(4, "echo")));
  dies(1, 0);
  child(2, result(4, text_result("nothing")));
  EXPECT_THAT(client_got(), ElementsAre(result(4, text_result("nothing"))));
}

TEST_F(BridgeRebuildTest, TheNoticeIsNotRepeated) {
  open_session();
  time_passes(seconds(45));
  server.tools = {tool("echo"), tool("find")};
  build_works();
  opens(2);
  EXPECT_THAT(text_of(rebuilt()), AllOf(HasSubstr("previous: replaced after 45s"),
                                        HasSubstr("tools: +1 added (find)")));
  client(call(2, "find"));
  child(2, result(2, text_result("found")));
  EXPECT_THAT(client_got(), ElementsAre(result(2, text_result("found"))));
}

TEST_F(BridgeRebuildTest, TheAnswerWaitsUntilTheClientHasListed) {
  open_listed_session();
  server.tools = {tool("echo"), tool("find")};
  build_works();
  opens(2);
  EXPECT_THAT(client_got(), ElementsAre(notification("notifications/tools/list_changed")));
  client(request(2, "tools/list"));
  child(2, result(2, Server::list("tools", server.tools)));
  time_passes(milliseconds(1));
  const auto got = client_got();
  ASSERT_THAT(got, SizeIs(2));
  EXPECT_THAT(got[0], HasSubstr("\"id\":2,"));
  EXPECT_THAT(got[1], AllOf(HasSubstr("\"id\":1,"), HasSubstr("+1 added (find)")));
}

TEST_F(BridgeRebuildTest, AFailedBuildLeavesTheServerAlone) {
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

TEST_F(BridgeRebuildTest, ABuildThatCannotBeStartedIsSaid) {
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

TEST_F(BridgeRebuildTest, ANewServerThatDiesInItsOpeningLeavesTheOldOne) {
  open_session();
  build_works();
  child_says(2, "port 80 is in use");
  dies(2, 1);
  const auto answer = rebuilt();
  EXPECT_TRUE(answer.value("isError", false));
  EXPECT_THAT(text_of(answer), AllOf(HasSubstr("it ended (exit 1)"), HasSubstr("serves on"),
                                     HasSubstr("kill-first"), HasSubstr("port 80 is in use")));
  client(call(2, "echo"));
  EXPECT_THAT(done(), ElementsAre("child 1 " + call(2, "echo")));
  child(1, result(2, text_result("nothing")));
  // The model has read of it, and the next restart has a predecessor that served.
  EXPECT_THAT(client_got(), ElementsAre(result(2, text_result("nothing"))));
  dies(1, 0);
  client(call(3, "echo"));
  opens(3);
  child(3, result(3, text_result("a")));
  EXPECT_THAT(client_got(), Contains(AllOf(HasSubstr("previous: exit 0 after"),
                                           Not(HasSubstr("failed before this one")))));
}

TEST_F(BridgeRebuildTest, ANewServerThatHangsIsTakenDownAtItsLimit) {
  open_session();
  build_works();
  time_passes(config.startup_timeout);
  dies(2, 0);
  const auto answer = rebuilt();
  EXPECT_TRUE(answer.value("isError", false));
  EXPECT_THAT(text_of(answer), HasSubstr("it had not answered its opening after 50s"));
}

TEST_F(BridgeRebuildTest, TheStderrOfTheNewServerIsKeptApartUntilItServes) {
  open_session();
  build_works();
  child_says(1, "old 1");
  child_says(2, "new 1");
  child_says(1, "old 2");
  client(call(2, "sitter_child_stderr"));
  EXPECT_EQ(answer()["result"]["content"][0]["text"], "old 1\nold 2");
  opens(2);
  done();
  child_says(2, "new 2");
  client(call(3, "sitter_child_stderr"));
  EXPECT_EQ(answer()["result"]["content"][0]["text"],
            "old 1\nold 2\n----- child respawn (gen 2, pid 1002) -----\nnew 1\nnew 2");
}

TEST_F(BridgeRebuildTest, TheOldServerFinishesWhatItHas) {
  open_session();
  client(call(2, "slow"));
  build_works();
  opens(2);
  EXPECT_THAT(done(), Not(Contains("close 1")));
  client(call(3, "echo"));
  EXPECT_THAT(done(), ElementsAre("child 2 " + call(3, "echo")));
  child(1, result(2, text_result("late")));
  EXPECT_THAT(done(), ElementsAre("client " + result(2, text_result("late")), "close 1"));
  child(2, result(3));
}

TEST_F(BridgeRebuildTest, ButNotForEver) {
  open_session();
  client(call(2, "hang"));
  client(request(3, "resources/read", R"json({"uri":"a:b"})json"));
  build_works();
  opens(2);
  done();
  time_passes(seconds(9));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(seconds(1));
  EXPECT_THAT(done(), ElementsAre("close 1"));
  dies(1, 0);
  const auto did = done();
  EXPECT_THAT(did, Contains(AllOf(HasSubstr("client "), HasSubstr("\"id\":2,"),
                                  HasSubstr("was replaced by a new one after"),
                                  HasSubstr("may or may not have taken effect"))));
  // A read may be asked of the new one.
  EXPECT_THAT(did, Contains("child 2 " + request(3, "resources/read", R"json({"uri":"a:b"})json")));
  child(2, result(3));
}

TEST_F(BridgeRebuildTest, ABusyServerCanBeInterrupted) {
  config.on_busy_wait = Milliseconds::zero();
  open_session();
  client(call(2, "hang"));
  build_works();
  opens(2);
  EXPECT_THAT(done(), Contains("close 1"));
  dies(1, 0);
  EXPECT_THAT(client_got(), Contains(HasSubstr("\"id\":2,")));
}

TEST_F(BridgeRebuildTest, KillFirstTakesTheServerDownBeforeTheBuild) {
  open_session();
  client(rebuild(1, R"json({"mode":"kill-first"})json"));
  EXPECT_THAT(done(), ElementsAre("close 1"));
  // What comes meanwhile waits for the new one.
  client(call(2, "echo"));
  client(request(3, "ping"));
  EXPECT_THAT(client_got(), ElementsAre(result(3)));
  dies(1, 0);
  EXPECT_THAT(done(), ElementsAre("terminate 1", "release 1", "start build 1"));
  client(call(4, "echo"));
  EXPECT_THAT(done(), IsEmpty());
  dies(build(1), 0);
  EXPECT_THAT(done(), Contains("start 2"));
  opens(2);
  const auto did = done();
  EXPECT_THAT(did, Contains(AllOf(HasSubstr("\"id\":1,"), HasSubstr("server restarted (spawn #2"),
                                  HasSubstr("previous: replaced"))));
  EXPECT_THAT(did, Contains("child 2 " + call(2, "echo")));
  EXPECT_THAT(did, Contains("child 2 " + call(4, "echo")));
  child(2, result(2));
  child(2, result(4));
}

TEST_F(BridgeRebuildTest, KillFirstLetsTheServerFinishWhatItHas) {
  open_session();
  client(call(2, "slow"));
  client(rebuild(1, R"json({"mode":"kill-first"})json"));
  done();
  client(call(3, "echo"));
  EXPECT_THAT(done(), IsEmpty());
  child(1, result(2, text_result("late")));
  EXPECT_THAT(done(), ElementsAre("client " + result(2, text_result("late")), "close 1"));
  dies(1, 0);
  dies(build(1), 2);
  // The next request starts what is there.
  const auto did = done();
  EXPECT_THAT(did, Contains(AllOf(HasSubstr("\"id\":1,"), HasSubstr("No server runs"))));
  EXPECT_THAT(did, Contains("start 2"));
  opens(2);
  child(2, result(3));
}

TEST_F(BridgeRebuildTest, KillFirstInterruptsAServerThatDoesNotFinish) {
  open_session();
  client(call(2, "hang"));
  client(rebuild(1, R"json({"mode":"kill-first"})json"));
  done();
  time_passes(seconds(10));
  EXPECT_THAT(done(), ElementsAre("close 1"));
  dies(1, 0);
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("\"id\":2,"),
                                              HasSubstr("was replaced by a new one after"))));
  dies(build(1), 0);
  opens(2);
}

TEST_F(BridgeRebuildTest, AServerThatDiesDuringTheBuildIsNotStartedFromTheOldOne) {
  open_session();
  client(rebuild(1));
  dies(1, 3);
  done();
  client(call(2, "echo"));
  EXPECT_THAT(done(), IsEmpty());
  dies(build(1), 0);
  EXPECT_THAT(done(), Contains("start 2"));
  opens(2);
  EXPECT_THAT(done(), Contains("child 2 " + call(2, "echo")));
  child(2, result(2));
}

TEST_F(BridgeRebuildTest, AnOldServerThatDiesWhileTheNewOneOpensHasItsSuccessor) {
  open_session();
  client(call(2, "crash"));
  build_works();
  dies(1, 3);
  EXPECT_THAT(client_got(), Contains(AllOf(HasSubstr("\"id\":2,"), HasSubstr("crashed (exit 3)"))));
  client(call(3, "echo"));
  child_says(2, "loading");
  opens(2);
  const auto did = done();
  EXPECT_THAT(did, Contains(AllOf(HasSubstr("\"id\":1,"), HasSubstr("spawn #2"),
                                  HasSubstr("previous: ⚠ crashed (exit 3)"))));
  client(call(4, "sitter_child_stderr"));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("loading")));
  EXPECT_THAT(did, Contains("child 2 " + call(3, "echo")));
  child(2, result(3));
}

TEST_F(BridgeRebuildTest, AServerThatIsDownIsStarted) {
  open_session();
  dies(1, 0);
  build_works();
  EXPECT_THAT(done(), Contains("start 2"));
  opens(2);
  EXPECT_THAT(text_of(rebuilt()), HasSubstr("previous: exit 0 after"));
}

TEST_F(BridgeRebuildTest, AServerThatIsStillStartingIsOfTheOldBuild) {
  open_session();
  dies(1, 0);
  client(call(2, "echo"));
  done();
  build_works();
  EXPECT_THAT(done(), Contains("close 2"));
  dies(2, 0);
  EXPECT_THAT(done(), Contains("start 3"));
  opens(3);
  EXPECT_THAT(done(), Contains("child 3 " + call(2, "echo")));
  child(3, result(2));
}

TEST_F(BridgeRebuildTest, WithoutASessionTheServerIsNotStarted) {
  client(rebuild(1));
  dies(build(1), 0);
  EXPECT_THAT(text_of(rebuilt()), HasSubstr("started when the client opens a session"));
}

TEST_F(BridgeRebuildTest, ASecondCallJoinsTheFirst) {
  open_session();
  client(rebuild(1));
  client(rebuild(2, R"json({"mode":"kill-first"})json"));
  EXPECT_THAT(done(), ElementsAre("start build 1"));
  dies(build(1), 2);
  const auto got = client_got();
  ASSERT_THAT(got, SizeIs(2));
  EXPECT_THAT(got[0], AllOf(HasSubstr("\"id\":1,"), HasSubstr("build failed")));
  EXPECT_THAT(got[1], AllOf(HasSubstr("\"id\":2,"), HasSubstr("build failed")));
}

TEST_F(BridgeRebuildTest, ACancelledCallStopsTheBuild) {
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

TEST_F(BridgeRebuildTest, OneCancelledCallOfTwoStopsNothing) {
  open_session();
  client(rebuild(1));
  client(rebuild(2));
  done();
  client(cancelled(1));
  EXPECT_THAT(done(), IsEmpty());
  dies(build(1), 2);
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("\"id\":2,")));
}

TEST_F(BridgeRebuildTest, ACallThatComesWhileABuildIsStoppedBeginsAnew) {
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

TEST_F(BridgeRebuildTest, CancelledWhileTheNewServerOpensItGoes) {
  open_session();
  build_works();
  done();
  client(cancelled(1));
  EXPECT_THAT(done(), ElementsAre("close 2"));
  dies(2, 0);
  client(call(2, "echo"));
  EXPECT_THAT(done(), Contains("child 1 " + call(2, "echo")));
  child(1, result(2));
}

TEST_F(BridgeRebuildTest, ABuildThatDoesNotEndIsStoppedAtItsLimit) {
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

TEST_F(BridgeRebuildTest, WrongArgumentsAreNamed) {
  open_session();
  client(rebuild(1, R"json({"mode":"fast"})json"));
  EXPECT_EQ(answer_text(), "mode must be swap or kill-first");
  client(rebuild(2, R"json({"timeout_seconds":0})json"));
  EXPECT_EQ(answer_text(), "timeout_seconds must be a whole number from 1 to 86400");
}

TEST_F(BridgeRebuildTest, ProgressIsTheNewestLineAtMostFourTimesASecond) {
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

TEST_F(BridgeRebuildTest, TheLogOfABuildThatRunsAndOfTheLastOne) {
  open_session();
  client(call(1, "sitter_build_log"));
  EXPECT_EQ(answer_text(), "(nothing was built yet)");
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

TEST_F(BridgeRebuildTest, StatusShowsTheBuild) {
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

TEST_F(BridgeRebuildTest, ASettingThatTheOldServerAcceptsIsToldToTheNewOneToo) {
  server.capabilities = R"json({"logging":{},"tools":{}})json";
  open_session();
  const std::string debug = R"json({"level":"debug"})json";
  client(request(2, "logging/setLevel", debug));
  build_works();
  opens(2);
  done();
  child(1, result(2));
  EXPECT_THAT(done(), Contains(AllOf(HasSubstr("child 2 "), HasSubstr("logging/setLevel"),
                                     HasSubstr(debug), Not(HasSubstr("\"id\":2,")))));
  opens(2);
}

TEST_F(BridgeRebuildTest, ASettingDoesNotWaitForTheNewServer) {
  server.capabilities = R"json({"logging":{},"tools":{}})json";
  open_session();
  build_works();
  done();
  const std::string set = request(2, "logging/setLevel", R"json({"level":"debug"})json");
  client(set);
  client(call(3, "echo"));
  EXPECT_THAT(done(), ElementsAre("child 1 " + set, "child 1 " + call(3, "echo")));
  child(1, result(2));
  child(1, result(3));
  // The new one gets it with all that was set up.
  opens(2);
  EXPECT_THAT(done(), Contains(AllOf(HasSubstr("child 2 "), HasSubstr("logging/setLevel"),
                                     HasSubstr("debug"))));
}

TEST_F(BridgeRebuildTest, AKillDuringTheBuildLeavesTheBuild) {
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

TEST_F(BridgeRebuildTest, AKillTakesBothServersDown) {
  open_session();
  build_works();
  done();
  client(call(2, "sitter_kill"));
  EXPECT_THAT(done(), ElementsAre("close 1", "close 2"));
  dies(2, 0);
  dies(1, 0);
  const auto got = client_got();
  EXPECT_THAT(got, Contains(AllOf(HasSubstr("\"id\":1,"), HasSubstr("killed by sitter_kill"))));
  EXPECT_THAT(got, Contains(AllOf(HasSubstr("\"id\":2,"), HasSubstr("1001"), HasSubstr("1002"))));
}

TEST_F(BridgeRebuildTest, AnAnswerIsWaitedForAtTheEnd) {
  open_session();
  client(rebuild(1));
  done();
  client_closes_input();
  EXPECT_THAT(done(), IsEmpty());
  dies(build(1), 2);
  EXPECT_THAT(done(), ElementsAre("terminate build 1", "release build 1",
                                  HasSubstr("the build failed"), "close 1"));
}

TEST_F(BridgeRebuildTest, ASignalTakesTheBuildDownToo) {
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

TEST_F(BridgeRebuildTest, WhatTheOldServerListsAfterwardsIsNoBase) {
  open_listed_session();
  client(request(2, "tools/list"));
  server.tools = {tool("echo"), tool("find")};
  build_works();
  opens(2);
  child(1, result(2, Server::list("tools", {tool("echo")})));
  time_passes(seconds(1));
  done();
  dies(1, 0);
  dies(2, 0);
  client(call(3, "echo"));
  opens(3);
  child(3, result(3, text_result("a")));
  // Nothing has changed since the second server.
  EXPECT_THAT(client_got(), Contains(AllOf(HasSubstr("spawn #3"), Not(HasSubstr("tools:")))));
}

TEST_F(BridgeRebuildTest, AnAnswerOfTheOldServerCarriesNoNotice) {
  config.writes_notices = true;
  open_session();
  client(call(2, "slow"));
  client(rebuild(1));
  client(cancelled(1));
  dies(build(1), 143, "SIGTERM");
  client(rebuild(3));
  dies(build(2), 0);
  opens(2);
  done();
  child(1, result(2, text_result("late")));
  EXPECT_THAT(client_got(), ElementsAre(result(2, text_result("late"))));
}

TEST_F(BridgeRebuildTest, ALineThatIsStillToBeToldIsForgottenWithItsBuild) {
  open_session();
  client(call_with_progress(1, "sitter_rebuild"));
  child_says(build(1), "one");
  child_says(build(1), "two");
  dies(build(1), 0);
  // Otherwise the program would turn in circles until the new server is there.
  EXPECT_GT(*bridge().next_timeout(), now.steady + seconds(1));
  opens(2);
}

TEST_F(BridgeRebuildTest, ACancelledBuildTellsNothingToTheNextCaller) {
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

TEST_F(BridgeRebuildTest, ABuildThatHasEndedIsNotStoppedForItsOutput) {
  open_session();
  client(rebuild(1, R"json({"timeout_seconds":7})json"));
  time_passes(milliseconds(6900));
  exits(build(1), 0);
  // Something that it has left behind holds its output.
  time_passes(milliseconds(300));
  EXPECT_THAT(done(), Contains("start 2"));
  opens(2);
  EXPECT_THAT(text_of(rebuilt()), HasSubstr("the build succeeded after 6.9s"));
}

TEST_F(BridgeRebuildTest, ThereAreNeverThreeServers) {
  open_session();
  client(call(2, "slow"));
  build_works();
  opens(2);
  client(rebuild(3));
  dies(build(2), 0);
  EXPECT_THAT(done(), Not(Contains("start 3")));
  child(1, result(2));
  EXPECT_THAT(done(), Contains("close 1"));
  dies(1, 0);
  EXPECT_THAT(done(), Contains("start 3"));
  opens(3);
}

TEST_F(BridgeRebuildTest, NoBuildBeginsAtTheEnd) {
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

TEST_F(BridgeRebuildTest, NorDoesATimeoutStayThatNobodyHandles) {
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

TEST_F(BridgeRebuildTest, ChangedRootsAreNotToldBeforeTheOpening) {
  open_session();
  build_works();
  done();
  const std::string changed = notification("notifications/roots/list_changed");
  client(changed);
  EXPECT_THAT(done(), ElementsAre("child 1 " + changed));
  opens(2);
}

TEST_F(BridgeRebuildTest, ALateListOfTheOldServerHasTheBuiltInTools) {
  open_listed_session();
  client(request(2, "tools/list"));
  build_works();
  opens(2);
  done();
  child(1, result(2, Server::list("tools", server.tools)));
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("\"id\":2,"), HasSubstr("\"echo\""),
                                              HasSubstr("\"sitter_rebuild\""))));
}

/// SIGHUP, with and without a build command.
class BridgeReloadTest : public BridgeRebuildTest {
 protected:
  void reload() { ask_reload(); }
  /// The text of the first block of the answer to a call that child `gen` serves.
  std::string text_of_next_call(Generation gen) {
    client(call(50, "echo"));
    child(gen, result(50, text_result("a")));
    return answer()["result"]["content"][0]["text"];
  }
};

TEST_F(BridgeReloadTest, BuildsAndSwapsWithoutACall) {
  open_listed_session();
  server.tools = {tool("echo"), tool("find")};
  reload();
  EXPECT_THAT(done(), ElementsAre("start build 1"));
  dies(build(1), 0);
  opens(2);
  EXPECT_THAT(done(), Contains("client " + notification("notifications/tools/list_changed")));
  time_passes(seconds(1));
  EXPECT_THAT(text_of_next_call(2), AllOf(HasSubstr("spawn #2"), HasSubstr("previous: replaced"),
                                          HasSubstr("+1 added (find)")));
}

TEST_F(BridgeReloadTest, WithoutABuildCommandTheServerIsStartedAnew) {
  config.build_command.clear();
  open_session();
  reload();
  EXPECT_THAT(done(), Contains("start 2"));
  opens(2);
  EXPECT_THAT(done(), Contains("close 1"));
  EXPECT_THAT(text_of_next_call(2), HasSubstr("spawn #2"));
}

TEST_F(BridgeReloadTest, AFailedBuildIsToldInTheNextResult) {
  open_session();
  reload();
  child_says(build(1), "a.c:1: error: no");
  dies(build(1), 2);
  done();
  EXPECT_THAT(text_of_next_call(1), AllOf(HasSubstr("the build failed (exit 2)"),
                                          HasSubstr("serves on"), HasSubstr("a.c:1: error: no")));
  EXPECT_EQ(text_of_next_call(1), "a");
}

TEST_F(BridgeReloadTest, WhatALaterReloadHasMendedIsNotTold) {
  open_session();
  reload();
  dies(build(1), 2);
  reload();
  dies(build(2), 0);
  opens(2);
  done();
  EXPECT_THAT(text_of_next_call(2), AllOf(HasSubstr("spawn #2"), Not(HasSubstr("failed"))));
}

TEST_F(BridgeReloadTest, NorWhatACallHasMended) {
  open_session();
  reload();
  dies(build(1), 2);
  client(rebuild(1));
  dies(build(2), 0);
  opens(2);
  EXPECT_THAT(text_of(rebuilt()), AllOf(HasSubstr("spawn #2"), Not(HasSubstr("failed"))));
}

TEST_F(BridgeReloadTest, AFailureTogetherWithARestartIsToldWithIt) {
  open_session();
  reload();
  dies(build(1), 0);
  opens(2);
  reload();
  dies(build(2), 2);
  done();
  EXPECT_THAT(text_of_next_call(2),
              AllOf(HasSubstr("spawn #2"), HasSubstr("\n[mcp-sitter] the build failed (exit 2)")));
}

TEST_F(BridgeReloadTest, AServerThatDoesNotComeIsToldInTheNextResult) {
  config.build_command.clear();
  open_session();
  reload();
  dies(2, 1);
  done();
  EXPECT_THAT(text_of_next_call(1),
              AllOf(HasSubstr("[mcp-sitter] the server could not be started: it ended (exit 1)"),
                    HasSubstr("serves on"), Not(HasSubstr("the build"))));
}

TEST_F(BridgeReloadTest, ACallJoinsIt) {
  open_session();
  reload();
  client(rebuild(1));
  dies(build(1), 0);
  opens(2);
  EXPECT_THAT(text_of(rebuilt()), HasSubstr("spawn #2"));
  EXPECT_EQ(text_of_next_call(2), "a");
}

TEST_F(BridgeReloadTest, TheCancellationOfACallThatHasJoinedDoesNotStopIt) {
  open_session();
  reload();
  client(rebuild(1));
  done();
  client(cancelled(1));
  EXPECT_THAT(done(), IsEmpty());
  dies(build(1), 0);
  EXPECT_THAT(done(), Contains("start 2"));
  opens(2);
}

TEST_F(BridgeReloadTest, ASecondOneDuringTheBuildIsDoneAfterIt) {
  // A file that was saved since may not be in it.
  open_session();
  reload();
  reload();
  reload();
  EXPECT_THAT(done(), ElementsAre("start build 1"));
  dies(build(1), 2);
  EXPECT_THAT(done(), Contains("start build 2"));
  dies(build(2), 0);
  opens(2);
  EXPECT_THAT(done(), Not(Contains("start build 3")));
  EXPECT_THAT(text_of_next_call(2), Not(HasSubstr("failed")));
}

TEST_F(BridgeReloadTest, EachFailureIsToldAlsoBesideStructure) {
  const auto structured = [&](const std::string& text) {
    client(call(50, "echo"));
    child(1, result(50, R"json({"content":[],"structuredContent":{}})json"));
    return answer().dump().find(text) != std::string::npos;
  };
  open_session();
  reload();
  dies(build(1), 2);
  done();
  EXPECT_TRUE(structured("exit 2"));
  EXPECT_FALSE(structured("exit 2"));
  reload();
  dies(build(2), 3);
  done();
  EXPECT_TRUE(structured("exit 3"));
}

TEST_F(BridgeReloadTest, WithoutABuildCommandNoToolIsNamedThatIsNotThere) {
  config.build_command.clear();
  open_session();
  reload();
  dies(2, 1);
  done();
  EXPECT_THAT(text_of_next_call(1), Not(HasSubstr("sitter_rebuild")));
}

TEST_F(BridgeReloadTest, ACrashDuringABuildThatFailsIsFollowedByARestart) {
  config.restarts = RestartPolicy::When::on_crash;
  open_session();
  reload();
  dies(1, 3);
  time_passes(seconds(5));
  dies(build(1), 2);
  EXPECT_THAT(done(), Not(Contains("start 2")));
  time_passes(seconds(1));
  EXPECT_THAT(done(), Contains("start 2"));
  opens(2);
}

TEST_F(BridgeReloadTest, AtTheEndItMeansNothing) {
  open_session();
  client(call(2, "slow"));
  client_closes_input();
  done();
  reload();
  EXPECT_THAT(done(), IsEmpty());
  child(1, result(2));
}

TEST_F(BridgeReloadTest, TheStatusGoesToTheLog) {
  open_session();
  ask_status();
  EXPECT_THAT(logs(), Contains(HasSubstr("\"childState\": \"ready\"")));
}

class StatelessRebuildTest : public StreamsTest {
 protected:
  StatelessRebuildTest() { config.build_command = "make"; }
};

TEST_F(StatelessRebuildTest, TheStreamsMoveToTheNewServer) {
  serve_session();
  open_stream(kTools, kTools);
  server.tools = {tool("echo"), tool("find")};
  client(enveloped_call(5, "sitter_rebuild"));
  dies(build(1), 0);
  // Until the new one serves, they are the old one's.
  EXPECT_THAT(done(), Not(Contains(HasSubstr("subscriptions/listen"))));
  opens(2);
  const auto did = done();
  EXPECT_THAT(did, Contains("child 2 " + listen(kStream, kTools)));
  EXPECT_THAT(did, Contains("client " + to_stream(kStream, kChanged)));
  child(2, acknowledged(kStream, kTools));
  time_passes(seconds(1));
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("\"id\":5,"), HasSubstr("+1 added (find)"),
                                              HasSubstr("\"resultType\":\"complete\""))));
  dies(1, 0);
  EXPECT_THAT(client_got(), IsEmpty());
}

TEST_F(StatelessRebuildTest, ASettingIsNobodysToTell) {
  // No request of this revision may come without what the client says of itself, nor this one at
  // all.
  serve_session();
  client(enveloped(6, "resources/subscribe", R"json("uri":"a:b")json"));
  client(enveloped_call(5, "sitter_rebuild"));
  dies(build(1), 0);
  opens(2);
  done();
  child(1, result(6, R"json({"resultType":"complete"})json"));
  EXPECT_THAT(done(), Not(Contains(HasSubstr("child 2 "))));
}

TEST_F(StatelessRebuildTest, AServerThatDoesNotComeLeavesTheStreams) {
  serve_session();
  open_stream(kTools, kTools);
  client(enveloped_call(5, "sitter_rebuild"));
  dies(build(1), 0);
  dies(2, 1);
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("\"id\":5,"), HasSubstr("serves on"))));
  child(1, to_stream(kStream, kChanged));
  opens(1);
  EXPECT_THAT(client_got(), ElementsAre(to_stream(kStream, kChanged)));
}

TEST_F(StatelessRebuildTest, ALateListOfTheOldServerIsNotKept) {
  serve_session();
  client(enveloped(6, "prompts/list"));
  client(enveloped_call(5, "sitter_rebuild"));
  dies(build(1), 0);
  opens(2);
  done();
  child(1, result(6, R"json({"resultType":"complete","ttlMs":60000,"prompts":[]})json"));
  EXPECT_THAT(client_got(),
              ElementsAre(AllOf(HasSubstr("\"id\":6,"), HasSubstr(R"json("ttlMs":0,)json"))));
}

}  // namespace
}  // namespace sitter
