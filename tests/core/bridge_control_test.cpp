#include "support/rebuild_script.hpp"

namespace sitter {
namespace {

constexpr ControlId kScript = 7;

/// A script controls the bridge from outside, besides the client.
class BridgeControlTest : public BridgeRebuildTest {
 protected:
  void asks(const std::string& command, const std::string& more = "") {
    control(kScript, "{\"command\":\"" + command + "\"" + more + "}");
  }
  /// The only line that the script got, parsed.
  nlohmann::json got() {
    const auto lines = control_got(kScript);
    EXPECT_THAT(lines, SizeIs(1));
    return lines.empty() ? nlohmann::json() : nlohmann::json::parse(lines.front(), nullptr, false);
  }
  std::string got_text() { return text_of(got()["result"]); }
  std::string text_of_next_call(Generation gen) {
    client(call(50, "echo"));
    child(gen, result(50, text_result("a")));
    return answer()["result"]["content"][0]["text"];
  }
};

TEST_F(BridgeControlTest, TheStatusIsThatOfTheTool) {
  open_session();
  asks("status");
  EXPECT_THAT(got_text(), HasSubstr("\"childState\": \"ready\""));
  EXPECT_THAT(done(), IsEmpty()) << "the client hears nothing of it";
}

TEST_F(BridgeControlTest, StatusWorksBeforeTheClientSpeaks) {
  asks("status");
  EXPECT_THAT(got_text(), HasSubstr("\"childState\": \"not-started\""));
}

TEST_F(BridgeControlTest, AReloadIsAnsweredWhenTheNewServerServesAndTheModelReadsItsNoticeToo) {
  open_listed_session();
  server.tools = {tool("echo"), tool("find")};
  asks("reload");
  EXPECT_THAT(control_got(kScript), IsEmpty());
  dies(build(1), 0);
  opens(2);
  EXPECT_THAT(got_text(), AllOf(HasSubstr("the build succeeded"), HasSubstr("spawn #2"),
                                HasSubstr("+1 added (find)")));
  time_passes(seconds(1));
  done();
  EXPECT_THAT(text_of_next_call(2), AllOf(HasSubstr("spawn #2"), HasSubstr("(find)")));
}

TEST_F(BridgeControlTest, AFailedReloadIsReportedToTheCallerAndTheModel) {
  open_session();
  asks("reload");
  dies(build(1), 2);
  const auto answer = got();
  EXPECT_EQ(answer["result"]["isError"], true);
  EXPECT_THAT(text_of(answer["result"]), HasSubstr("the build failed (exit 2)"));
  done();
  EXPECT_THAT(text_of_next_call(1), HasSubstr("the build failed (exit 2)"));
}

TEST_F(BridgeControlTest, AReloadDuringABuildRunsAfterTheBuild) {
  open_session();
  asks("reload");
  control(8, R"json({"command":"reload"})json");
  dies(build(1), 2);
  EXPECT_THAT(got_text(), HasSubstr("exit 2"));
  EXPECT_THAT(control_got(8), IsEmpty());
  dies(build(2), 3);
  EXPECT_THAT(control_got(8), ElementsAre(HasSubstr("exit 3")));
}

TEST_F(BridgeControlTest, AReloadIsNotLostWhenTheCallBeforeItIsCancelled) {
  open_session();
  client(rebuild(1));
  asks("reload");
  client(cancelled(1));
  dies(build(1), 143, "SIGTERM");
  dies(build(2), 3);
  EXPECT_THAT(got_text(), HasSubstr("exit 3"));
}

TEST_F(BridgeControlTest, AReloadMayKillFirst) {
  open_session();
  asks("reload", R"json(,"arguments":{"mode":"kill-first"})json");
  EXPECT_THAT(done(), AllOf(Contains("close 1"), Not(Contains("start build 1"))));
  dies(1, 0);
  dies(build(1), 2);
  EXPECT_THAT(got_text(), HasSubstr("exit 2"));
}

TEST_F(BridgeControlTest, AReloadThatWaitsForAnotherKeepsItsMode) {
  open_session();
  asks("reload");
  control(8, R"json({"command":"reload","arguments":{"mode":"kill-first"}})json");
  dies(build(1), 2);
  EXPECT_THAT(done(), Contains("close 1"));
  dies(1, 0);
  dies(build(2), 3);
  EXPECT_THAT(control_got(8), ElementsAre(HasSubstr("exit 3")));
}

TEST_F(BridgeControlTest, WithoutABuildCommandNothingIsBuiltForAReloadThatKillsFirst) {
  config.build_command.clear();
  open_session();
  asks("reload", R"json(,"arguments":{"mode":"kill-first"})json");
  EXPECT_THAT(done(), Contains("close 1"));
  dies(1, 0);
  EXPECT_THAT(done(), AllOf(Contains("start 2"), Not(Contains("start build 1"))));
  opens(2);
  EXPECT_THAT(got_text(), HasSubstr("spawn #2"));
}

TEST_F(BridgeControlTest, TwoReloadsBeforeTheNewServerIsStartedAreOne) {
  config.build_command.clear();
  open_session();
  control(9, R"json({"command":"kill"})json");
  asks("reload");
  control(8, R"json({"command":"reload"})json");
  dies(1, 0);
  EXPECT_THAT(done(), Contains("start 2"));
  opens(2);
  EXPECT_THAT(got_text(), HasSubstr("spawn #2"));
  EXPECT_THAT(control_got(8), ElementsAre(HasSubstr("spawn #2")));
  EXPECT_THAT(done(), Not(Contains("start 3")));
}

TEST_F(BridgeControlTest, AKillIsThatOfTheToolAndNothingBringsTheServerBackButARequest) {
  config.restarts = BridgeConfig::Restarts::eager;
  config.watch_patterns = {"src"};
  open_session();
  asks("kill");
  dies(1, 0);
  EXPECT_THAT(got_text(), HasSubstr("\"killed\""));
  changes("a.c");
  time_passes(seconds(60));
  EXPECT_THAT(done(), AllOf(Not(Contains("start 2")), Not(Contains("start build 1"))));
  client(call(2, "echo"));
  EXPECT_THAT(done(), Contains("start 2"));
  opens(2);
  child(2, result(2));
}

TEST_F(BridgeControlTest, AKillWithoutAServerEndsNoProcessOfOthers) {
  open_session();
  dies(1, 3);
  done();
  asks("kill");
  EXPECT_THAT(done(), Not(Contains(HasSubstr("sweep"))));
  EXPECT_THAT(got_text(), HasSubstr("\"count\": 0"));
}

TEST_F(BridgeControlTest, AKillOfAnotherSitterIsToldAsSuchAndEndsTheServerOnly) {
  config.restarts = BridgeConfig::Restarts::eager;
  open_session();
  client(call(2, "echo"));
  asks("kill", R"json(,"arguments":{"scope":"child"},"by":4711)json");
  dies(1, 0);
  EXPECT_THAT(answer().dump(),
              HasSubstr("the server was killed by sitter_kill of another mcp-sitter (pid 4711)"));
  time_passes(seconds(60));
  EXPECT_THAT(done(), Not(Contains(AnyOf(HasSubstr("sweep"), HasSubstr("start")))));
}

TEST_F(BridgeControlTest, AfterAKillNoSaveStartsTheServerAlsoIfTheReplacedServerEndsLast) {
  config.watch_patterns = {"src"};
  config.build_command.clear();
  open_session();
  client(call(2, "echo"));
  asks("reload");
  opens(2);
  got_text();
  asks("kill");
  dies(2, 0);
  dies(1, 0);
  got_text();
  asks("status");
  EXPECT_THAT(got_text(), AllOf(HasSubstr("\"childState\": \"down\""),
                                HasSubstr("\"lastKillReason\": \"ctl kill\"")));
  changes("a.c");
  time_passes(seconds(60));
  EXPECT_THAT(done(), Not(Contains("start 3")));
}

TEST_F(BridgeControlTest, TheModelReadsWhoHasKilledTheServer) {
  open_session();
  client(call(2, "echo"));
  asks("kill");
  dies(1, 0);
  EXPECT_THAT(answer().dump(), HasSubstr("the server was killed by ctl kill after"));
  got_text();
  client(call(3, "echo"));
  opens(2);
  child(2, result(3, text_result("a")));
  EXPECT_THAT(answer().dump(), HasSubstr("previous: killed by ctl kill after"));
}

TEST_F(BridgeControlTest, StderrIsShownAndFollowed) {
  open_session();
  child_says(1, "one");
  asks("stderr", R"json(,"follow":true)json");
  EXPECT_THAT(got_text(), HasSubstr("one"));
  child_says(1, "t\x1b[1mwo");
  EXPECT_THAT(control_got(kScript), ElementsAre(R"json({"line":"two"})json"));
  control_closes(kScript);
  child_says(1, "three");
  EXPECT_THAT(control_got(kScript), IsEmpty());
}

TEST_F(BridgeControlTest, OnlyLinesThatMatchAreFollowed) {
  open_session();
  asks("stderr", R"json(,"follow":true,"arguments":{"grep":"^t"})json");
  got_text();
  for (const char* line : {"one", "two", "three", "not this"}) child_says(1, line);
  EXPECT_THAT(control_got(kScript),
              ElementsAre(R"json({"line":"two"})json", R"json({"line":"three"})json"));
}

TEST_F(BridgeControlTest, EachConnectionFollowsWithTheLastPatternThatItHasSent) {
  open_session();
  control(8, R"json({"command":"stderr","follow":true})json");
  asks("stderr", R"json(,"follow":true,"arguments":{"grep":"error"})json");
  child_says(1, "an \"error\"");
  asks("stderr", R"json(,"follow":true,"arguments":{"grep":"warn"})json");
  child_says(1, "an error");
  child_says(1, "a warning");
  EXPECT_THAT(control_got(kScript),
              ElementsAre(HasSubstr("result"), R"json({"line":"an \"error\""})json",
                          HasSubstr("result"), R"json({"line":"a warning"})json"));
  EXPECT_THAT(control_got(8), SizeIs(4));
}

TEST_F(BridgeControlTest, WithAWrongPatternNothingIsFollowed) {
  open_session();
  asks("stderr", R"json(,"follow":true,"arguments":{"grep":"("})json");
  EXPECT_THAT(got_text(), HasSubstr("not a valid RE2 pattern"));
  child_says(1, "one");
  EXPECT_THAT(control_got(kScript), IsEmpty());
}

TEST_F(BridgeControlTest, RefusesAnInvalidRequestWithTheReason) {
  const std::string deep = "{\"command\":" + std::string(200, '[') + std::string(200, ']') + "}";
  const std::vector<std::pair<std::string, std::string>> mistakes = {
      {"", "not a JSON object"},
      {"x", "not a JSON object"},
      {"[]", "not a JSON object"},
      {"{}", "no command ''"},
      {R"json({"command":7})json", "no command ''"},
      {R"json({"command":"sleep"})json", "no command 'sleep'"},
      {deep, "nested too deeply"},
      {R"json({"command":"kill","arguments":{"scope":"all"}})json", "scope"},
      {R"json({"command":"reload","arguments":{"mode":"now"}})json", "mode"},
      {R"json({"command":"stderr","arguments":[1]})json", "arguments"}};
  for (const auto& [line, words] : mistakes) {
    control(kScript, line);
    EXPECT_THAT(control_got(kScript), ElementsAre(HasSubstr(words))) << line;
  }
}

TEST_F(BridgeControlTest, NoCancellationOfTheClientCancelsAControlRequest) {
  open_session();
  asks("reload");
  control(8, R"json({"command":"reload"})json");
  const std::int64_t first = std::int64_t{1} << 50;
  for (std::int64_t n = 0; n < 50; ++n) {
    client(cancelled(std::to_string(n)));
    client(cancelled(std::to_string(first + n)));
  }
  dies(build(1), 2);
  EXPECT_THAT(got_text(), HasSubstr("exit 2"));
  dies(build(2), 3);
  EXPECT_THAT(control_got(8), ElementsAre(HasSubstr("exit 3")));
}

TEST_F(BridgeControlTest, AnswersOpenControlRequestsAtTheEnd) {
  open_session();
  asks("reload");
  client_closes_input();
  time_passes(seconds(20));
  dies(1, 0);
  dies(build(1), 143, "SIGTERM");
  EXPECT_THAT(control_got(kScript), SizeIs(1));
}

TEST_F(BridgeControlTest, TheEndDoesNotWaitForAReloadFromOutside) {
  open_session();
  asks("reload");
  done();
  client_closes_input();
  EXPECT_THAT(done(), Contains("close 1"));
  dies(1, 0);
  dies(build(1), 143, "SIGTERM");
  EXPECT_THAT(control_got(kScript), SizeIs(1));
}

TEST_F(BridgeControlTest, NothingIsBuiltForAConnectionThatLeavesWithTwoReloads) {
  open_session();
  asks("reload");
  dies(build(1), 0);
  asks("reload");
  done();
  control_closes(kScript);
  EXPECT_THAT(done(), Not(Contains(HasSubstr("build"))));
}

TEST_F(BridgeControlTest, AReloadThatWasToFollowIsAnsweredWhenTheClientIsGone) {
  open_session();
  client(call(1, "sitter_rebuild"));
  asks("reload");
  client_closes_input();
  dies(build(1), 2);
  EXPECT_THAT(control_got(kScript), SizeIs(1));
  EXPECT_THAT(done(), Contains("close 1"));
  dies(1, 0);
}

TEST_F(BridgeControlTest, AQueuedReloadIsAnsweredWhenTheCallerOfTheRunningReloadLeaves) {
  open_session();
  client(call(1, "echo"));
  asks("reload");
  dies(build(1), 0);
  control(8, R"json({"command":"reload"})json");
  control(9, R"json({"command":"reload"})json");
  client_closes_input();
  control_closes(kScript);
  EXPECT_THAT(control_got(8), SizeIs(1));
  EXPECT_THAT(control_got(9), SizeIs(1));
  dies(2, 0);
  child(1, result(1, "{}"));
  dies(1, 0);
}

}  // namespace
}  // namespace sitter
