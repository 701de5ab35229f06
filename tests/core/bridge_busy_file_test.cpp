#include "support/bridge_script.hpp"

namespace sitter {
namespace {

/// A program file that is still being written when it is to be started.
class BridgeBusyFileTest : public BridgeTest {
 protected:
  BridgeBusyFileTest() { plays.start = false; }
};

TEST_F(BridgeBusyFileTest, IsStartedAgainUntilItWorks) {
  client(initialize(1));
  EXPECT_THAT(done(), ElementsAre("start 1"));
  start_fails(1, "text file busy", true);
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(99));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(done(), ElementsAre("start 1"));
  started(1);
  EXPECT_THAT(done(), Contains(HasSubstr("initialize")));
  opens(1);
}

TEST_F(BridgeBusyFileTest, IsGivenUpAfterTwoSeconds) {
  client(initialize(1));
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(done(), ElementsAre("start 1")) << i;
    start_fails(1, "text file busy", true);
    time_passes(milliseconds(100));
  }
  EXPECT_THAT(done(), ElementsAre("start 1"));
  start_fails(1, "text file busy", true);
  EXPECT_THAT(answer().dump(), HasSubstr("text file busy"));
}

TEST_F(BridgeBusyFileTest, AKillEndsTheWait) {
  client(initialize(1));
  start_fails(1, "text file busy", true);
  client(call(2, "sitter_kill"));
  done();
  time_passes(seconds(1));
  EXPECT_THAT(done(), Not(Contains("start 1")));
}

TEST_F(BridgeBusyFileTest, TheEndOfTheSessionEndsTheWait) {
  config.restarts = BridgeConfig::Restarts::eager;
  plays.start = true;
  open_session();
  dies(1, 0);
  plays.start = false;
  time_passes(seconds(1));
  start_fails(2, "text file busy", true);
  done();
  client_closes_input();
  EXPECT_THAT(done(), ElementsAre("exit 0"));
}

}  // namespace
}  // namespace sitter
