#include "support/bridge_script.hpp"

namespace sitter {
namespace {

/// Servers that are restarted without a request, as --restart says.
class BridgeRestartTest : public BridgeTest {
 protected:
  BridgeRestartTest() { config.restarts = BridgeConfig::Restarts::on_crash; }

  nlohmann::json restart_status() {
    client(call(90, "sitter_status"));
    return nlohmann::json::parse(answer_text())["restart"];
  }
};

TEST_F(BridgeRestartTest, ACrashedServerComesBackByItself) {
  open_listed_session();
  server.tools = {tool("echo"), tool("find")};
  dies(1, 3);
  done();
  time_passes(milliseconds(999));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(done(), Contains("start 2"));
  opens(2);
  EXPECT_THAT(client_got(), ElementsAre(notification("notifications/tools/list_changed")));
  time_passes(seconds(1));
  client(call(1, "find"));
  child(2, result(1, text_result("a")));
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("spawn #2"), HasSubstr("+1 added (find)"),
                                              HasSubstr("crashed (exit 3)"))));
}

TEST_F(BridgeRestartTest, ARequestRestartsTheServerAtOnce) {
  open_session();
  dies(1, 3);
  client(call(1, "echo"));
  EXPECT_THAT(done(), Contains("start 2"));
  opens(2);
  child(2, result(1));
  done();
  time_passes(seconds(60));
  EXPECT_THAT(done(), IsEmpty());
  EXPECT_EQ(restart_status()["inARow"], 0);
}

TEST_F(BridgeRestartTest, TheWaitIsDoubledUpToThirtySeconds) {
  open_session();
  Generation gen = 1;
  for (const int wait : {1, 2, 4, 8, 16, 30, 30}) {
    dies(gen++, 3);
    time_passes(seconds(wait) - milliseconds(1));
    EXPECT_THAT(done(), Not(Contains("start " + std::to_string(gen)))) << wait;
    time_passes(milliseconds(1));
    EXPECT_THAT(done(), Contains("start " + std::to_string(gen))) << wait;
    opens(gen);
  }
}

TEST_F(BridgeRestartTest, AMinuteOfRunningResetsTheCount) {
  config.restarts_max = 1;
  open_session();
  dies(1, 3);
  time_passes(seconds(1));
  opens(2);
  time_passes(milliseconds(59'999));
  dies(2, 3);
  time_passes(seconds(60));
  EXPECT_THAT(done(), Not(Contains("start 3")));
  client(call(1, "echo"));
  opens(3);
  child(3, result(1));
  time_passes(seconds(60));
  dies(3, 3);
  time_passes(seconds(1));
  EXPECT_THAT(done(), Contains("start 4"));
  opens(4);
}

TEST_F(BridgeRestartTest, AServerThatExitedCleanlyStaysDown) {
  open_session();
  dies(1, 0);
  done();
  time_passes(seconds(60));
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(BridgeRestartTest, EagerRestartsAlsoAServerThatExitedByItself) {
  config.restarts = BridgeConfig::Restarts::eager;
  open_session();
  dies(1, 0);
  time_passes(seconds(1));
  EXPECT_THAT(done(), Contains("start 2"));
  opens(2);
}

TEST_F(BridgeRestartTest, DoesNotRestartAfterAKill) {
  // Somebody may be building.
  config.restarts = BridgeConfig::Restarts::eager;
  open_session();
  client(call(1, "sitter_kill"));
  dies(1, 0);
  done();
  time_passes(seconds(60));
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(BridgeRestartTest, NoRestartFollowsAKillThatFindsNothing) {
  open_session();
  dies(1, 3);
  client(call(1, "sitter_kill"));
  done();
  time_passes(seconds(60));
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(BridgeRestartTest, RestartsInARowEndAtTheMaximum) {
  config.restarts_max = 2;
  open_session();
  for (Generation gen = 1; gen <= 3; ++gen) {
    dies(gen, 3);
    time_passes(seconds(30));
    if (gen <= 2) opens(gen + 1);
  }
  EXPECT_THAT(done(), Not(Contains("start 4")));
  EXPECT_THAT(logs(), Contains(HasSubstr("started again 2 times in a row")));
  client(call(1, "echo"));
  EXPECT_THAT(done(), Contains("start 4"));
  opens(4);
  child(4, result(1));
}

TEST_F(BridgeRestartTest, ACleanExitDoesNotCountTowardsTheMaximum) {
  config.restarts_max = 0;
  open_session();
  dies(1, 0);
  EXPECT_THAT(logs(), Not(Contains(HasSubstr("times in a row"))));
  client(call(1, "echo"));
  opens(2);
  child(2, result(1));
  dies(2, 3);
  EXPECT_THAT(logs(), Contains(HasSubstr("started again 0 times in a row")));
}

TEST_F(BridgeRestartTest, AFailedStartIsTriedAgain) {
  open_session();
  dies(1, 3);
  time_passes(seconds(1));
  dies(2, 1);
  done();
  time_passes(seconds(2));
  EXPECT_THAT(done(), Contains("start 3"));
  opens(3);
}

TEST_F(BridgeRestartTest, AtTheEndNothingComesBack) {
  open_session();
  client(call(1, "hang"));
  client_closes_input();
  dies(1, 3);
  EXPECT_THAT(done(), Contains("exit 0"));
}

TEST_F(BridgeRestartTest, StatusShowsThePolicy) {
  open_session();
  dies(1, 3);
  time_passes(seconds(1));
  opens(2);
  done();
  EXPECT_EQ(restart_status(),
            nlohmann::json::parse(R"json({"policy":"on-crash","inARow":1,"max":10})json"));
}

}  // namespace
}  // namespace sitter
