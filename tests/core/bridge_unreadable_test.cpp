#include "core/wire/room.hpp"
#include "support/bridge_script.hpp"

namespace sitter {
namespace {

class BridgeUnreadableTest : public BridgeTest {
 protected:
  void SetUp() override { may_answer_unasked = true; }

  std::string ring(int id = 800) {
    client(call(id, "sitter_child_stderr"));
    return answer_text();
  }
};

struct BadLine {
  std::string line;
  int code;
  std::string id;
};

TEST_F(BridgeUnreadableTest, EachBadLineOfTheClientGetsItsError) {
  open_session();
  const std::vector<BadLine> lines = {
      {"rubbish", -32700, ""},
      {R"json({"jsonrpc":"2.0","id":5,"method":"x")json", -32700, "5"},
      {R"json({"jsonrpc":"2.0","id":"a","method":"x",})json", -32700, "\"a\""},
      {"[]", -32600, ""},
      {"[" + request(1, "ping") + "]", -32600, ""},
      {"7", -32600, ""},
      {"\"text\"", -32600, ""},
      {"null", -32600, ""},
      {"{}", -32600, ""},
      {R"json({"jsonrpc":"2.0","id":8})json", -32600, "8"},
      {R"json({"jsonrpc":"2.0","id":9,"method":7})json", -32600, "9"},
      {R"json({"jsonrpc":"1.0","id":10,"method":"x"})json", -32600, "10"},
      {R"json({"id":11,"method":"x"})json", -32600, "11"},
      {R"json({"jsonrpc":"2.0","id":null,"method":"x"})json", -32600, ""},
      {R"json({"jsonrpc":"2.0","id":{},"method":"x"})json", -32600, ""},
      {R"json({"jsonrpc":"2.0","id":[1],"method":"x"})json", -32600, ""},
      {R"json({"jsonrpc":"2.0","id":true,"method":"x"})json", -32600, ""},
      {R"json({"jsonrpc":"2.0","result":{}})json", -32600, ""},
      {"{\"jsonrpc\":\"2.0\",\"id\":12,\"method\":\"x\xff\"}", -32700, "12"},
      {R"json({"jsonrpc":"2.0","id":14,"method":"x","params":{"a":nul}})json", -32700, "14"},
      {R"json({"jsonrpc":"2.0","id":15,"method":"x","params":{"a":[1,]}})json", -32700, "15"},
      {R"json({"jsonrpc":"2.0","id":16,"method":"x","params":{"a":"C:\q"}})json", -32700, "16"},
      {R"json({"params":{"a":[1,2},"method":"x","jsonrpc":"2.0","id":17})json", -32700, "17"},
      {R"json({"params":{}},"method":"x","jsonrpc":"2.0","id":18})json", -32700, "18"},
      {std::string("{\"jsonrpc\":\"2.0\",\"id\":13,\"method\":\"x\"}\0", 40), -32700, "13"},
  };
  for (const BadLine& bad : lines) {
    client(bad.line);
    const auto line = answer();
    EXPECT_EQ(line["error"]["code"], bad.code) << bad.line;
    EXPECT_EQ(line.contains("id") ? line["id"].dump() : "", bad.id) << bad.line;
  }
}

TEST_F(BridgeUnreadableTest, EachOfSeveralMessagesOnALineOfTheClientGetsItsError) {
  open_session();
  client(request(6, "x") + " " + request(7, "x"));
  const auto got = client_got();
  ASSERT_THAT(got, SizeIs(2));
  EXPECT_THAT(got[0], AllOf(HasSubstr("\"id\":6,"), HasSubstr("-32700")));
  EXPECT_THAT(got[1], AllOf(HasSubstr("\"id\":7,"), HasSubstr("-32700")));
}

TEST_F(BridgeUnreadableTest, AnAnswerThatClientsThrowAwayIsAnsweredWithWhatIsWrong) {
  open_session();
  client(call(1, "echo"));
  client(request(2, "prompts/get"));
  done();
  child(1, result(1, "null"));
  EXPECT_THAT(answer_text(), HasSubstr("could not be read: its result is null, and must be"));
  child(1, result(2, R"json({"a":[1,]})json"));
  EXPECT_THAT(answer()["error"]["message"], HasSubstr("result.a is not valid JSON"));
  // What the server wrote is kept.
  EXPECT_THAT(ring(), HasSubstr(R"json({"a":[1,]})json"));
}

TEST_F(BridgeUnreadableTest, AnOpeningThatClientsThrowAwayHasFailedAsAnyStart) {
  client(initialize(5));
  done();
  child(1, result(5, "null"));
  EXPECT_THAT(done(), Contains(HasSubstr("its result is null, and must be an object")));
  dies(1, 0);
}

TEST_F(BridgeUnreadableTest, DropsNotificationsWithoutTheirRequiredMembers) {
  open_session();
  client(R"json({"jsonrpc":"2.0","method":"notifications/progress"})json");
  client(R"json({"jsonrpc":"2.0","method":"notifications/cancelled","params":{}})json");
  child(1, R"json({"jsonrpc":"2.0","method":"notifications/cancelled"})json");
  EXPECT_THAT(done(), Each(HasSubstr("log")));
}

TEST_F(BridgeUnreadableTest, ATokenThatIsNoScalarPassesAsItIs) {
  open_session();
  child(
      1,
      R"json({"jsonrpc":"2.0","id":9,"method":"roots/list","params":{"_meta":{"progressToken":{"a":1}}}})json");
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr(R"json("progressToken":{"a":1})json")));
}

TEST_F(BridgeUnreadableTest, InvalidUtf8IsSaidSo) {
  open_session();
  client("{\"jsonrpc\":\"2.0\",\"id\":12,\"method\":\"x\xff\"}");
  EXPECT_THAT(answer()["error"]["message"].get<std::string>(), HasSubstr("UTF-8"));
}

TEST_F(BridgeUnreadableTest, BeforeTheNewestRevisionAnErrorHasAnIdOfNull) {
  open_session("2025-06-18");
  server.protocol_version = "2025-06-18";
  client(initialize(1, "2025-06-18"));
  child(1, result(1, server.opening()));
  done();
  client("rubbish");
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr(R"json("id":null,"error":{"code":-32700)json")));
}

TEST_F(BridgeUnreadableTest, TheRevisionThatWasAskedForCountsWhileNoneIsAgreed) {
  client(initialize(0, "2024-11-05"));
  done();
  client("rubbish");
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr(R"json("id":null,)json")));
  opens(1);
}

TEST_F(BridgeUnreadableTest, InAnOldSessionABatchIsRefusedWithAnIdOfNull) {
  server.protocol_version = "2024-11-05";
  open_session("2024-11-05");
  client("[" + request(1, "ping") + "]");
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr(R"json("id":null,"error":{"code":-32600)json")));
}

TEST_F(BridgeUnreadableTest, ALineThatIsTooLongIsRefusedWithItsId) {
  open_session();
  client_line_too_long(R"json({"jsonrpc":"2.0","id":5,"method":"x","params":{)json", "}}",
                       300000000);
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr(R"json("id":5,"error":{"code":-32600)json"),
                                              HasSubstr("300000000 bytes"))));
  client_line_too_long(R"json({"jsonrpc":"2.0","method":"x","params":{)json",
                       R"json(},"id":"z"})json", 300000000);
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr(R"json("id":"z","error":{"code":-32600)json")));
  client_line_too_long("{", "", 300000000);
  EXPECT_THAT(client_got(),
              ElementsAre(HasSubstr(R"json({"jsonrpc":"2.0","error":{"code":-32600)json")));
}

TEST_F(BridgeUnreadableTest, ALineForWhichThereIsNoMemoryIsRefusedWithThisReason) {
  open_session();
  client_line_too_long(R"json({"jsonrpc":"2.0","id":5,"method":"x","params":{)json", "}}",
                       limits::kLineMax);
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr(R"json("id":5,"error":{"code":-32600)json"),
                                              HasSubstr("no memory for a line of 268435456"))));
  client_line_too_long(R"json({"jsonrpc":"2.0","id":6,"method":"x","params":{)json", "}}",
                       limits::kLineMax + 1);
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("268435457 bytes, and at most 268435456")));
}

TEST_F(BridgeUnreadableTest, ABadLineDoesNotStartTheChild) {
  open_session();
  dies(1, 0);
  done();
  client("rubbish");
  client("[]");
  EXPECT_THAT(done(), SizeIs(2));
}

TEST_F(BridgeUnreadableTest, PassesNothingButMessagesToTheClient) {
  open_session();
  for (const std::string line :
       {"Listening on port 3000", R"json({"level":"info"})json", "[]", "7", "null", "{}",
        "{\"a\":\xff}", R"json({"jsonrpc":"2.0","id":77})json",
        R"json({"jsonrpc":"2.0","result":{}})json"}) {
    child(1, line);
    EXPECT_THAT(done(), IsEmpty()) << line;
  }
  EXPECT_THAT(ring(), AllOf(HasSubstr("[stdout] Listening on port 3000\n"),
                            HasSubstr("[stdout] {\"level\":\"info\"}\n[stdout] []\n[stdout] 7")));
}

TEST_F(BridgeUnreadableTest, PollutionIsCountedInTheStatus) {
  open_session();
  child(1, "one");
  child(1, "two");
  client(call(1, "sitter_status"));
  const auto status = nlohmann::json::parse(answer_text());
  EXPECT_EQ(status["stdoutPollution"].dump(),
            R"json({"first":"one","generation":1,"lines":2})json");
}

TEST_F(BridgeUnreadableTest, SeveralMessagesOnOneLineAreSplit) {
  open_session();
  client(call(1, "a"));
  client(call(2, "b"));
  done();
  child(1, result(1) + result(2, R"json({"s":"}{"})json") + " " +
               notification("notifications/message"));
  EXPECT_THAT(done(),
              ElementsAre("client " + result(1), "client " + result(2, R"json({"s":"}{"})json"),
                          "client " + notification("notifications/message")));
  EXPECT_EQ(ring(), "(no child stderr in buffer)");
}

TEST_F(BridgeUnreadableTest, AnArrayOfTheChildIsSplit) {
  open_session();
  client(call(1, "a"));
  client(call(2, "b"));
  done();
  child(1, " [ " + result(1) + " , " + result(2) + " ] ");
  EXPECT_THAT(done(), ElementsAre("client " + result(1), "client " + result(2)));
  EXPECT_EQ(ring(), "(no child stderr in buffer)");
}

TEST_F(BridgeUnreadableTest, TextBeforeAMessageGoesToTheRing) {
  open_session();
  client(call(1, "a"));
  done();
  child(1, "DEBUG answering: " + result(1));
  EXPECT_THAT(done(), ElementsAre("client " + result(1)));
  EXPECT_EQ(ring(), "[stdout] DEBUG answering:");
}

TEST_F(BridgeUnreadableTest, TextBehindAndBetweenAnswersGoesToTheRing) {
  open_session();
  client(call(1, "a"));
  client(call(2, "b"));
  done();
  child(1, result(1) + "between" + result(2) + " behind");
  EXPECT_THAT(done(), ElementsAre("client " + result(1), "client " + result(2)));
  EXPECT_THAT(ring(), HasSubstr("[stdout] between\n[stdout] behind"));
}

TEST_F(BridgeUnreadableTest, BesideOtherTextOnlyAnOwedAnswerIsTaken) {
  open_session();
  client(call(1, "a"));
  done();
  const std::string asked = call(1, "a");
  const std::string told = notification("notifications/message");
  const std::string foreign = result(77);
  const std::string lost = R"json({"jsonrpc":"2.0","error":{"code":-32700,"message":"what?"}})json";
  const std::string other = R"json({"level":"info"})json";
  const std::string broken = R"json({"jsonrpc":"2.0","id":1,"result":{"content":["C:\q"]}})json";
  const std::vector<std::string> lines = {
      "got " + asked,
      asked + " got",
      "got " + told + " and " + foreign + lost,
      "[\"got\"," + asked + "]",
      "[" + asked + ",null," + told + "]",
      other + asked,
      told + other,
      "[" + other + "," + asked + "]",
      "sends " + broken,
      "sends " + broken.substr(0, 60),
      "debug word {}",
      asked + "\t[" + other + "]",
  };
  std::string noise;
  for (const std::string& line : lines) {
    child(1, line);
    EXPECT_THAT(done(), IsEmpty()) << line;
    noise += "[stdout] " + line + "\n";
  }
  EXPECT_EQ(ring() + "\n", noise);
  child(1, "[\"sends\", " + asked + ", " + result(1) + ", " + told + "]");
  EXPECT_THAT(done(), ElementsAre("client " + result(1)));
  EXPECT_THAT(ring(), HasSubstr("[stdout] [\"sends\", " + asked + ",\n[stdout] , " + told + "]"));
}

TEST_F(BridgeUnreadableTest, BehindOtherTextAnAnswerToTheBridgeItselfIsTaken) {
  client(initialize(0));
  client(initialized());
  done();
  child(1, "opened " + result(0, server.opening()));
  EXPECT_THAT(done(), Contains(HasSubstr("tools/list")));
  child(1, "lists " + server.answer(Id("#1"), "tools/list"));
  client(call(1, "sitter_status"));
  EXPECT_EQ(nlohmann::json::parse(answer_text())["childToolCount"], 1);
}

TEST_F(BridgeUnreadableTest, TextWithBracesBeforeAMessageIsNoObstacle) {
  open_session();
  client(call(1, "a"));
  done();
  child(1, "state {x} and { unclosed " + result(1));
  EXPECT_THAT(done(), ElementsAre("client " + result(1)));
}

TEST_F(BridgeUnreadableTest, AnUnreadableAnswerIsAnsweredByItsId) {
  open_session();
  client(call(1, "a"));
  done();
  child(1, R"json({"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"a)json");
  const auto line = answer();
  EXPECT_EQ(line["id"], 1);
  EXPECT_EQ(line["result"]["isError"], true);
  EXPECT_THAT(line["result"]["content"][0]["text"].get<std::string>(),
              AllOf(HasSubstr("not valid JSON"), HasSubstr("sitter_child_stderr")));
}

TEST_F(BridgeUnreadableTest, AnUnreadableAnswerWithWholeObjectsInItIsAnsweredByItsId) {
  open_session();
  client(call(1, "a"));
  done();
  child(1,
        R"json({"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"a"}],"x":)json");
  EXPECT_EQ(answer()["result"]["isError"], true);
}

TEST_F(BridgeUnreadableTest, AnUnreadableAnswerIsAnsweredWhereverItsIdStands) {
  open_session();
  int id = 1;
  for (
      const std::string broken :
      {R"json({"result":{"content":[]},"jsonrpc":"2.0","id":%)json",
       R"json({"result":{"content":[]},"id":%,"jsonrpc":"2.0")json",
       R"json({"result":{"content":[{"type":"text","text":"a"}},"jsonrpc":"2.0","id":%})json",
       R"json({"result":{"content":[]}},"jsonrpc":"2.0","id":%})json",
       R"json({"jsonrpc":"2.0","result":{"a":[1,2},"id":%})json",
       R"json({"jsonrpc":"2.0","result":{"a":1,"id":%})json",
       R"json({"result":{"a":"x},"jsonrpc":"2.0","id":%})json",
       R"json(y"},"jsonrpc":"2.0","id":%})json",
       R"json({"result":{"content":[{"type":"text","text":"C:\q"}]},"jsonrpc":"2.0","id":%})json"}) {
    client(call(++id, "x"));
    done();
    std::string line = broken;
    child(1, line.replace(line.find('%'), 1, std::to_string(id)));
    EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr(R"json("isError":true)json"),
                                                HasSubstr("could not be read"))))
        << line;
  }
}

TEST_F(BridgeUnreadableTest, AMessageInsideABrokenAnswerIsNoMessage) {
  open_session();
  client(call(1, "victim"));
  client(call(2, "log"));
  done();
  child(1, R"json({"jsonrpc":"2.0","id":2,"result":{"structuredContent":)json" + result(1));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr(R"json("id":2,"result":{"content")json")));
  child(1, result(1));
  EXPECT_THAT(client_got(), ElementsAre(result(1)));
}

TEST_F(BridgeUnreadableTest, AnUnreadableAnswerToAnotherRequestIsAnError) {
  open_session();
  client(request(1, "resources/read", R"json({"uri":"a:b"})json"));
  done();
  child(1, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"text\":\"\xff\"}}");
  const auto line = answer();
  EXPECT_EQ(line["error"]["code"], -32603);
  EXPECT_THAT(line["error"]["message"].get<std::string>(), HasSubstr("UTF-8"));
}

TEST_F(BridgeUnreadableTest, AnAnswerWithoutJsonrpcIsAnsweredByItsId) {
  open_session();
  client(call(1, "a"));
  done();
  child(1, R"json({"id":1,"result":{"content":[]}})json");
  EXPECT_THAT(answer_text(), HasSubstr("jsonrpc"));
}

TEST_F(BridgeUnreadableTest, ALogLineInJsonIsNoAnswer) {
  open_session();
  client(call(1, "a"));
  done();
  child(1, R"json({"level":"info","id":1,"msg":"x"})json");
  EXPECT_THAT(done(), IsEmpty());
  child(1, result(1));
  EXPECT_THAT(done(), ElementsAre("client " + result(1)));
}

TEST_F(BridgeUnreadableTest, AnUnreadableAnswerToACancelledRequestIsDropped) {
  open_session();
  client(call(1, "a"));
  client(cancelled(1));
  done();
  child(1, R"json({"jsonrpc":"2.0","id":1,"result":{"content":[)json");
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(BridgeUnreadableTest, AnUnreadableAnswerThatNobodyWaitsForIsNoise) {
  open_session();
  child(1, R"json({"jsonrpc":"2.0","id":1,"result":{"content":[)json");
  EXPECT_THAT(done(), IsEmpty());
  EXPECT_THAT(ring(), HasSubstr("[stdout]"));
}

TEST_F(BridgeUnreadableTest, AnOwedLineThatIsTooLongIsAnsweredWithItsSize) {
  open_session();
  client(request(5, "vendor/x"));
  client(call(6, "a"));
  done();
  child_line_too_long(1, R"json({"jsonrpc":"2.0","id":5,"result":{"x":")json", "\"}}", 300000000);
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr(R"json("id":5,"error":{"code":-32603)json"),
                                              HasSubstr("300000000 bytes"))));
  child_line_too_long(1, R"json({"jsonrpc":"2.0","result":{"x":")json", R"json("},"id":6})json",
                      300000000);
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr(R"json("id":6,"result")json")));
}

TEST_F(BridgeUnreadableTest, ALineThatIsTooLongAndShowsNoIdEndsTheChild) {
  open_session();
  client(call(5, "a"));
  done();
  child_line_too_long(1, "xxxx", "xxxx", 300000000);
  EXPECT_THAT(done(), ElementsAre("close 1"));
  dies(1, 0);
  EXPECT_THAT(answer_text(), HasSubstr("300000000 bytes"));
}

TEST_F(BridgeUnreadableTest, CutsLongNoiseInTheRing) {
  open_session();
  child(1, std::string(100000, 'x'));
  EXPECT_THAT(ring(),
              AllOf(HasSubstr("xxx… [91808 bytes cut]"), Not(HasSubstr(std::string(9000, 'x')))));
}

TEST_F(BridgeUnreadableTest, ManyBracesThatNeverCloseCostNoTime) {
  open_session();
  child(1, std::string(1000000, '{'));
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(BridgeUnreadableTest, AnAnswerThatBreaksOffWithItsChildIsToldAsTheEndOfTheChild) {
  open_session();
  client(call(5, "a"));
  done();
  child_breaks_off(1, R"json({"jsonrpc":"2.0","id":5,"result":{"con)json");
  EXPECT_THAT(client_got(), IsEmpty());
  dies(1, 139, "SIGSEGV");
  EXPECT_THAT(answer_text(), HasSubstr("crashed (SIGSEGV)"));
}

TEST_F(BridgeUnreadableTest, ACompleteAnswerWithoutALineEndIsAccepted) {
  open_session();
  client(call(5, "a"));
  done();
  child_breaks_off(1, result(5, text_result("x")));
  EXPECT_THAT(client_got(), ElementsAre(result(5, text_result("x"))));
}

TEST_F(BridgeUnreadableTest, ABrokenRequestOfTheChildIsNoAnswerToTheSameId) {
  open_session();
  client(call(5, "a"));
  done();
  child(1, R"json({"jsonrpc":"2.0","id":5,"method":"roots/list","params":{bad}})json");
  EXPECT_THAT(client_got(), IsEmpty());
  child(1, result(5, text_result("x")));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr(R"json({"type":"text","text":"x"}]}})json")));
}

TEST_F(BridgeUnreadableTest, TwoMessagesOnALineCompleteTheOpeningOnce) {
  // The first part answers the opening, and the second is a request of the child.
  client(initialize(0));
  client(initialized());
  done();
  child(1, result(0, server.opening()) + request("\"q\"", "roots/list"));
  EXPECT_THAT(done(), ElementsAre(HasSubstr("\"id\":0,"), "child 1 " + initialized(),
                                  HasSubstr("tools/list"), "client " + request(1, "roots/list")));
  opens(1);
}

TEST_F(BridgeUnreadableTest, AnAnswerOfTheClientThatTheServerPrintsAnswersNothing) {
  open_session();
  child(1, request(2, "roots/list"));
  done();
  client(call(2, "echo"));
  client(result(1, R"json({"roots":[]})json"));
  EXPECT_THAT(done(), Contains("child 1 " + result(2, R"json({"roots":[]})json")));
  child(1, "got " + result(2, R"json({"roots":[]})json"));
  EXPECT_THAT(client_got(), IsEmpty());
  child(1, "and " + result(2, text_result("mine")));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("mine")));
}

}  // namespace
}  // namespace sitter
