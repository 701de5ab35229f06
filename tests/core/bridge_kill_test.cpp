#include "support/bridge_script.hpp"

namespace sitter {
namespace {

class BridgeKillTest : public BridgeTest {
 protected:
  nlohmann::json report() { return nlohmann::json::parse(answer_text()); }
};

TEST_F(BridgeKillTest, ClosesTerminatesAndKillsInTurn) {
  open_session();
  client(call(1, "sitter_kill"));
  EXPECT_THAT(done(), ElementsAre("close 1"));
  time_passes(milliseconds(499));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(done(), ElementsAre("terminate 1"));
  time_passes(milliseconds(499));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(done(), ElementsAre("kill 1"));
  dies(1, 137, "SIGKILL");
  EXPECT_THAT(done(), ElementsAre("kill 1", "release 1", "sweep auto terminate",
                                  HasSubstr(R"json(\"how\": \"SIGKILL\")json")));
}

TEST_F(BridgeKillTest, AChildThatEndsAtTheEndOfItsInputIsNotSignalledItself) {
  binary.path = "/w/server";
  open_session();
  client(call(1, "sitter_kill"));
  dies(1, 0);
  EXPECT_EQ(report(), nlohmann::json::parse(R"json({
    "killed": [{"pid": 1001, "relation": "child", "command": "server", "how": "stdin closed"}],
    "path": "/w/server", "count": 1})json"));
}

TEST_F(BridgeKillTest, ACallInFlightIsAnswered) {
  open_session();
  client(call(1, "work"));
  client(request(2, "tools/list"));
  client(call(3, "sitter_kill"));
  done();
  time_passes(seconds(1));
  EXPECT_THAT(client_got(), IsEmpty());
  dies(1, 137, "SIGKILL");
  const auto got = client_got();
  ASSERT_THAT(got, SizeIs(3));
  EXPECT_THAT(got[0], AllOf(HasSubstr("\"id\":1,"), HasSubstr("killed by sitter_kill after 1s"),
                            Not(HasSubstr("crash"))));
  EXPECT_THAT(got[1], AllOf(HasSubstr("\"id\":2,"), HasSubstr("-32603")));
  EXPECT_THAT(got[2], HasSubstr("\"id\":3,"));
}

TEST_F(BridgeKillTest, RequestsInFlightDoNotRestartTheChild) {
  // Pure reads are answered too, so that no build is disturbed.
  open_session();
  client(request(1, "resources/read", R"json({"uri":"a:b"})json"));
  done();
  client(call(2, "sitter_kill"));
  dies(1, 0);
  EXPECT_THAT(done(),
              ElementsAre("close 1", "terminate 1", "release 1", HasSubstr("\"id\":1,\"error\""),
                          "sweep auto terminate", HasSubstr("\"id\":2,\"result\"")));
}

TEST_F(BridgeKillTest, AReadInFlightOfAChildThatHadJustDiedIsNotSentAgain) {
  open_session();
  client(request(1, "resources/read", R"json({"uri":"a:b"})json"));
  exits(1, 3);
  client(call(2, "sitter_kill"));
  closes_output(1);
  const auto got = done();
  EXPECT_THAT(got, Not(Contains("start 2")));
  EXPECT_THAT(got, Contains(AllOf(HasSubstr("\"id\":1,"), HasSubstr("-32603"))));
}

TEST_F(BridgeKillTest, OfNothingSaysWhatHasEnded) {
  client(call(1, "sitter_kill"));
  EXPECT_THAT(answer_text(), HasSubstr(R"json("note": "The server was not running.")json"));
  open_session();
  dies(1, 3);
  time_passes(seconds(5));
  client(call(2, "sitter_kill"));
  EXPECT_THAT(answer_text(),
              HasSubstr(R"json("note": "The server was not running (crashed 5s ago).")json"));
}

TEST_F(BridgeKillTest, AChildThatHadJustDiedIsNotReportedAsKilled) {
  // The child has crashed before sitter_kill is called.
  open_session();
  exits(1, 3);
  client(call(1, "sitter_kill"));
  closes_output(1);
  EXPECT_EQ(report()["count"], 0);
}

TEST_F(BridgeKillTest, WhenNothingRunsNothingIsKilled) {
  open_session();
  dies(1, 3);
  done();
  client(call(1, "sitter_kill"));
  EXPECT_EQ(report()["count"], 0);
  client(call(2, "sitter_status"));
  EXPECT_THAT(answer_text(), HasSubstr(R"json("killCount": 0)json"));
}

TEST_F(BridgeKillTest, TheNextCallStartsTheChildAndTellsThatItWasKilled) {
  // The kill is deliberate, and only SIGKILL ends the server.
  open_session();
  time_passes(seconds(45));
  client(call(1, "sitter_kill"));
  time_passes(seconds(1));
  dies(1, 137, "SIGKILL");
  done();
  client(call(2, "echo"));
  EXPECT_THAT(done(), Contains("start 2"));
  opens(2);
  child(2, result(2, text_result("x")));
  const auto got = client_got();
  ASSERT_THAT(got, SizeIs(1));
  EXPECT_THAT(got[0], AllOf(HasSubstr("previous: killed by sitter_kill after 46s"),
                            Not(HasSubstr("crash"))));
}

TEST_F(BridgeKillTest, ACallRightBehindTheKillWaitsForItAndTellsOfIt) {
  // The client sends the call without waiting for the kill.
  open_session();
  client(call(1, "sitter_kill"));
  client(call(2, "echo"));
  EXPECT_THAT(done(), ElementsAre("close 1"));
  dies(1, 0);
  const auto got = done();
  ASSERT_THAT(got, SizeIs(6));
  EXPECT_EQ(got[2], "sweep auto terminate");
  EXPECT_THAT(got[3], HasSubstr("\"id\":1,"));
  EXPECT_EQ(got[4], "start 2");
  opens(2);
  child(2, result(2, text_result("x")));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("previous: killed by sitter_kill")));
}

TEST_F(BridgeKillTest, DescendantsAreReportedWithTheirEnd) {
  plays.signal = false;
  open_session();
  client(call(1, "sitter_kill", R"json({"scope":"child"})json"));
  EXPECT_THAT(done(), ElementsAre("look 1", "close 1"));
  unit_signalled(1, {{1001, true, "sh -c server", ""}, {1002, false, "server", ""}});
  exits(1, 0);
  closes_output(1);
  EXPECT_THAT(done(), ElementsAre("terminate 1"));
  unit_signalled(1, {{1002, false, "server", ""}});
  EXPECT_THAT(done(), IsEmpty());
  orphan_ended();
  EXPECT_THAT(done(), ElementsAre("look 1"));
  unit_signalled(1, {});
  const auto killed = report()["killed"];
  ASSERT_EQ(killed.size(), 2u);
  EXPECT_EQ(killed[0]["how"], "stdin closed");
  EXPECT_EQ(killed[1]["relation"], "descendant");
  EXPECT_EQ(killed[1]["how"], "SIGTERM");
}

TEST_F(BridgeKillTest, OthersOfTheSameExecutableAreTerminatedAndThenKilled) {
  plays.sweep = false;
  open_session();
  client(call(1, "sitter_kill", R"json({"scope":"same-executable"})json"));
  dies(1, 0);
  EXPECT_THAT(done(), Contains("sweep same-file terminate"));
  image_swept({{77, "server --other"}, {78, "server"}});
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(499));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(done(), ElementsAre("sweep same-file kill"));
  image_swept({{78, "server"}});
  const auto killed = report()["killed"];
  ASSERT_EQ(killed.size(), 3u);
  EXPECT_EQ(
      killed[1].dump(),
      R"json({"command":"server --other","how":"SIGTERM","pid":77,"relation":"same-path"})json");
  EXPECT_EQ(killed[2]["how"], "SIGKILL");
}

TEST_F(BridgeKillTest, EachIsReportedByTheSignalThatItGot) {
  config.allows_wide_kill = true;
  plays.sweep = false;
  open_session();
  client(call(1, "sitter_kill"));
  dies(1, 0);
  done();
  image_swept({{77, "server"}});
  // A call with a wider scope begins the sweep anew.
  client(call(2, "sitter_kill", R"json({"scope":"same-executable"})json"));
  EXPECT_THAT(done(), ElementsAre("sweep same-executable terminate"));
  image_swept({{77, "server"}});
  time_passes(milliseconds(500));
  EXPECT_THAT(done(), ElementsAre("sweep same-executable kill"));
  image_swept({{79, "server"}});
  const auto got = client_got();
  ASSERT_THAT(got, SizeIs(2));
  const auto text = nlohmann::json::parse(got[1])["result"]["content"][0]["text"];
  const auto killed = nlohmann::json::parse(text.get<std::string>())["killed"];
  ASSERT_EQ(killed.size(), 3u);
  EXPECT_EQ(killed[1]["how"], "SIGTERM");
  EXPECT_EQ(killed[2]["how"], "SIGKILL");
}

TEST_F(BridgeKillTest, ScopeChildSweepsNothing) {
  open_session();
  client(call(1, "sitter_kill", R"json({"scope":"child"})json"));
  dies(1, 0);
  EXPECT_THAT(done(), ElementsAre("close 1", "terminate 1", "release 1",
                                  HasSubstr(R"json(\"relation\": \"child\")json")));
}

TEST_F(BridgeKillTest, ConcurrentKillsShareOneTakedown) {
  open_session();
  client(call(1, "sitter_kill"));
  client(call(2, "sitter_kill"));
  EXPECT_THAT(done(), ElementsAre("close 1"));
  dies(1, 0);
  EXPECT_THAT(client_got(),
              ElementsAre(AllOf(HasSubstr("\"id\":1,"), HasSubstr(R"json(\"count\": 1)json")),
                          AllOf(HasSubstr("\"id\":2,"), HasSubstr(R"json(\"count\": 1)json"))));
  client(call(3, "sitter_status"));
  EXPECT_THAT(answer_text(), HasSubstr(R"json("killCount": 1)json"));
}

TEST_F(BridgeKillTest, AJoiningKillCanWidenTheScope) {
  open_session();
  client(call(1, "sitter_kill", R"json({"scope":"child"})json"));
  client(call(2, "sitter_kill", R"json({"scope":"same-executable"})json"));
  client(call(3, "sitter_kill", R"json({"scope":"child"})json"));
  done();
  dies(1, 0);
  EXPECT_THAT(done(), Contains("sweep same-file terminate"));
}

TEST_F(BridgeKillTest, AKillThatAnotherWidensIsAnsweredBehindTheSweep) {
  plays.inspect = plays.sweep = false;
  open_session();
  client(call(1, "sitter_kill", R"json({"scope":"same-executable"})json"));
  client(call(2, "sitter_kill", R"json({"scope":"child"})json"));
  dies(1, 0);
  done();
  // The first look is for the first call, which begins only now. The other two are for the second
  // call: for its beginning and for its report.
  binary_inspected();
  EXPECT_THAT(done(), ElementsAre("sweep same-file terminate"));
  binary_inspected();
  binary_inspected();
  EXPECT_THAT(client_got(), IsEmpty());
  image_swept({});
  binary_inspected();
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("\"id\":2,"), HasSubstr("\"id\":1,")));
}

TEST_F(BridgeKillTest, AKillThatWouldEndForeignProcessesIsRefusedAtOnce) {
  shared = SharedImage{"/usr/bin/node", {{77, "node app.js"}}};
  open_session();
  client(call(1, "sitter_kill", R"json({"scope":"same-executable"})json"));
  const auto line = answer();
  EXPECT_EQ(line["result"]["isError"], true);
  EXPECT_THAT(line["result"]["content"][0]["text"].get<std::string>(),
              AllOf(HasSubstr("Nothing was ended"), HasSubstr("77 node app.js")));
  client(call(2, "echo"));
  EXPECT_THAT(done(), ElementsAre(HasSubstr("child 1 ")));
  child(1, result(2, text_result("x")));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("\"text\":\"x\"")));
}

TEST_F(BridgeKillTest, ARefusedKillDoesNotDelayAnEarlierKill) {
  shared = SharedImage{"/usr/bin/node", {}};
  open_session();
  client(call(1, "sitter_kill"));
  client(call(2, "sitter_kill", R"json({"scope":"same-executable"})json"));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("Nothing was ended")));
  dies(1, 0);
  EXPECT_EQ(report()["count"], 1);
}

TEST_F(BridgeKillTest, AKillAllowedToEndForeignProcessesSkipsTheCheck) {
  config.allows_wide_kill = true;
  shared = SharedImage{"/usr/bin/node", {{77, "node app.js"}}};
  open_session();
  client(call(1, "sitter_kill", R"json({"scope":"same-executable"})json"));
  EXPECT_THAT(done(), ElementsAre("close 1"));
  dies(1, 0);
  EXPECT_THAT(done(), Contains("sweep same-executable terminate"));
}

TEST_F(BridgeKillTest, AKillThatIsCancelledBeforeItsFileIsKnownEndsNothing) {
  plays.inspect = false;
  open_session();
  client(call(1, "sitter_kill", R"json({"scope":"same-executable"})json"));
  client(cancelled(1));
  EXPECT_THAT(done(), ElementsAre("inspect"));
  binary_inspected();
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(BridgeKillTest, AKillWhoseFileIsKnownOnlyAtTheEndOfTheBridgeSweepsNothing) {
  plays.inspect = false;
  open_session();
  client(call(1, "sitter_kill", R"json({"scope":"same-executable"})json"));
  signal(143);
  done();
  binary_inspected();
  dies(1, 0);
  EXPECT_THAT(done(), Not(Contains(HasSubstr("sweep"))));
}

TEST_F(BridgeKillTest, LooksUpTheFileBehindAWrapperBeforeTheChildExits) {
  open_session();
  plays.inspect = false;
  client(call(1, "sitter_kill"));
  EXPECT_THAT(done(), ElementsAre("inspect", "close 1"));
}

TEST_F(BridgeKillTest, ACancelledKillGoesOnWithoutAnAnswer) {
  open_session();
  client(call(1, "sitter_kill"));
  client(cancelled(1));
  done();
  dies(1, 0);
  EXPECT_THAT(done(), ElementsAre("terminate 1", "release 1", "sweep auto terminate"));
}

TEST_F(BridgeKillTest, KillsAChildThatStartsAfterTheKill) {
  plays.start = false;
  client(initialize(0));
  client(initialized());
  client(call(1, "echo"));
  done();
  client(call(2, "sitter_kill"));
  EXPECT_THAT(client_got(), SizeIs(2));
  started(1);
  EXPECT_THAT(done(), ElementsAre("close 1"));
  dies(1, 0);
  EXPECT_EQ(report()["count"], 1);
}

TEST_F(BridgeKillTest, AKillOfAStartThatFailsIsAnswered) {
  plays.start = false;
  client(initialize(0));
  client(call(2, "sitter_kill"));
  done();
  start_fails(1, "no");
  EXPECT_EQ(report()["count"], 0);
}

TEST_F(BridgeKillTest, AKillWhileTheListsAreTakenAnswersWhatWaited) {
  open_session();
  dies(1, 0);
  client(call(1, "echo"));
  client(request(2, "vendor/x"));
  client(request(3, "tools/list"));
  time_passes(seconds(3));
  child(2, result("#2", server.opening()));
  done();
  client(call(4, "sitter_kill"));
  const auto got = done();
  ASSERT_THAT(got, SizeIs(4));
  EXPECT_THAT(got[0], AllOf(HasSubstr("\"id\":1,"), HasSubstr("killed by sitter_kill after 3s"),
                            HasSubstr("not delivered")));
  EXPECT_THAT(got[1], AllOf(HasSubstr("\"id\":2,"), HasSubstr("-32603")));
  EXPECT_THAT(got[2], AllOf(HasSubstr("\"id\":3,"), HasSubstr("sitter_status")));
  EXPECT_EQ(got[3], "close 2");
  child(2, result("#3", R"json({"tools":[],"nextCursor":"2"})json"));
  dies(2, 0);
  EXPECT_EQ(report()["count"], 1);
}

TEST_F(BridgeKillTest, AKillWhileTheFilesAreLookedAtStartsNothing) {
  plays.start = plays.check = false;
  client(initialize(0));
  start_fails(1, "broken");
  client(initialized());
  for (Generation gen = 2; gen <= 3; ++gen) {
    client(call(gen, "echo"));
    start_fails(gen, "broken");
  }
  done();
  plays.sweep = false;
  client(call(10, "echo"));
  EXPECT_THAT(done(), ElementsAre("check files"));
  client(call(11, "sitter_kill"));
  client(call(12, "echo"));
  EXPECT_THAT(done(), ElementsAre(AllOf(HasSubstr("\"id\":10,"), HasSubstr("not delivered")),
                                  "sweep auto terminate"));
  files_checked(true);
  EXPECT_THAT(done(), IsEmpty());
  image_swept({});
  EXPECT_THAT(done(), Contains("check files"));
  files_checked(true);
  EXPECT_THAT(done(), ElementsAre("start 4"));
  start_fails(4, "broken");
}

TEST_F(BridgeKillTest, AKillJoinsATakedownForAnotherReason) {
  open_session();
  closes_stdout(1);
  EXPECT_THAT(done(), ElementsAre("close 1"));
  client(call(1, "sitter_kill"));
  EXPECT_THAT(done(), IsEmpty());
  dies(1, 0);
  EXPECT_EQ(report()["count"], 1);
}

TEST_F(BridgeKillTest, ReportsAChildThatCannotBeEnded) {
  open_session();
  client(call(1, "work"));
  client(call(2, "sitter_kill"));
  time_passes(seconds(3));
  const auto got = client_got();
  ASSERT_THAT(got, SizeIs(2));
  EXPECT_THAT(got[0], AllOf(HasSubstr("\"id\":1,"), HasSubstr("given up after 3s")));
  EXPECT_THAT(got[1], AllOf(HasSubstr(R"json(\"count\": 0)json"), HasSubstr("2 s after SIGKILL")));
}

TEST_F(BridgeKillTest, ARemoteRunnerGetsTimeBeforeSigkill) {
  open_session();
  plays.signal = false;
  client(call(1, "sitter_kill"));
  EXPECT_THAT(done(), ElementsAre("look 1", "close 1"));
  unit_signalled(1, {{pid_of(1), true, "sh", ""}, {7, false, "docker", "", true}});
  time_passes(milliseconds(500));
  EXPECT_THAT(done(), ElementsAre("terminate 1"));
  time_passes(milliseconds(4999));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(done(), ElementsAre("kill 1"));
  dies(1, 137, "SIGKILL");
}

TEST_F(BridgeKillTest, KillGraceSetsTheRungs) {
  config.kill_grace = milliseconds(50);
  open_session();
  client(call(1, "sitter_kill"));
  time_passes(milliseconds(100));
  EXPECT_THAT(done(), ElementsAre("close 1", "terminate 1", "kill 1"));
  dies(1, 137, "SIGKILL");
}

TEST_F(BridgeKillTest, AcceptsAnswersDuringTheTakedown) {
  open_session();
  client(call(1, "work"));
  client(call(2, "sitter_kill"));
  done();
  child(1, result(1, text_result("just in time")));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("just in time")));
  dies(1, 0);
}

TEST_F(BridgeKillTest, AWrongArgumentIsNamed) {
  open_session();
  client(call(1, "sitter_kill", R"json({"scope":"everything"})json"));
  const auto line = answer();
  EXPECT_EQ(line["result"]["isError"], true);
  EXPECT_THAT(line["result"]["content"][0]["text"].get<std::string>(), HasSubstr("scope"));
}

TEST_F(BridgeKillTest, ABuiltinCannotBeATask) {
  open_session();
  client(request(1, "tools/call", R"json({"name":"sitter_kill","task":{}})json"));
  EXPECT_EQ(answer()["error"]["code"], -32601);
}

TEST_F(BridgeKillTest, TheStateIsKillingDuringAKill) {
  open_session();
  client(call(1, "sitter_kill"));
  done();
  client(call(2, "sitter_status"));
  EXPECT_THAT(answer_text(), HasSubstr(R"json("childState": "killing")json"));
  dies(1, 0);
  done();
  client(call(3, "sitter_status"));
  EXPECT_THAT(answer_text(), AllOf(HasSubstr(R"json("childState": "down")json"),
                                   HasSubstr(R"json("childPid": null)json"),
                                   HasSubstr(R"json("lastKillReason": "sitter_kill")json")));
}

TEST_F(BridgeKillTest, ACancelledStatusIsNotAnswered) {
  plays.inspect = false;
  open_session();
  client(call(1, "sitter_status"));
  client(call(2, "sitter_binary_info"));
  client(cancelled(1));
  EXPECT_THAT(done(), ElementsAre("inspect with its sources", "inspect with its sources"));
  binary_inspected();
  EXPECT_THAT(done(), IsEmpty());
  binary_inspected();
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("\"id\":2,")));
}

}  // namespace
}  // namespace sitter
