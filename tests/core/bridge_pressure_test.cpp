#include "support/bridge_script.hpp"

namespace sitter {
namespace {

class BridgePressureTest : public BridgeTest {
 protected:
  void SetUp() override { open_session(); }

  void become_deaf() {
    input_full(1);
    time_passes(limits::kDeafAfter);
    done();
  }
};

TEST_F(BridgePressureTest, TheClientIsReadWhileTheChildTakesLines) {
  EXPECT_TRUE(bridge().reads_client());
  input_full(1);
  EXPECT_FALSE(bridge().reads_client());
  input_drained(1);
  EXPECT_TRUE(bridge().reads_client());
}

TEST_F(BridgePressureTest, AChildThatTakesNothingForASecondIsDeaf) {
  // The child stops reading stdin.
  input_full(1);
  time_passes(milliseconds(999));
  EXPECT_FALSE(bridge().reads_client());
  time_passes(milliseconds(1));
  EXPECT_TRUE(bridge().reads_client());
  EXPECT_THAT(logs(), Contains(HasSubstr("stopped reading")));
}

TEST_F(BridgePressureTest, AChildThatTakesLittleIsNotDeaf) {
  input_full(1);
  for (int n = 0; n < 10; ++n) {
    time_passes(milliseconds(999));
    input_moved(1);
  }
  EXPECT_FALSE(bridge().reads_client());
  input_drained(1);
}

TEST_F(BridgePressureTest, RequestsToADeafChildGetAnError) {
  become_deaf();
  for (const std::string& line : {call(1, "echo"), request(1, "tools/list")}) {
    client(line);
    EXPECT_THAT(client_got(),
                ElementsAre(AllOf(HasSubstr("-32603"), HasSubstr("the server has stopped reading"),
                                  HasSubstr("not delivered"), HasSubstr("sitter_kill"))));
  }
}

TEST_F(BridgePressureTest, BuiltinsWorkWithADeafChild) {
  become_deaf();
  client(call(1, "sitter_status"));
  EXPECT_THAT(answer_text(), HasSubstr("childState"));
  client(call(2, "sitter_kill"));
  EXPECT_THAT(done(), ElementsAre("close 1"));
  dies(1, 0);
  EXPECT_THAT(client_got(), SizeIs(1));
}

TEST_F(BridgePressureTest, APingIsAnsweredForADeafChild) {
  // A client that gets an error might give up the whole connection.
  become_deaf();
  client(request(1, "ping"));
  EXPECT_THAT(done(), ElementsAre("client " + result(1)));
}

TEST_F(BridgePressureTest, CancellationsWorkWithADeafChild) {
  client(call(1, "work"));
  become_deaf();
  client(cancelled(1));
  EXPECT_THAT(done(), IsEmpty());
  client(call(2, "sitter_kill"));
  dies(1, 0);
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("\"id\":2,")));
}

TEST_F(BridgePressureTest, NotificationsToADeafChildAreDroppedAndLogged) {
  child(1, request(0, "roots/list"));
  become_deaf();
  const std::size_t before = logs().size();
  client(notification("notifications/vendor"));
  client(result(1));
  EXPECT_THAT(done(), IsEmpty());
  EXPECT_EQ(logs().size(), before + 2);
}

TEST_F(BridgePressureTest, AChildThatReadsAgainIsServedAgain) {
  become_deaf();
  input_drained(1);
  client(call(1, "echo"));
  EXPECT_THAT(done(), ElementsAre("child 1 " + call(1, "echo")));
  child(1, result(1));
}

TEST_F(BridgePressureTest, AnswersOfADeafChildStillPass) {
  client(call(1, "work"));
  become_deaf();
  child(1, result(1));
  EXPECT_THAT(done(), ElementsAre("client " + result(1)));
}

TEST_F(BridgePressureTest, ADeadChildHoldsNothingUp) {
  input_full(1);
  dies(1, 3);
  EXPECT_TRUE(bridge().reads_client());
  time_passes(seconds(5));
  done();
  client(call(1, "echo"));
  opens(2);
  EXPECT_THAT(done(), Contains("child 2 " + call(1, "echo")));
  child(2, result(1));
}

TEST_F(BridgePressureTest, AnOpeningOfADeafChildIsStillEnded) {
  dies(1, 0);
  client(call(1, "echo"));
  input_full(2);
  EXPECT_FALSE(bridge().reads_client());
  time_passes(seconds(1));
  EXPECT_TRUE(bridge().reads_client());
  client(call(2, "sitter_kill"));
  EXPECT_THAT(client_got(), Contains(HasSubstr("not delivered")));
  dies(2, 0);
}

TEST_F(BridgePressureTest, ASecondOpeningOfADeafChildIsAnswered) {
  become_deaf();
  client(initialize(5));
  EXPECT_THAT(client_got(),
              ElementsAre(AllOf(HasSubstr("\"id\":5,"), HasSubstr("stopped reading"))));
}

}  // namespace
}  // namespace sitter
