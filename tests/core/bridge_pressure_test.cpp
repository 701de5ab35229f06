#include "core/child/child_input.hpp"
#include "core/client/client_requests.hpp"
#include "sitter/bytes.hpp"
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
  time_passes(limits::kDeafAfter);
  client(call(1, "echo"));
  EXPECT_THAT(done(), ElementsAre("child 1 " + call(1, "echo")));
  child(1, result(1));
}

TEST_F(BridgePressureTest, AChildThatTakesNothingForASecondIsDeaf) {
  input_full(1);
  time_passes(milliseconds(999));
  input_full(1);
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

TEST_F(BridgePressureTest, ADeafChildThatHasTakenAllOfItsQueueIsServedAgain) {
  become_deaf();
  input_moved(1);
  input_full(1);
  EXPECT_TRUE(bridge().reads_client());
  EXPECT_EQ(next_timeout(), std::nullopt);
  client(call(1, "echo"));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("stopped reading")));
  input_drained(1);
  client(call(2, "echo"));
  EXPECT_THAT(done(), ElementsAre("child 1 " + call(2, "echo")));
  child(1, result(2));
}

TEST_F(BridgePressureTest, AnswersOfADeafChildStillPass) {
  client(call(1, "work"));
  become_deaf();
  child(1, result(1));
  EXPECT_THAT(done(), ElementsAre("client " + result(1)));
}

TEST_F(BridgePressureTest, ADeadChildDoesNotBlockTheClient) {
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

TEST_F(BridgePressureTest, AKillEndsTheOpeningOfADeafChild) {
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

/// Requests that a child does not answer take memory.
class BridgeThrottleTest : public BridgeTest {
 protected:
  void SetUp() override { open_session(); }

  /// A request whose line has `size` bytes.
  static std::string read(int number, std::size_t size) {
    const std::string line = request(number, "resources/read", R"json({"uri":""})json");
    return request(number, "resources/read",
                   R"json({"uri":")json" + std::string(size - line.size(), 'x') + "\"}");
  }
  static std::string long_id(char letter) {
    return "\"" + std::string(limits::kMiB, letter) + "\"";
  }
  /// Brings the requests in flight over the bound by their ids alone.
  void fill_up() {
    for (char letter = 'a'; letter < 'a' + 16; ++letter) {
      client(request(long_id(letter), "vendor/x"));
    }
    EXPECT_EQ(limits::kInFlightBytesMax, 16 * limits::kMiB);
    done();
  }
  void answer_crowd() {
    for (char letter = 'a'; letter < 'a' + 16; ++letter) child(1, result(long_id(letter)));
    done();
  }
};

TEST_F(BridgeThrottleTest, DoesNotResendARequestAboveTheByteLimit) {
  constexpr std::size_t size = limits::kInFlightBytesMax / 4;
  // Besides its line, each request has an id of one byte.
  for (int n = 1; n <= 4; ++n) client(read(n, n < 4 ? size : size - 5));
  client(read(5, 100));
  EXPECT_TRUE(bridge().reads_client());
  done();
  dies(1, 3);
  const auto got = client_got();
  EXPECT_THAT(got, ElementsAre(AllOf(HasSubstr("\"id\":5,"), HasSubstr("exit 3"))));
  opens(2);
  for (int n = 1; n <= 4; ++n) child(2, result(n));
}

TEST_F(BridgeThrottleTest, ALineThatJustFitsIsKeptAndOneByteMoreIsNot) {
  constexpr std::size_t size = limits::kInFlightBytesMax / 4;
  Generation gen = 1;
  int last = 0;
  // The ids of the three requests before this line count too.
  for (const std::size_t left : {size - 3, size - 2}) {
    for (int n = 0; n < 3; ++n) client(read(++last, size));
    client(read(++last, left));
    done();
    dies(gen++, 3);
    EXPECT_THAT(client_got(), SizeIs(left == size - 3 ? 0 : 1));
    opens(gen);
    for (int n = 3; n > 0; --n) child(gen, result(last - n));
    if (left == size - 3) child(gen, result(last));
    done();
  }
}

TEST_F(BridgeThrottleTest, PausesReadingForASecondIfTheIdsExceedTheLimit) {
  fill_up();
  EXPECT_FALSE(bridge().reads_client());
  // What was read already is still passed on.
  client(call(4, "echo"));
  EXPECT_THAT(done(), ElementsAre("child 1 " + call(4, "echo")));
  child(1, result(4));
  done();
  time_passes(limits::kDeafAfter - milliseconds(1));
  EXPECT_FALSE(bridge().reads_client());
  time_passes(milliseconds(1));
  EXPECT_TRUE(bridge().reads_client());
  client(call(1, "echo"));
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("-32603"), HasSubstr("unanswered"),
                                              HasSubstr("16777216"))));
  client(call(2, "sitter_status"));
  EXPECT_THAT(answer_text(), HasSubstr("childState"));
  answer_crowd();
  client(call(3, "echo"));
  EXPECT_THAT(done(), ElementsAre("child 1 " + call(3, "echo")));
  child(1, result(3));
}

TEST_F(BridgeThrottleTest, PausesReadingAboveTheLimitUntilTheNextAnswer) {
  const std::string id = "\"" + std::string(limits::kInFlightBytesMax - 2, 'x') + "\"";
  client(request(id, "vendor/x"));
  EXPECT_TRUE(bridge().reads_client());
  client(request(7, "vendor/x"));
  EXPECT_FALSE(bridge().reads_client());
  child(1, result(7));
  EXPECT_TRUE(bridge().reads_client());
  EXPECT_EQ(next_timeout(), std::nullopt);
  time_passes(seconds(2));
  done();
  client(call(3, "echo"));
  EXPECT_THAT(done(), ElementsAre("child 1 " + call(3, "echo")));
  child(1, result(3));
  child(1, result(id));
}

}  // namespace
}  // namespace sitter
