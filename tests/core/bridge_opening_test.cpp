#include "core/base/text.hpp"
#include "core/bridge/tools.hpp"
#include "support/bridge_script.hpp"

namespace sitter {
namespace {

class BridgeOpeningTest : public BridgeTest {
 protected:
  static std::string instructions() {
    const std::string raw = json_string(Tools::names({}).instructions());
    return raw.substr(1, raw.size() - 2);
  }

  /// The opening of a child with tools and listChanged, with the bridge's own additions.
  std::string amended(const std::string& opening) {
    return opening.substr(0, opening.size() - 1) + R"json(,"instructions":")json" + instructions() +
           "\"}";
  }

  /// The client opens a second time, after call 6 has started child 2.
  void open_in_a_respawn(const std::string& version = "2025-11-25") {
    open_session();
    dies(1, 0);
    client(call(6, "echo"));
    done();
    client(initialize(7, version));
    EXPECT_THAT(done(), IsEmpty());
  }
};

TEST_F(BridgeOpeningTest, NothingIsStartedBeforeALineNeedsIt) {
  bridge();
  time_passes(seconds(60));
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(BridgeOpeningTest, TheChildIsAskedTheClientsOwnOpening) {
  const std::string opening = initialize(R"json("caf\u00e9")json");
  client(opening);
  EXPECT_THAT(done(), ElementsAre("start 1", "child 1 " + opening));
  opens(1);
}

TEST_F(BridgeOpeningTest, TheWholeOpeningInOrder) {
  client(initialize(0));
  EXPECT_THAT(done(), ElementsAre("start 1", "child 1 " + initialize(0)));
  child(1, result(0, server.opening()));
  EXPECT_THAT(done(), ElementsAre("client " + result(0, amended(server.opening()))));
  client(initialized());
  EXPECT_THAT(done(), ElementsAre("child 1 " + initialized(),
                                  "child 1 " + request("#1", "tools/list", "{}")));
  child(1, result("#1", Server::list("tools", server.tools)));
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(BridgeOpeningTest, APipelinedOpeningReachesTheChildOnce) {
  // The client does not wait for the answer to initialize.
  client(initialize(0));
  client(initialized());
  client(request(1, "tools/list"));
  client(call(2, "echo"));
  EXPECT_THAT(done(), ElementsAre("start 1", "child 1 " + initialize(0)));
  child(1, result(0, server.opening()));
  EXPECT_THAT(
      done(),
      ElementsAre("client " + result(0, amended(server.opening())), "child 1 " + initialized(),
                  "child 1 " + request("#1", "tools/list", "{}"),
                  "child 1 " + request(1, "tools/list"), "child 1 " + call(2, "echo")));
  child(1, result("#1", Server::list("tools", server.tools)));
  child(1, result(1, Server::list("tools", server.tools)));
  child(1, result(2, text_result("x")));
  EXPECT_THAT(client_got(), SizeIs(2));
}

TEST_F(BridgeOpeningTest, TheFirstRequestOfAClientThatNeverSaysInitializedCountsAsThat) {
  client(initialize(0));
  child(1, result(0, server.opening()));
  client(request(1, "ping"));
  done();
  child(1, result(1));
  done();
  client(request(2, "tools/list"));
  EXPECT_THAT(done(), ElementsAre("child 1 " + initialized(),
                                  "child 1 " + request("#1", "tools/list", "{}"),
                                  "child 1 " + request(2, "tools/list")));
  child(1, result("#1", Server::list("tools", server.tools)));
  child(1, result(2, Server::list("tools", server.tools)));
  dies(1, 3);
  done();
  server.tools.push_back(tool("more"));
  client(call(3, "echo"));
  opens(2);
  EXPECT_THAT(done(),
              AllOf(Contains("child 2 " + initialized()),
                    Contains("client " + notification("notifications/tools/list_changed"))));
  client(request(4, "tools/list"));
  child(2, result(4, Server::list("tools", server.tools)));
  child(2, result(3, text_result("x")));
  time_passes(seconds(1));
  EXPECT_THAT(client_got(), Contains(HasSubstr("crashed (exit 3)")));
}

TEST_F(BridgeOpeningTest, ACallOfABuiltInToolCountsAsInitializedToo) {
  client(initialize(0));
  child(1, result(0, server.opening()));
  done();
  client(call(1, "sitter_status"));
  EXPECT_THAT(done(),
              ElementsAre("child 1 " + initialized(),
                          "child 1 " + request("#1", "tools/list", "{}"), HasSubstr("childState")));
}

TEST_F(BridgeOpeningTest, AnInitializedThatComesAfterTheFirstRequestReachesNoChildTwice) {
  client(initialize(0));
  client(request(1, "tools/list"));
  EXPECT_THAT(done(), ElementsAre("start 1", "child 1 " + initialize(0)));
  child(1, result(0, server.opening()));
  EXPECT_THAT(done(), ElementsAre(HasSubstr("client "), "child 1 " + initialized(),
                                  "child 1 " + request("#1", "tools/list", "{}"),
                                  "child 1 " + request(1, "tools/list")));
  const std::string own = notification("notifications/initialized", R"json({"own":1})json");
  client(own);
  EXPECT_THAT(done(), IsEmpty());
  child(1, result(1, Server::list("tools", server.tools)));
  dies(1, 0);
  done();
  client(call(2, "echo"));
  opens(2);
  EXPECT_THAT(done(), Contains("child 2 " + own));
  child(2, result(2, text_result("x")));
}

TEST_F(BridgeOpeningTest, AfterASecondOpeningTheFirstRequestCountsAnew) {
  client(initialize(0));
  child(1, result(0, server.opening()));
  client(call(1, "echo"));
  child(1, result(1, text_result("x")));
  opens(1);
  done();
  client(initialize(7));
  child(1, result(7, server.opening()));
  done();
  client(call(8, "echo"));
  EXPECT_THAT(done(), ElementsAre("child 1 " + initialized(), "child 1 " + call(8, "echo")));
  child(1, result(8, text_result("x")));
  client(initialize(9));
  client(initialized());
  EXPECT_THAT(done(),
              AllOf(Contains("child 1 " + initialize(9)), Contains("child 1 " + initialized())));
  child(1, result(9, server.opening()));
}

TEST_F(BridgeOpeningTest, ChangesTheOpeningOnlyWhereItAddsToIt) {
  client(initialize(1));
  done();
  child(
      1,
      R"json({ "result" : {"serverInfo":{"name":"s","version":"1.0","x":12345678901234567890},)json"
      R"json("capabilities":{"prompts":{},"resources":{"listChanged":false,"subscribe":true},)json"
      R"json("experimental":{"a":{"b":1.0}}},"protocolVersion":"2025-06-18","instructions":"Be \u0041."},)json"
      R"json( "id":1,"jsonrpc":"2.0"})json");
  EXPECT_THAT(
      done(),
      ElementsAre(
          R"json(client { "result" : {"serverInfo":{"name":"s","version":"1.0","x":12345678901234567890},)json"
          R"json("capabilities":{"prompts":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true},)json"
          R"json("experimental":{"a":{"b":1.0}},"tools":{"listChanged":true}},"protocolVersion":"2025-06-18",)json"
          R"json("instructions":"Be \u0041.\n\n)json" +
          instructions() + R"json("}, "id":1,"jsonrpc":"2.0"})json"));
}

TEST_F(BridgeOpeningTest, PromptsAndResourcesAreNotDeclaredForAChildWithoutThem) {
  server.capabilities = "{}";
  client(initialize(0));
  opens(1);
  const auto capabilities = answer()["result"]["capabilities"];
  EXPECT_EQ(capabilities.dump(), R"json({"tools":{"listChanged":true}})json");
}

TEST_F(BridgeOpeningTest, TheOpeningIdComesBackAsItWasSpelled) {
  client(initialize("1.0"));
  done();
  child(1, result(1, server.opening()));
  EXPECT_THAT(done(), ElementsAre("client " + result("1.0", amended(server.opening()))));
}

TEST_F(BridgeOpeningTest, TheOpeningCannotBeCancelled) {
  client(initialize(0));
  client(cancelled(0));
  opens(1);
  EXPECT_THAT(client_got(), SizeIs(1));
}

TEST_F(BridgeOpeningTest, RequestsBeforeTheOpeningAreNotForwarded) {
  client(request(1, "tools/list"));
  client(call(2, "echo"));
  client(request(3, "vendor/thing"));
  const auto got = done();
  ASSERT_THAT(got, SizeIs(3));
  for (const std::string& word : got) {
    EXPECT_THAT(word, AllOf(HasSubstr("-32600"), HasSubstr("initialize")));
  }
}

TEST_F(BridgeOpeningTest, PingAndBuiltinsBeforeTheOpeningAreAnswered) {
  client(request(1, "ping"));
  EXPECT_THAT(done(), ElementsAre("client " + result(1)));
  client(call(2, "sitter_status"));
  EXPECT_THAT(answer_text(), HasSubstr(R"json("childState": "not-started")json"));
  client(call(3, "sitter_child_stderr"));
  EXPECT_EQ(answer_text(), "(no child stderr in buffer)");
  client(call(4, "sitter_binary_info"));
  EXPECT_THAT(answer_text(), HasSubstr(R"json("exists": false)json"));
  client(call(5, "sitter_kill"));
  EXPECT_THAT(done(), ElementsAre("sweep auto terminate", HasSubstr(R"json(\"count\": 0)json")));
}

TEST_F(BridgeOpeningTest, NotificationsBeforeTheOpeningAreDroppedAndLogged) {
  client(initialized());
  client(notification("notifications/roots/list_changed"));
  EXPECT_THAT(done(), IsEmpty());
  EXPECT_THAT(logs(), SizeIs(2));
}

TEST_F(BridgeOpeningTest, ASecondOpeningIsPassedOnAndReplacesTheFirst) {
  open_session();
  client(request(5, "logging/setLevel", R"json({"level":"debug"})json"));
  child(1, result(5));
  done();
  const std::string second = request(
      7, "initialize",
      R"json({"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"b","version":"2"}})json");
  client(second);
  EXPECT_THAT(done(), ElementsAre("child 1 " + second));
  server.protocol_version = "2025-06-18";
  child(1, result(7, server.opening()));
  EXPECT_THAT(done(), ElementsAre("client " + result(7, amended(server.opening()))));
  client(initialized());
  EXPECT_THAT(done(), ElementsAre("child 1 " + initialized()));
  dies(1, 0);
  done();
  client(call(8, "echo"));
  EXPECT_THAT(done(), ElementsAre("start 2", AllOf(HasSubstr("2025-06-18"),
                                                   HasSubstr(R"json("name":"b")json"))));
  opens(2);
  EXPECT_THAT(done(), AllOf(Contains("child 2 " + initialized()),
                            Not(Contains(HasSubstr("logging/setLevel")))));
  child(2, result(8, text_result("x")));
}

TEST_F(BridgeOpeningTest, APipelinedSecondOpeningIsReplayedWithItsInitialized) {
  open_session();
  client(initialize(7));
  client(initialized());
  EXPECT_THAT(done(), ElementsAre("child 1 " + initialize(7), "child 1 " + initialized()));
  child(1, result(7, server.opening()));
  dies(1, 0);
  client(call(8, "echo"));
  opens(2);
  EXPECT_THAT(done(), Contains("child 2 " + initialized()));
  child(2, result(8, text_result("x")));
}

TEST_F(BridgeOpeningTest, ASecondOpeningThatIsRefusedChangesNothing) {
  open_session();
  client(initialize(7, "2024-11-05"));
  done();
  child(1, error(7, -32600, "already initialized"));
  EXPECT_THAT(done(), ElementsAre("client " + error(7, -32600, "already initialized")));
  dies(1, 0);
  done();
  client(call(8, "echo"));
  EXPECT_THAT(done(), ElementsAre("start 2", HasSubstr("2025-11-25")));
  opens(2);
  child(2, result(8, text_result("x")));
}

TEST_F(BridgeOpeningTest, ASecondOpeningWhileTheChildIsDownStartsIt) {
  open_session();
  dies(1, 0);
  done();
  client(initialize(7));
  EXPECT_THAT(done(), ElementsAre("start 2", "child 2 " + initialize(7)));
  child(2, result(7, server.opening()));
  EXPECT_THAT(done(), ElementsAre("client " + result(7, amended(server.opening()))));
  client(initialized());
  EXPECT_THAT(done(), Contains("child 2 " + initialized()));
}

TEST_F(BridgeOpeningTest, ASecondOpeningInARespawnIsPassedOnWhenTheChildServes) {
  open_in_a_respawn();
  opens(2);
  EXPECT_THAT(done(), ElementsAre(HasSubstr("child 2 "), HasSubstr("child 2 "),
                                  "child 2 " + call(6, "echo"), "child 2 " + initialize(7),
                                  "client " + result(7, amended(server.opening()))));
  client(initialized());
  EXPECT_THAT(done(), Contains("child 2 " + initialized()));
  child(2, result(6, text_result("x")));
}

TEST_F(BridgeOpeningTest, ASecondOpeningThatARespawnedChildRefusesChangesNothing) {
  open_in_a_respawn("2024-11-05");
  child(2, result("#2", server.opening()));
  child(2, result("#3", Server::list("tools", server.tools)));
  EXPECT_THAT(done(), Contains("child 2 " + initialized()));
  child(2, error(7, -32600, "already initialized"));
  child(2, result(6, text_result("x")));
  dies(2, 0);
  done();
  client(call(8, "echo"));
  EXPECT_THAT(done(), ElementsAre("start 3", HasSubstr("2025-11-25")));
  opens(3);
  EXPECT_THAT(done(), Contains("child 3 " + initialized()));
  child(3, result(8, text_result("x")));
}

TEST_F(BridgeOpeningTest, ASecondOpeningInARespawnThatFailsDoesNotCostTheSession) {
  open_in_a_respawn();
  dies(2, 3);
  EXPECT_THAT(client_got(),
              ElementsAre(HasSubstr(R"json("id":6,"result")json"),
                          AllOf(HasSubstr(R"json("id":7,"result")json"), HasSubstr("exit 3"))));
}

TEST_F(BridgeOpeningTest, ASecondOpeningIsWaitedForNoLongerThanTheFirst) {
  open_session();
  client(initialize(7));
  time_passes(config.answer_within - milliseconds(1));
  EXPECT_THAT(client_got(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr(R"json("id":7,"result")json"),
                                              HasSubstr("has not answered initialize after 8s"))));
  child(1, result(7, server.opening()));
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(BridgeOpeningTest, TheLateAnswerToASecondOpeningIsNotThatOfARequestWithItsId) {
  open_session();
  client(initialize(7));
  time_passes(config.answer_within);
  client(call(7, "echo"));
  done();
  child(1, result(7, server.opening()));
  EXPECT_THAT(done(), IsEmpty());
  child(1, result(7, text_result("x")));
  EXPECT_THAT(client_got(), ElementsAre(result(7, text_result("x"))));
}

TEST_F(BridgeOpeningTest, ASecondOpeningThatIsNeverAnsweredTakesNoOtherAnswer) {
  open_session();
  client(initialize(7));
  time_passes(config.answer_within);
  client(call(7, "echo"));
  done();
  child(1, result(7, text_result("x")));
  EXPECT_THAT(client_got(), ElementsAre(result(7, text_result("x"))));
}

TEST_F(BridgeOpeningTest, ASecondOpeningInALongRespawnIsAnsweredToo) {
  open_in_a_respawn();
  time_passes(seconds(1));
  client(initialize(8));
  done();
  time_passes(config.answer_within - seconds(1));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr(R"json("id":7,"result")json")));
  time_passes(seconds(1));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr(R"json("id":8,"result")json")));
  opens(2);
  child(2, result(6, text_result("x")));
}

TEST_F(BridgeOpeningTest, AThirdOpeningIsNotLostWithTheSecond) {
  config.kill_grace = seconds(20);
  open_session();
  client(initialize(2));
  client(call(3, "sitter_kill"));
  time_passes(seconds(1));
  client(initialize(4));
  done();
  time_passes(config.answer_within - seconds(1));
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("\"id\":2,"), HasSubstr("\"error\""))));
  time_passes(seconds(1));
  EXPECT_THAT(client_got(),
              ElementsAre(AllOf(HasSubstr("\"id\":4,"), HasSubstr("\"protocolVersion\""))));
  dies(1, 0);
}

TEST_F(BridgeOpeningTest, TheLateAnswerToTheSecondOpeningDoesNotReplaceTheThird) {
  config.kill_grace = seconds(20);
  open_session();
  client(initialize(2));
  client(call(3, "sitter_kill"));
  client(initialize(4, "2024-11-05"));
  child(1, result(2, server.opening()));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr(R"json("id":2,"result")json")));
  time_passes(config.answer_within);
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("\"id\":4,"), HasSubstr("2024-11-05"))));
  dies(1, 0);
}

TEST_F(BridgeOpeningTest, ASecondOpeningWithoutAResultPassesAsItIs) {
  open_session();
  client(initialize(7));
  done();
  child(1, result(7, "{}"));
  EXPECT_THAT(client_got(), ElementsAre(result(7, "{}")));
  dies(1, 0);
  done();
  client(call(8, "echo"));
  EXPECT_THAT(done(), ElementsAre("start 2", HasSubstr("2025-11-25")));
  opens(2);
  child(2, result(8, text_result("x")));
}

TEST_F(BridgeOpeningTest, TwoOpeningsAtOnceAreBothAnswered) {
  client(initialize(0));
  client(initialize(1));
  EXPECT_THAT(done(), ElementsAre("start 1", "child 1 " + initialize(0)));
  child(1, result(0, server.opening()));
  EXPECT_THAT(done(), ElementsAre("client " + result(0, amended(server.opening())),
                                  "child 1 " + initialize(1)));
  child(1, result(1, server.opening()));
  EXPECT_THAT(done(), ElementsAre("client " + result(1, amended(server.opening()))));
}

TEST_F(BridgeOpeningTest, TheSessionSurvivesASecondOpeningThatCrashesTheChild) {
  open_session();
  client(initialize(7));
  dies(1, 3);
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr(R"json("id":7,"result")json"),
                                              HasSubstr("crashed (exit 3)"))));
}

TEST_F(BridgeOpeningTest, AStatusInTheFirstOpeningIsAnsweredAtOnce) {
  client(initialize(0));
  done();
  client(call(1, "sitter_status"));
  EXPECT_THAT(answer_text(), AllOf(HasSubstr(R"json("childState": "running")json"),
                                   HasSubstr(R"json("childReady": false)json")));
  opens(1);
}

TEST_F(BridgeOpeningTest, AMessageOfTheChildInItsOpeningPasses) {
  client(initialize(0));
  done();
  const std::string message =
      notification("notifications/message", R"json({"level":"info","data":"x"})json");
  child(1, message);
  EXPECT_THAT(done(), ElementsAre("client " + message));
  opens(1);
}

TEST_F(BridgeOpeningTest, AQuestionOfTheChildInItsOpeningIsAnswered) {
  client(initialize(0));
  done();
  child(1, request(0, "roots/list"));
  EXPECT_THAT(done(), ElementsAre("client " + request(1, "roots/list")));
  client(result(1, R"json({"roots":[]})json"));
  EXPECT_THAT(done(), ElementsAre("child 1 " + result(0, R"json({"roots":[]})json")));
  opens(1);
}

}  // namespace
}  // namespace sitter
