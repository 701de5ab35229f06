#include "support/rebuild_script.hpp"
#include "support/stateless_script.hpp"

namespace sitter {
namespace {

TEST_F(BridgeRebuildTest, TheOldServerServesUntilTheNewOneDoes) {
  open_session();
  client(rebuild(1));
  EXPECT_THAT(done(), ElementsAre("start build 1"));
  client(call(2, "echo"));
  EXPECT_THAT(done(), ElementsAre("child 1 " + call(2, "echo")));
  child(1, result(2));
  child_says(build(1), "CC a.c");
  exits(build(1), 0);
  EXPECT_THAT(done(), ElementsAre("client " + result(2)));
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

TEST_F(BridgeRebuildTest, AKillWithoutAServerSaysNothingOfItsLife) {
  open_session();
  client(rebuild(1, R"json({"mode":"kill-first"})json"));
  dies(1, 0);
  time_passes(seconds(5));
  client(call(2, "echo"));
  done();
  client(call(3, "sitter_kill"));
  EXPECT_THAT(client_got(),
              Contains(AllOf(HasSubstr("\"id\":2,"),
                             HasSubstr("sitter_kill was called while no server ran. This call"))));
  dies(build(1), 143, "SIGTERM");
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
  // The model knows of the failed start, and the child before the next restart is a child that
  // served.
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
  EXPECT_THAT(done(), ElementsAre(HasSubstr("late"), "close 1"));
  child(2, result(3));
}

TEST_F(BridgeRebuildTest, TheOldServerHasTenSecondsToFinish) {
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
  // A pure read may be sent to the new server.
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
  // A call that comes meanwhile waits for the new server.
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
  EXPECT_THAT(done(), ElementsAre(HasSubstr("late"), "close 1"));
  dies(1, 0);
  dies(build(1), 2);
  // The request that waits starts a server from the files that are there.
  const auto did = done();
  EXPECT_THAT(did, Contains(AllOf(HasSubstr("\"id\":1,"), HasSubstr("No server is running"))));
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

TEST_F(BridgeRebuildTest, AServerThatDiesDuringABuildIsStartedFromTheNewBuild) {
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

TEST_F(BridgeRebuildTest, TheNewServerTakesOverIfTheOldOneDiesDuringTheOpening) {
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
  client(cancelled(2));
  done();
  build_works();
  EXPECT_THAT(done(), Contains("close 2"));
  dies(2, 0);
  EXPECT_THAT(done(), Contains("start 3"));
  opens(3);
}

TEST_F(BridgeRebuildTest, AStartingServerAnswersWhatWaitsForItBeforeItIsReplaced) {
  open_session();
  dies(1, 0);
  client(call(2, "echo"));
  done();
  build_works();
  EXPECT_THAT(done(), ElementsAre("start build 1", "release build 1"));
  opens(2);
  EXPECT_THAT(done(), AllOf(Contains("child 2 " + call(2, "echo")), Contains("start 3")));
  child(2, result(2));
  opens(3);
}

TEST_F(BridgeRebuildTest, ACancellationWhileTheNewServerOpensStopsTheNewServer) {
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
  // The new server gets the setting with everything else that was set up.
  opens(2);
  EXPECT_THAT(done(), Contains(AllOf(HasSubstr("child 2 "), HasSubstr("logging/setLevel"),
                                     HasSubstr("debug"))));
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

TEST_F(BridgeRebuildTest, ALateListOfTheOldServerIsNotUsedForTheComparison) {
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
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("late"), Not(HasSubstr("restarted")))));
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
  // Until the new server serves, the streams belong to the old server.
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

TEST_F(StatelessRebuildTest, AStatelessSettingIsNotSentToTheNewServer) {
  // In this revision the bridge may send no request without an envelope, and must not send this
  // request at all.
  serve_session();
  client(enveloped(6, "resources/subscribe", R"json("uri":"a:b")json"));
  client(enveloped_call(5, "sitter_rebuild"));
  dies(build(1), 0);
  opens(2);
  done();
  child(1, result(6, R"json({"resultType":"complete"})json"));
  EXPECT_THAT(done(), Not(Contains(HasSubstr("child 2 "))));
}

TEST_F(StatelessRebuildTest, AFailedStartLeavesTheStreamsOpen) {
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

TEST_F(BridgeRebuildTest, ReportsACrashThatEndsAfterTheNewServerIsUp) {
  open_session();
  build_works();
  // A process that the child has started holds its pipes for a moment.
  exits(1, 139, "SIGSEGV");
  opens(2);
  closes_output(1);
  EXPECT_THAT(text_of(rebuilt()), HasSubstr("previous: ⚠ crashed (SIGSEGV)"));
}

}  // namespace
}  // namespace sitter
