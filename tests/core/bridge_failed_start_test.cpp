#include "core/base/home_sign.hpp"
#include "support/respawn_script.hpp"

namespace sitter {
namespace {

/// The next child does not come to serve.
class BridgeFailedStartTest : public RespawnTest {
 protected:
  void three_starts_fail() {
    plays.start = false;
    open_session_with_start();
    for (Generation gen = 2; gen <= 4; ++gen) {
      client(call(gen, "echo"));
      start_fails(gen, "broken");
    }
  }
};

TEST_F(BridgeFailedStartTest, ARespawnedChildThatNeverAnswersIsTakenDown) {
  // The child is slower than the time limit of mcp-sitter 0.2.0.
  call_while_down();
  time_passes(seconds(20));
  done();
  time_passes(seconds(30));
  EXPECT_THAT(done(), ElementsAre("close 2"));
  dies(2, 0);
  EXPECT_THAT(answer_text(), HasSubstr("--startup-timeout"));
}

TEST_F(BridgeFailedStartTest, AReplayThatIsAnsweredWithAnErrorIsAFailedStart) {
  call_while_down();
  child(2, error("#2", -32000, "license expired"));
  done();
  dies(2, 1);
  EXPECT_THAT(answer_text(), AllOf(HasSubstr("license expired"), HasSubstr("not delivered")));
}

TEST_F(BridgeFailedStartTest, AnAnswerThatComesOnlyWhenStdinIsClosedWasInABuffer) {
  call_while_down();
  time_passes(config.startup_timeout);
  done();
  child(2, result("#2", server.opening()));
  dies(2, 0);
  EXPECT_THAT(
      answer_text(),
      AllOf(HasSubstr("was taken down; its answer came only when its stdin was closed: either "
                      "it needs more time (--startup-timeout), or the server or a program "
                      "behind it keeps the output in a buffer (flush each message: "
                      "python3 -u, sed -u, stdbuf -oL)"),
            HasSubstr("Fix that and call again")));
}

TEST_F(BridgeFailedStartTest, AFirstLineWithoutAnEndIsNamed) {
  call_while_down();
  time_passes(config.startup_timeout);
  done();
  child_breaks_off(2, result("#2", server.opening()));
  dies(2, 0);
  EXPECT_THAT(answer_text(),
              AllOf(HasSubstr("; its stdout held a line without an end, and over stdio a newline "
                              R"(ends each message: {"jsonrpc":"2.0")"),
                    HasSubstr("Fix that and call again"), Not(HasSubstr("more time"))));
}

TEST_F(BridgeFailedStartTest, ASlowServerThatHasSpokenIsNotSaidToBuffer) {
  call_while_down();
  child(2, notification("notifications/message", R"json({"level":"info","data":"x"})json"));
  time_passes(config.startup_timeout);
  child(2, result("#2", server.opening()));
  dies(2, 0);
  EXPECT_THAT(done(), Contains(AllOf(HasSubstr("more time"), Not(HasSubstr("buffer")))));
}

TEST_F(BridgeFailedStartTest, ATildeThatNoShellHasExpandedIsNamed) {
  const std::string words = "write the path of the home directory in its place";
  config.command = "python3";
  config.arguments = {"-u", "~/srv.py"};
  plays.start = false;
  client(initialize(0));
  start_fails(1, "no such file");
  EXPECT_THAT(answer()["result"]["instructions"].get<std::string>(),
              HasSubstr("no such file; no shell has expanded the ~ in '~/srv.py': " + words));
  plays.start = true;
  client(call(1, "echo"));
  dies(2, 2);
  EXPECT_THAT(answer_text(), HasSubstr("it had answered its opening; no shell has expanded the ~ "
                                       "in '~/srv.py': " +
                                       words + ". This call"));
  client(call(2, "echo"));
  opens(3);
  dies(3, 3);
  EXPECT_THAT(done(), Contains(AllOf(HasSubstr("crashed (exit 3)"), Not(HasSubstr(words)))));
}

TEST_F(BridgeFailedStartTest, ATildeInTheCommandItselfIsNamedAndAnotherIsNot) {
  config.command = "~/bin/server";
  config.arguments = {"a~/b", "~"};
  plays.start = false;
  client(initialize(0));
  start_finds_no_command(1);
  EXPECT_THAT(answer()["result"]["instructions"].get<std::string>(),
              HasSubstr("; no shell has expanded the ~ in '~/bin/server': "));
}

TEST(HomeSign, StandsWhereAShellWouldExpandIt) {
  for (const char* argument : {"~/x", "~root/x.sh", "--config=~/x.json", "~/My Files/x"}) {
    EXPECT_TRUE(has_home_sign(argument)) << argument;
  }
  for (const char* argument : {"", "~", "a~/b", "~5", "x=~", "~*/x"}) {
    EXPECT_FALSE(has_home_sign(argument)) << argument;
  }
  EXPECT_TRUE(has_home_sign("exec \"~/x\"", true));
  EXPECT_FALSE(has_home_sign("~/x --stdio", true));
  EXPECT_FALSE(has_home_sign("A=~/a ~/x", true));
}

TEST_F(BridgeFailedStartTest, ATildeThatTheShellOfTheServerExpandsIsNotNamed) {
  config.command = "sh";
  config.arguments = {"-c", "~/srv.sh"};
  client(initialize(0));
  dies(1, 2);
  EXPECT_THAT(answer()["result"]["instructions"].get<std::string>(),
              Not(HasSubstr("no shell has expanded")));
}

TEST_F(BridgeFailedStartTest, AnUnknownVersionIsAFailedStart) {
  open_session();
  down();
  server.protocol_version = "2026-07-28";
  client(call(1, "echo"));
  done();
  child(2, result("#2", server.opening()));
  EXPECT_THAT(done(), ElementsAre("close 2"));
  dies(2, 0);
  EXPECT_THAT(answer_text(), HasSubstr("protocolVersion \"2026-07-28\" is neither"));
}

TEST_F(BridgeFailedStartTest, AFailedStartFailsTheWaitingRequests) {
  plays.start = false;
  open_session_with_start();
  client(call(1, "echo"));
  client(request(2, "vendor/x"));
  client(request(3, "tools/list"));
  client(request(4, "prompts/list"));
  client(notification("notifications/vendor"));
  done();
  start_fails(2, "no such file or directory: server");
  const auto got = client_got();
  ASSERT_THAT(got, SizeIs(4));
  EXPECT_THAT(got[0],
              AllOf(HasSubstr(R"json("isError":true)json"),
                    HasSubstr("no such file or directory: server"), HasSubstr("not delivered")));
  EXPECT_THAT(got[1], AllOf(HasSubstr("-32603"), HasSubstr("no such file or directory: server")));
  EXPECT_THAT(
      got[2],
      AllOf(HasSubstr(R"json("tools":[{"name":"echo","inputSchema":{"type":"object"}},)json"),
            HasSubstr("sitter_status")));
  EXPECT_EQ(got[3], result(4, R"json({"prompts":[]})json"));
}

TEST_F(BridgeFailedStartTest, AChildThatDiesInItsOpeningNamesExitCodeAndLastWords) {
  call_while_down();
  child_says(2, "SyntaxError: line 3");
  done();
  dies(2, 1);
  EXPECT_THAT(answer_text(), AllOf(HasSubstr("exit 1"), HasSubstr("SyntaxError: line 3")));
}

TEST_F(BridgeFailedStartTest, AFailedStartIsTriedAgainByTheNextRequest) {
  plays.start = false;
  open_session_with_start();
  client(call(1, "echo"));
  start_fails(2, "no");
  done();
  time_passes(seconds(100));
  EXPECT_THAT(done(), IsEmpty());
  client(call(2, "echo"));
  EXPECT_THAT(done(), ElementsAre("start 3"));
  start_fails(3, "no");
}

TEST_F(BridgeFailedStartTest, RepeatedFailedStartsAreSpacedOut) {
  plays.start = false;
  open_session_with_start();
  for (Generation gen = 2; gen <= 4; ++gen) {
    client(call(gen, "echo"));
    EXPECT_THAT(done(), ElementsAre("start " + std::to_string(gen)));
    start_fails(gen, "broken");
    done();
  }
  for (int id = 10; id < 60; ++id) {
    client(call(id, "echo"));
    EXPECT_THAT(done(), ElementsAre("check files", AllOf(HasSubstr("broken"),
                                                         HasSubstr("no new start was tried"))));
  }
  time_passes(milliseconds(999));
  client(call(60, "echo"));
  EXPECT_THAT(done(), ElementsAre("check files", HasSubstr("broken")));
  time_passes(milliseconds(1));
  client(call(61, "echo"));
  EXPECT_THAT(done(), ElementsAre("start 5"));
  start_fails(5, "broken");
  done();
  client(call(62, "echo"));
  EXPECT_THAT(done(), ElementsAre("check files", HasSubstr("broken")));
}

TEST_F(BridgeFailedStartTest, QuotesTheStderrOfTheLastStartDuringTheBackOff) {
  open_session();
  down();
  for (Generation gen = 2; gen <= 4; ++gen) {
    client(call(gen, "echo"));
    child_says(gen, "SyntaxError: line " + std::to_string(gen));
    dies(gen, 1);
  }
  done();
  client(call(5, "echo"));
  EXPECT_THAT(answer_text(),
              AllOf(HasSubstr("no new start was tried"), HasSubstr("SyntaxError: line 4")));
}

TEST_F(BridgeFailedStartTest, AChangedFileEndsTheBackOff) {
  three_starts_fail();
  done();
  files_changed = true;
  client(call(10, "echo"));
  EXPECT_THAT(done(), ElementsAre("check files", "start 5"));
  start_fails(5, "broken");
}

TEST_F(BridgeFailedStartTest, ManyRequestsShareOneFileCheck) {
  plays.check = false;
  three_starts_fail();
  done();
  client(call(10, "echo"));
  client(call(11, "echo"));
  EXPECT_THAT(done(), ElementsAre("check files"));
  files_checked(false);
  EXPECT_THAT(client_got(), SizeIs(2));
}

TEST_F(BridgeFailedStartTest, AChildThatServesResetsTheBackOff) {
  three_starts_fail();
  time_passes(seconds(1));
  client(call(10, "echo"));
  started(5);
  opens(5);
  child(5, result(10, text_result("x")));
  EXPECT_THAT(client_got(),
              Contains(HasSubstr("3 starts failed before this one, the last: the server could not "
                                 "be started: broken")));
  dies(5, 3);
  done();
  client(call(11, "echo"));
  EXPECT_THAT(done(), ElementsAre("start 6"));
  start_fails(6, "broken");
}

TEST_F(BridgeFailedStartTest, AChildThatDiesWhileItsListsAreTakenIsAFailedStart) {
  call_while_down();
  child(2, result("#2", server.opening()));
  done();
  dies(2, 9);
  EXPECT_THAT(answer_text(), AllOf(HasSubstr("exit 9"), HasSubstr("not delivered")));
}

TEST_F(BridgeFailedStartTest, ATaskThatWaitedForAFailedStartGetsAnError) {
  plays.start = false;
  open_session_with_start();
  client(request(1, "tools/call", R"json({"name":"work","task":{"ttl":1}})json"));
  done();
  start_fails(2, "no such file");
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr(R"json("error":{"code":-32603)json"),
                                              HasSubstr("no such file"))));
}

TEST_F(BridgeFailedStartTest, ListsAreAnsweredWhileStartsAreDelayed) {
  three_starts_fail();
  done();
  client(request(10, "tools/list"));
  EXPECT_THAT(done(),
              ElementsAre("check files", AllOf(HasSubstr("\"echo\""), HasSubstr("sitter_status"))));
}

}  // namespace
}  // namespace sitter
