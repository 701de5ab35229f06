#include "support/rebuild_script.hpp"

namespace sitter {
namespace {

/// Calls of sitter_kill that start the server again.
class BridgeKillRestartTest : public BridgeRebuildTest {
 protected:
  BridgeKillRestartTest() { config.build_command.clear(); }

  static std::string kill(const Id& id,
                          const std::string& arguments = R"json({"restart":true})json") {
    return call(id, "sitter_kill", arguments);
  }
};

TEST_F(BridgeKillRestartTest, TheAnswerIsTheNoticeOfTheNextServer) {
  open_session();
  server.tools = {tool("echo"), tool("find")};
  client(kill(1));
  EXPECT_THAT(done(), Not(Contains("start 2")));
  dies(1, 0);
  EXPECT_THAT(done(), AllOf(Contains("start 2"), Not(Contains(HasSubstr("killed")))));
  opens(2);
  EXPECT_THAT(text_of(rebuilt()),
              AllOf(HasSubstr("server restarted (spawn #2"), HasSubstr("previous: killed by"),
                    HasSubstr("+1 added (find)"), HasSubstr("\"relation\": \"child\"")));
  // The notice was told, and the server takes calls.
  client(call(2, "find"));
  child(2, result(2, text_result("x")));
  EXPECT_EQ(answer_text(), "x");
}

TEST_F(BridgeKillRestartTest, NothingIsBuilt) {
  config.build_command = "make";
  open_session();
  client(kill(1));
  dies(1, 0);
  EXPECT_THAT(done(), AllOf(Contains("start 2"), Not(Contains("start build 1"))));
  opens(2);
  EXPECT_THAT(text_of(rebuilt()), Not(HasSubstr("build")));
}

TEST_F(BridgeKillRestartTest, AServerThatDoesNotStartIsAFailure) {
  open_session();
  client(kill(1));
  dies(1, 0);
  child_says(2, "SyntaxError: invalid syntax");
  dies(2, 1);
  const auto result = rebuilt();
  EXPECT_EQ(result["isError"], true);
  EXPECT_THAT(text_of(result), AllOf(HasSubstr("exit 1"), HasSubstr("SyntaxError")));
}

TEST_F(BridgeKillRestartTest, StartsAServerThatIsDown) {
  open_session();
  dies(1, 3);
  client(kill(1));
  EXPECT_THAT(done(), Contains("start 2"));
  opens(2);
  EXPECT_THAT(text_of(rebuilt()), HasSubstr("previous: ⚠ crashed (exit 3)"));
}

TEST_F(BridgeKillRestartTest, TheListIsTakenBeforeTheAnswer) {
  open_listed_session();
  server.tools = {tool("find")};
  client(kill(1));
  dies(1, 0);
  opens(2);
  EXPECT_THAT(done(), AllOf(Contains("client " + notification("notifications/tools/list_changed")),
                            Not(Contains(HasSubstr("server restarted")))));
  client(request(2, "tools/list"));
  child(2, result(2, R"json({"tools":[]})json"));
  time_passes(milliseconds(1));
  EXPECT_THAT(client_got(), Contains(HasSubstr("server restarted")));
}

TEST_F(BridgeKillRestartTest, ACallThatWantsNoRestartIsAnsweredBeforeIt) {
  open_session();
  client(kill(2, "{}"));
  client(kill(1));
  dies(1, 0);
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("\"id\":2,")));
  opens(2);
  EXPECT_THAT(text_of(rebuilt()), HasSubstr("spawn #2"));
}

TEST_F(BridgeKillRestartTest, ARebuildThatFollowsBuilds) {
  config.build_command = "make";
  open_session();
  client(kill(1));
  dies(1, 0);
  client(rebuild(2));
  opens(2);
  EXPECT_THAT(done(), AllOf(Contains(HasSubstr("spawn #2")), Contains("start build 1")));
  dies(build(1), 0);
  opens(3);
  EXPECT_THAT(client_got(), Contains(HasSubstr("spawn #3")));
}

TEST_F(BridgeKillRestartTest, JoinsARebuildThatSurvivesTheKill) {
  config.build_command = "make";
  open_session();
  client(rebuild(2));
  client(kill(1));
  dies(1, 0);
  EXPECT_THAT(done(), Not(Contains("start 2")));
  dies(build(1), 0);
  opens(2);
  EXPECT_THAT(client_got(), SizeIs(2));
}

TEST_F(BridgeKillRestartTest, ABuildThatTheKillEndsIsNotBegunAnew) {
  config.build_command = "make";
  open_session();
  ask_reload();
  client(kill(1));
  dies(1, 0);
  dies(build(1), 143, "SIGTERM");
  EXPECT_THAT(done(), AllOf(Contains("start 2"), Not(Contains("start build 2"))));
  opens(2);
  EXPECT_THAT(text_of(rebuilt()), HasSubstr("spawn #2"));
}

TEST_F(BridgeKillRestartTest, AfterTheEndOfTheInputNothingIsStarted) {
  open_session();
  client(kill(1));
  client_closes_input();
  dies(1, 0);
  EXPECT_THAT(done(), AllOf(Not(Contains("start 2")), Contains(HasSubstr("killed"))));
}

TEST_F(BridgeKillRestartTest, AskedForWithAWiderScopeItComesAfterTheCheck) {
  open_session();
  client(kill(1, R"json({"scope":"same-executable","restart":true})json"));
  dies(1, 0);
  opens(2);
  EXPECT_THAT(text_of(rebuilt()), HasSubstr("spawn #2"));
}

TEST_F(BridgeKillRestartTest, IsTheReasonOfTheStart) {
  open_session();
  client(kill(1));
  dies(1, 0);
  done();
  client(call(2, "sitter_status"));
  EXPECT_THAT(answer_text(), AllOf(HasSubstr("(spawn #2; reason: sitter_kill)"),
                                   HasSubstr("a new server is on its way (sitter_kill)")));
  opens(2);
}

}  // namespace
}  // namespace sitter
