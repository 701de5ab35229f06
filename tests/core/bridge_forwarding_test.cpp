#include "core/child/child_requests.hpp"
#include "sitter/bytes.hpp"
#include "support/bridge_script.hpp"

namespace sitter {
namespace {

class BridgeForwardingTest : public BridgeTest {
 protected:
  void SetUp() override { open_session(); }
};

TEST_F(BridgeForwardingTest, ARequestAndItsAnswerPassByteForByte) {
  const std::string asked =
      R"json({ "params" : {"arguments":{"b":1.0,"a":1e2,"big":12345678901234567890},"name":"echo",)json"
      R"json("_meta":{"vendor/x":"\u00e9"}} ,"method":"tools\/call", "id" : 1,"jsonrpc":"2.0", "more":[ ] })json";
  const std::string answered =
      R"json({"result" : {"content":[ ],"n":0.10,"s":"\u0041\/"},  "id":1, "jsonrpc":"2.0"})json";
  client(asked);
  EXPECT_THAT(done(), ElementsAre("child 1 " + asked));
  child(1, answered);
  EXPECT_THAT(done(), ElementsAre("client " + answered));
}

TEST_F(BridgeForwardingTest, PassesTheParsedRequestAlongUnlessTheLineWaited) {
  client(call("7", "echo"));
  EXPECT_EQ(id_read, "7");
  child(1, result(7));
  dies(1, 1);
  client(call(8, "echo"));
  started(2);
  opens(2);
  EXPECT_EQ(id_read, "nothing");
}

TEST_F(BridgeForwardingTest, UnknownMethodsPassInBothDirections) {
  client(request(1, "vendor/do", R"json({"x":[1,2]})json"));
  child(1, request("\"q\"", "vendor/ask"));
  client(notification("notifications/vendor", R"json({"a":1})json"));
  child(1, notification("notifications/vendor/other"));
  child(1, result(1, R"json({"ok":true})json"));
  client(result(1, R"json({"yes":1})json"));
  EXPECT_THAT(done(),
              ElementsAre("child 1 " + request(1, "vendor/do", R"json({"x":[1,2]})json"),
                          "client " + request(1, "vendor/ask"),
                          "child 1 " + notification("notifications/vendor", R"json({"a":1})json"),
                          "client " + notification("notifications/vendor/other"),
                          "client " + result(1, R"json({"ok":true})json"),
                          "child 1 " + result("\"q\"", R"json({"yes":1})json")));
}

TEST_F(BridgeForwardingTest, ErrorsOfTheChildPassWithTheirCode) {
  for (const int code : {-32042, -32002, -1, -32601, -32022}) {
    client(request(1, "resources/read", R"json({"uri":"a:b"})json"));
    done();
    child(1, error(1, code, "no"));
    EXPECT_THAT(done(), ElementsAre("client " + error(1, code, "no")));
  }
}

TEST_F(BridgeForwardingTest, ACallOfAnUnknownToolIsPassedOn) {
  client(call(1, "nothing_of_this_name"));
  child(1, error(1, -32602, "Unknown tool"));
  EXPECT_THAT(done(), ElementsAre("child 1 " + call(1, "nothing_of_this_name"),
                                  "client " + error(1, -32602, "Unknown tool")));
}

TEST_F(BridgeForwardingTest, AnswersComeInAnyOrder) {
  client(call(1, "slow"));
  client(call(2, "fast"));
  done();
  child(1, result(2));
  child(1, result(1));
  EXPECT_THAT(done(), ElementsAre("client " + result(2), "client " + result(1)));
}

TEST_F(BridgeForwardingTest, TheOrderOfEachDirectionIsKept) {
  client(call(1, "echo"));
  done();
  const auto message = [](int n) {
    return notification("notifications/message", R"json({"data":)json" + std::to_string(n) + "}");
  };
  std::vector<std::string> expected;
  for (int n = 0; n < 100; ++n) {
    child(1, message(n));
    expected.push_back("client " + message(n));
  }
  child(1, result(1));
  expected.push_back("client " + result(1));
  EXPECT_EQ(done(), expected);
}

TEST_F(BridgeForwardingTest, DeepNestingPasses) {
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  client(call(1, "echo", R"json({"x":)json" + deep + "}"));
  EXPECT_THAT(done(), ElementsAre("child 1 " + call(1, "echo", R"json({"x":)json" + deep + "}")));
  child(1, result(1, R"json({"x":)json" + deep + "}"));
  EXPECT_THAT(done(), ElementsAre("client " + result(1, R"json({"x":)json" + deep + "}")));
}

TEST_F(BridgeForwardingTest, DuplicateKeysPass) {
  const std::string asked =
      R"json({"jsonrpc":"2.0","id":1,"id":1,"method":"tools/call","params":{"name":"a","name":"echo","arguments":{}}})json";
  client(asked);
  const std::string answered =
      R"json({"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"result":{"content":[],"content":[]}})json";
  child(1, answered);
  EXPECT_THAT(done(), ElementsAre("child 1 " + asked, "client " + answered));
}

TEST_F(BridgeForwardingTest, LoneSurrogatesPass) {
  client(call(1, "echo", R"json({"x":"\ud83d"})json"));
  child(1, result(1, R"json({"content":[{"type":"text","text":"\ud83d"}]})json"));
  EXPECT_THAT(done(), ElementsAre(HasSubstr(R"json("x":"\ud83d")json"),
                                  HasSubstr(R"json("text":"\ud83d")json")));
}

TEST_F(BridgeForwardingTest, ALineWithCarriageReturnsAsWhiteSpacePasses) {
  // A bare carriage return counts as white space in JSON.
  const std::string asked = "{\"jsonrpc\":\"2.0\",\r\"id\":1,\r\"method\":\"vendor/x\"}";
  client(asked);
  EXPECT_THAT(done(), ElementsAre("child 1 " + asked));
  child(1, result(1));
}

TEST_F(BridgeForwardingTest, ARequestOfTheChildGetsANewId) {
  child(1, request("\"abc\"", "sampling/createMessage", R"json({"maxTokens":1})json"));
  child(1, request(0, "elicitation/create", R"json({"message":"?"})json"));
  client(result(2, R"json({"action":"accept"})json"));
  client(error(1, -1, "User rejected"));
  EXPECT_THAT(
      done(),
      ElementsAre("client " + request(1, "sampling/createMessage", R"json({"maxTokens":1})json"),
                  "client " + request(2, "elicitation/create", R"json({"message":"?"})json"),
                  "child 1 " + result(0, R"json({"action":"accept"})json"),
                  "child 1 " + error("\"abc\"", -1, "User rejected")));
}

TEST_F(BridgeForwardingTest, ProgressForAQuestionOfTheChildComesBackUnderItsToken) {
  child(1,
        request(7, "sampling/createMessage", R"json({"_meta":{"progressToken":"tok"},"x":1})json"));
  EXPECT_THAT(done(),
              ElementsAre("client " + request(1, "sampling/createMessage",
                                              R"json({"_meta":{"progressToken":1},"x":1})json")));
  client(progress(1, 50));
  EXPECT_THAT(done(), ElementsAre("child 1 " + progress("\"tok\"", 50)));
  client(result(1));
  done();
  client(progress(1, 60));
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(BridgeForwardingTest, ACancellationByTheChildNamesTheNumberThatTheClientKnows) {
  child(1, request(7, "sampling/createMessage"));
  done();
  child(1, cancelled(7));
  EXPECT_THAT(done(), ElementsAre("client " + cancelled(1)));
  client(result(1));
  child(1, cancelled(7));
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(BridgeForwardingTest, DropsAnAnswerWithoutARequest) {
  client(result(99));
  client(error("\"x\"", -1, "no"));
  client(R"json({"jsonrpc":"2.0","error":{"code":-32700,"message":"what"}})json");
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(BridgeForwardingTest, TheChildsQuestionsAreBounded) {
  for (int n = 0; n < 1000; ++n) child(1, request(n, "ping"));
  EXPECT_THAT(client_got(), SizeIs(1000));
  child(1, request(1000, "ping"));
  EXPECT_THAT(done(),
              ElementsAre(AllOf(HasSubstr("child 1 "), HasSubstr(R"json("id":1000,"error")json"),
                                HasSubstr("-32603"))));
  client(result(1));
  child(1, request(1001, "ping"));
  EXPECT_THAT(done(), SizeIs(2));
}

TEST_F(BridgeForwardingTest, TheBytesKeptOfTheChildsQuestionsAreBounded) {
  EXPECT_EQ(limits::kChildRequestBytesMax, 4 * limits::kMiB);
  const auto ask = [](const Id& id, const std::string& token) {
    return request(id, "ping", R"json({"_meta":{"progressToken":)json" + token + "}}");
  };
  const Id id("\"" + std::string(limits::kChildRequestBytesMax - 5, 'q') + "\"");
  child(1, ask(id, "77"));
  EXPECT_THAT(client_got(), ElementsAre(ask(1, "1")));
  child(1, request(10, "ping"));
  EXPECT_THAT(done(),
              ElementsAre(AllOf(HasSubstr("child 1 "), HasSubstr(R"json("id":10,"error")json"),
                                HasSubstr("4194304 bytes"))));
  child(1, request(1, "ping"));
  EXPECT_THAT(client_got(), ElementsAre(request(2, "ping")));
  client(result(1));
  EXPECT_THAT(done(), ElementsAre("child 1 " + result(id)));
  child(1, request(10, "ping"));
  EXPECT_THAT(client_got(), ElementsAre(request(3, "ping")));
  client(result(2));
  client(result(3));
  // A child that has died needs no bytes.
  child(1, ask(id, "77"));
  dies(1, 0);
  client(call(1, "echo"));
  opens(2);
  done();
  child(2, ask(id, "77"));
  EXPECT_THAT(client_got(), ElementsAre(ask(5, "5")));
  child(2, result(1));
}

TEST_F(BridgeForwardingTest, ACancellationPasses) {
  client(call(1, "slow"));
  done();
  client(cancelled(1));
  EXPECT_THAT(done(), ElementsAre("child 1 " + cancelled(1)));
}

TEST_F(BridgeForwardingTest, ALateAnswerToACancelledRequestPasses) {
  client(call(1, "slow"));
  client(cancelled(1));
  done();
  child(1, result(1));
  EXPECT_THAT(done(), ElementsAre("client " + result(1)));
}

TEST_F(BridgeForwardingTest, NoProgressFollowsALateAnswer) {
  client(call_with_progress(1, "slow"));
  client(cancelled(1));
  done();
  child(1, progress(1, 1));
  child(1, result(1));
  child(1, progress(1, 2));
  EXPECT_THAT(client_got(), ElementsAre(progress(1, 1), result(1)));
}

TEST_F(BridgeForwardingTest, ALateAnswerDoesNotSilenceAnotherRequestWithItsToken) {
  const auto call_under_t = [](int id) {
    return request(id, "tools/call", R"json({"name":"a","_meta":{"progressToken":"t"}})json");
  };
  client(call_under_t(1));
  client(cancelled(1));
  client(call_under_t(2));
  done();
  child(1, result(1));
  child(1, progress("\"t\"", 1));
  EXPECT_THAT(client_got(), ElementsAre(result(1), progress("\"t\"", 1)));
  child(1, result(2));
}

TEST_F(BridgeForwardingTest, ATaskThatALateAnswerBeginsMayTellOfItself) {
  client(
      request(1, "tools/call", R"json({"name":"slow","task":{},"_meta":{"progressToken":1}})json"));
  client(cancelled(1));
  done();
  child(1, result(1, R"json({"task":{"taskId":"t"}})json"));
  child(1, progress(1, 2));
  EXPECT_THAT(client_got(), SizeIs(2));
}

TEST_F(BridgeForwardingTest, ACancelledRequestIsOwedNothingWhenTheChildDies) {
  client(call(1, "slow"));
  client(cancelled(1));
  dies(1, 3);
  EXPECT_THAT(client_got(), IsEmpty());
}

TEST_F(BridgeForwardingTest, DropsACancellationOfAnUnknownRequest) {
  client(cancelled(5));
  client(call(1, "fast"));
  child(1, result(1));
  done();
  client(cancelled(1));
  client(notification("notifications/cancelled", R"json({"requestId":null})json"));
  client(notification("notifications/cancelled", R"json({"reason":"none"})json"));
  client(notification("notifications/cancelled"));
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(BridgeForwardingTest, ACancellationWithoutAnIdDoesNotCancelRequestZero) {
  client(call(0, "slow"));
  done();
  for (const std::string id : {"null", "{}", "[]", "true", R"json("")json"}) client(cancelled(id));
  EXPECT_THAT(done(), IsEmpty());
  child(1, result(0));
  EXPECT_THAT(done(), ElementsAre("client " + result(0)));
}

TEST_F(BridgeForwardingTest, CancelledRequestsAreRememberedUpToABound) {
  for (int n = 1; n <= 1001; ++n) {
    client(call(n, "slow"));
    client(cancelled(n));
  }
  done();
  child(1, result(1));
  EXPECT_THAT(done(), IsEmpty());
  child(1, result(2));
  EXPECT_THAT(done(), ElementsAre("client " + result(2)));
}

TEST_F(BridgeForwardingTest, WritesAnAnswerSeparatelyFromItsProgress) {
  client(call_with_progress(1, "work"));
  done();
  child(1, progress(1, 10));
  child(1, result(1));
  child(1, notification("notifications/message", R"json({"data":1})json"));
  EXPECT_THAT(done(), ElementsAre("client " + progress(1, 10)));
  time_passes(milliseconds(1));
  EXPECT_THAT(done(), ElementsAre("client " + result(1),
                                  "client " + notification("notifications/message",
                                                           R"json({"data":1})json")));
}

TEST_F(BridgeForwardingTest, DropsProgressAfterTheAnswer) {
  client(call_with_progress(1, "work"));
  client(call_with_progress(2, "work"));
  child(1, result(1));
  child(1, progress(1, 10));
  child(1, progress(2, 10));
  EXPECT_THAT(client_got(), ElementsAre(result(1), progress(2, 10)));
  child(1, result(2));
  time_passes(milliseconds(1));
}

TEST_F(BridgeForwardingTest, AnAnswerLongAfterItsProgressDoesNotWait) {
  client(call_with_progress(1, "work"));
  child(1, progress(1, 10));
  time_passes(milliseconds(1));
  done();
  child(1, result(1));
  EXPECT_THAT(done(), ElementsAre("client " + result(1)));
}

TEST_F(BridgeForwardingTest, ProgressOfAnotherRequestDelaysNothing) {
  client(call_with_progress(1, "work"));
  client(call(2, "fast"));
  done();
  child(1, progress(1, 10));
  child(1, result(2));
  EXPECT_THAT(done(), ElementsAre("client " + progress(1, 10), "client " + result(2)));
  child(1, result(1));
  time_passes(milliseconds(1));
}

TEST_F(BridgeForwardingTest, AlsoDelaysAnAnswerWhoseTokenDiffersFromItsId) {
  client(request(1, "tools/call", R"json({"name":"work","_meta":{"progressToken":"t"}})json"));
  done();
  child(1, progress("\"t\"", 10));
  child(1, result(1));
  EXPECT_THAT(done(), SizeIs(1));
  time_passes(milliseconds(1));
  EXPECT_THAT(done(), ElementsAre("client " + result(1)));
}

TEST_F(BridgeForwardingTest, AnAnswerAlsoWaitsForProgressThatWaitedItself) {
  client(call_with_progress(1, "work"));
  client(call_with_progress(2, "work"));
  done();
  child(1, progress(1, 10));
  child(1, result(1));
  child(1, progress(2, 10));
  child(1, result(2));
  EXPECT_THAT(done(), ElementsAre("client " + progress(1, 10)));
  next_deadline_comes();
  EXPECT_THAT(done(), ElementsAre("client " + result(1), "client " + progress(2, 10)));
  next_deadline_comes();
  EXPECT_THAT(done(), ElementsAre("client " + result(2)));
}

TEST_F(BridgeForwardingTest, AnAnswerJustAfterItsProgressWasWrittenWaitsToo) {
  client(call_with_progress(1, "work"));
  client(call_with_progress(2, "work"));
  child(1, progress(1, 10));
  child(1, result(1));
  child(1, progress(2, 10));
  done();
  next_deadline_comes();
  EXPECT_THAT(done(), ElementsAre("client " + result(1), "client " + progress(2, 10)));
  child(1, result(2));
  EXPECT_THAT(done(), IsEmpty());
  next_deadline_comes();
  EXPECT_THAT(done(), ElementsAre("client " + result(2)));
}

TEST_F(BridgeForwardingTest, AnAnswerThatEndsOfficialClientsIsPassedOnAndLogged) {
  client(call(1, "big"));
  done();
  const std::string big =
      result(1, R"json({"x":")json" + std::string(10 * limits::kMiB, 'x') + "\"}");
  child(1, big);
  EXPECT_EQ(done(), std::vector<std::string>{"client " + big});
  EXPECT_THAT(logs(), ::testing::Contains(HasSubstr("the official TypeScript clients")));
}

TEST_F(BridgeForwardingTest, TokensAndProgressPassByteForByte) {
  const std::string asked =
      R"json({"id":1,"jsonrpc":"2.0","method":"tools/call","params":{"_meta":{"progressToken":"\u0074"},"name":"a"}})json";
  const std::string told =
      R"json({"params":{"progress":0.10,"total":1e1,"message":"\u00e9","progressToken":"\u0074"},"method":"notifications/progress","jsonrpc":"2.0"})json";
  client(asked);
  child(1, told);
  EXPECT_THAT(done(), ElementsAre("child 1 " + asked, "client " + told));
  time_passes(milliseconds(1));
  child(1, result(1));
}

TEST_F(BridgeForwardingTest, ProgressOfATaskGoesOnBehindTheAnswerThatNamesTheTask) {
  client(
      request(1, "tools/call", R"json({"name":"w","task":{},"_meta":{"progressToken":"t"}})json"));
  child(1, result(1, R"json({"task":{"taskId":"1","status":"working"}})json"));
  done();
  child(1, progress("\"t\"", 10));
  EXPECT_THAT(client_got(), ElementsAre(progress("\"t\"", 10)));
}

TEST_F(BridgeForwardingTest, ProgressOfATaskEndsWithItsChild) {
  client(
      request(1, "tools/call", R"json({"name":"w","task":{},"_meta":{"progressToken":"t"}})json"));
  child(1, result(1, R"json({"task":{"taskId":"1","status":"working"}})json"));
  dies(1, 3);
  client(call(2, "echo"));
  opens(2);
  done();
  child(2, progress("\"t\"", 20));
  EXPECT_THAT(client_got(), IsEmpty());
  child(2, result(2));
}

TEST_F(BridgeForwardingTest, ATaskIsCancelledByARequestLikeAnyOther) {
  client(request(1, "tools/call", R"json({"name":"w","task":{}})json"));
  done();
  const std::string line = request(2, "tasks/cancel", R"json({"taskId":"1"})json");
  client(line);
  EXPECT_THAT(done(), ElementsAre("child 1 " + line));
  child(1, result(2, R"json({"taskId":"1","status":"cancelled"})json"));
  EXPECT_THAT(client_got(), SizeIs(1));
  child(1, result(1, R"json({"task":{"taskId":"1"}})json"));
  EXPECT_THAT(client_got(), SizeIs(1));
}

TEST_F(BridgeForwardingTest, DropsACancellationOfARequestThatADeadChildHad) {
  client(call(1, "work"));
  dies(1, 3);
  client(call(2, "echo"));
  client(cancelled(1));
  opens(2);
  EXPECT_THAT(done(), Not(Contains(HasSubstr("notifications/cancelled"))));
  client(cancelled(1));
  EXPECT_THAT(done(), IsEmpty());
  child(2, result(2));
}

TEST_F(BridgeForwardingTest, CancelsOnlyTheOpenRequestsOfADeadChild) {
  for (const int id : {5, 6, 7, 8}) child(1, request(id, "elicitation/create"));
  client(result(1));
  child(1, cancelled(6));
  done();
  dies(1, 3);
  const auto got = client_got();
  ASSERT_THAT(got, SizeIs(2));
  for (const std::size_t i : {0u, 1u}) {
    const auto line = nlohmann::json::parse(got[i]);
    EXPECT_EQ(line["method"], "notifications/cancelled");
    EXPECT_EQ(line["params"]["requestId"], 3 + i);
    EXPECT_NE(line["params"]["reason"], "");
  }
}

}  // namespace
}  // namespace sitter
