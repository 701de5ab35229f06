#include "support/bridge_script.hpp"

namespace sitter {
namespace {

class BridgeIdsTest : public BridgeTest {};

TEST_F(BridgeIdsTest, ReturnsIdsAsTheClientSpelledThem) {
  open_session();
  for (const std::string id :
       {"1", "1.0", "\"1\"", "12345678901234567890", R"json("\u00fc")json", "\"\xC3\xBC\"", "-7",
        "1e3", "0", "\"\"", R"json("a\"b\\")json", "1.5"}) {
    client(call(id, "echo"));
    EXPECT_THAT(done(), ElementsAre("child 1 " + call(id, "echo")));
    child(1, result(id));
    EXPECT_THAT(done(), ElementsAre("client " + result(id))) << id;
  }
}

TEST_F(BridgeIdsTest, RestoresTheClientsSpellingOfAnId) {
  open_session();
  client(call("1.0", "echo"));
  client(call(R"json("\u00fc")json", "echo"));
  done();
  child(1, result(1));
  child(1, result("\"\xC3\xBC\""));
  EXPECT_THAT(done(),
              ElementsAre("client " + result("1.0"), "client " + result(R"json("\u00fc")json")));
}

TEST_F(BridgeIdsTest, AnIdOfTheOtherTypeMeansTheRequestThatFits) {
  may_answer_unasked = true;
  client(initialize(0));
  done();
  child(1, result("\"0\"", server.opening()));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("\"id\":0,")));
  client(initialized());
  done();
  child(1, result("\"#1\"", server.page("tools", server.tools)));
  client(call("\"7\"", "echo"));
  client(call("8", "echo"));
  client(call("\"9\"", "echo"));
  client(call("9", "echo"));
  done();
  child(1, result("7"));
  EXPECT_THAT(done(), ElementsAre("client " + result("\"7\"")));
  child(1, result("\"8\""));
  EXPECT_THAT(done(), ElementsAre("client " + result("8")));
  // An exact match comes first.
  child(1, result("9"));
  EXPECT_THAT(done(), ElementsAre("client " + result("9")));
  child(1, result("\"9\""));
  EXPECT_THAT(done(), ElementsAre("client " + result("\"9\"")));
  // Nobody waits for it any more.
  child(1, result("7"));
  EXPECT_THAT(client_got(), IsEmpty());
  client(call(10, "echo"));
  done();
  child(1, result(10, text_result("x")));
  EXPECT_THAT(answer_text(), HasSubstr("the ids of its answers as the other type"));
}

TEST_F(BridgeIdsTest, AServerMayKeepTheTypeOfSomeIdsOnly) {
  open_session();
  client(call(7, "echo"));
  child(1, result(7));
  client(call(8, "echo"));
  done();
  child(1, result("\"8\""));
  EXPECT_THAT(done(), ElementsAre("client " + result("8")));
}

TEST_F(BridgeIdsTest, TellsApartIdsThatAreEqualAsDoubles) {
  open_session();
  const std::string first = "12345678901234567890", second = "12345678901234567891";
  client(call(first, "a"));
  child(1, result(first));
  client(call(second, "b"));
  done();
  client(cancelled(first));
  EXPECT_THAT(done(), IsEmpty());
  client(call(first, "c"));
  done();
  child(1, result(second));
  child(1, result(first));
  EXPECT_THAT(done(), ElementsAre("client " + result(second), "client " + result(first)));
}

TEST_F(BridgeIdsTest, ARoundedIdMeansTheOldestMatchingRequest) {
  open_session();
  const std::string first = "12345678901234567890", second = "12345678901234567891";
  client(call(first, "a"));
  client(call(second, "b"));
  done();
  child(1, result("12345678901234567000"));
  EXPECT_THAT(done(), ElementsAre("client " + result(first)));
  child(1, result("12345678901234567168"));
  EXPECT_THAT(done(), ElementsAre("client " + result(second)));
}

TEST_F(BridgeIdsTest, DropsASecondCopyOfAnAnswerWithALargeId) {
  open_session();
  const std::string first = "12345678901234567890", second = "12345678901234567891";
  client(call(first, "a"));
  client(call(second, "b"));
  child(1, result(second));
  EXPECT_THAT(client_got(), ElementsAre(result(second)));
  child(1, result(second));
  EXPECT_THAT(done(), IsEmpty());
  child(1, result(first));
  EXPECT_THAT(done(), ElementsAre("client " + result(first)));
}

TEST_F(BridgeIdsTest, AChildThatReturnedAllDigitsIsNotTreatedAsRounding) {
  open_session();
  const std::string print = "12345678901234567168", other = "12345678901234567169";
  client(call(other, "a"));
  child(1, result(other));
  client(call(print, "a"));
  client(call(other, "b"));
  child(1, result(print));
  EXPECT_THAT(client_got(), ElementsAre(result(other), result(print)));
  child(1, result(print));
  EXPECT_THAT(done(), IsEmpty());
  child(1, result(other));
}

TEST_F(BridgeIdsTest, AnAnswerToInitializeCanShowThatTheChildRoundsNothing) {
  const std::string other = "12345678901234567890";
  client(initialize("12345678901234567891"));
  child(1, result("12345678901234567891", server.opening()));
  client(initialized());
  child(1, result("#1", Server::list("tools", server.tools)));
  client(call(other, "a"));
  done();
  child(1, result("12345678901234567168"));
  EXPECT_THAT(client_got(), IsEmpty());
  child(1, result(other));
  EXPECT_THAT(client_got(), ElementsAre(result(other)));
}

TEST_F(BridgeIdsTest, ANumberAndAStringAreDifferentIds) {
  open_session();
  client(call(1, "a"));
  client(call("\"1\"", "b"));
  done();
  child(1, result("\"1\"", R"json({"of":"b"})json"));
  child(1, result(1, R"json({"of":"a"})json"));
  EXPECT_THAT(done(), ElementsAre("client " + result("\"1\"", R"json({"of":"b"})json"),
                                  "client " + result(1, R"json({"of":"a"})json")));
}

TEST_F(BridgeIdsTest, TwoRequestsWithTheSameIdAreBothAnswered) {
  open_session();
  client(call(1, "a"));
  client(call(1, "b"));
  EXPECT_THAT(done(), ElementsAre("child 1 " + call(1, "a"), "child 1 " + call(1, "b")));
  child(1, result(1));
  child(1, result(1));
  EXPECT_THAT(done(), ElementsAre("client " + result(1), "client " + result(1)));
  child(1, result(1));
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(BridgeIdsTest, TwoRequestsWithTheSameIdAreBothAnsweredWhenTheChildDies) {
  open_session();
  client(call(1, "a"));
  client(request(1, "vendor/x"));
  client(call(1, "b"));
  dies(1, 3);
  EXPECT_THAT(client_got(), SizeIs(3));
}

TEST_F(BridgeIdsTest, AnIdMayComeBackAfterItsAnswer) {
  // A list request is in flight when the child dies, and a call uses its id again.
  open_session();
  client(request(1, "tools/list", R"json({"cursor":"x"})json"));
  dies(1, 3);
  EXPECT_THAT(client_got(), SizeIs(1));
  client(call(1, "echo"));
  opens(2);
  done();
  child(2, result(1, R"json({"tools":[]})json"));
  EXPECT_THAT(client_got(), ElementsAre(result(1, R"json({"tools":[]})json")));
}

TEST_F(BridgeIdsTest, OurIdsAreNumbersForAClientOfNumbers) {
  open_session();
  dies(1, 0);
  client(call(1, "echo"));
  EXPECT_THAT(done(), Contains(HasSubstr(R"json(child 2 {"jsonrpc":"2.0","id":#2,)json")));
  opens(2);
  child(2, result(1));
}

TEST_F(BridgeIdsTest, OurIdsAreStringsForAClientOfStrings) {
  client(initialize("\"a\""));
  opens(1);
  client(initialized());
  EXPECT_THAT(done(), Contains(HasSubstr(R"json("id":"mcp-sitter-#1","method":"tools/list")json")));
  child(1, result(R"json("mcp-sitter-#1")json", Server::list("tools", server.tools)));
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(BridgeIdsTest, OurIdsSkipThoseInUse) {
  open_session();
  for (const std::string id : {"1125899906842625", "1125899906842626.0"}) client(call(id, "slow"));
  child(1, notification("notifications/tools/list_changed"));
  EXPECT_THAT(done(), Contains("child 1 " + request("#4", "tools/list", "{}")));
  opens(1);
  for (const std::string id : {"1125899906842625", "1125899906842626.0"}) {
    child(1, result(id));
    EXPECT_THAT(client_got(), ElementsAre(result(id)));
  }
}

TEST_F(BridgeIdsTest, TheRandomSeedMovesTheNumbers) {
  config.seed = 41;
  open_session();
  dies(1, 0);
  client(call(1, "echo"));
  EXPECT_THAT(done(), Contains(HasSubstr(R"json("id":#43,)json")));
  opens(2);
  child(2, result(1));
}

TEST_F(BridgeIdsTest, OurIdsFitExactlyInADouble) {
  config.seed = ~std::uint64_t{0};
  client(initialize(0));
  opens(1);
  client(initialized());
  EXPECT_THAT(done(), Contains("child 1 " + request("2251799813685247", "tools/list", "{}")));
}

TEST_F(BridgeIdsTest, NothingThatTheClientSendsMatchesOurIds) {
  client(initialize(0));
  opens(1);
  client(initialized());
  done();
  client(result("1125899906842624", R"json({"tools":[]})json"));
  EXPECT_THAT(done(), IsEmpty());
  opens(1);
  client(call(1, "sitter_status"));
  EXPECT_THAT(answer_text(), HasSubstr(R"json("childToolCount": 1)json"));
}

TEST_F(BridgeIdsTest, AnAnswerWithAnUnknownIdIsDropped) {
  open_session();
  child(1, result(77));
  child(1, error("\"x\"", -1, "no"));
  child(1, R"json({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what"}})json");
  child(1, R"json({"jsonrpc":"2.0","error":{"code":-32700,"message":"what"}})json");
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(BridgeIdsTest, AnAnswerToADeadChildsQuestionNeverReachesItsSuccessor) {
  open_session();
  child(1, request(0, "sampling/createMessage"));
  done();
  dies(1, 3);
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("notifications/cancelled"),
                                              HasSubstr(R"json("requestId":1,)json"))));
  client(call(1, "echo"));
  opens(2);
  child(2, request(0, "roots/list"));
  EXPECT_THAT(done(), Contains("client " + request(2, "roots/list")));
  client(result(1, R"json({"late":true})json"));
  client(progress(1, 1));
  EXPECT_THAT(done(), IsEmpty());
  client(result(2, R"json({"roots":[]})json"));
  EXPECT_THAT(done(), ElementsAre("child 2 " + result(0, R"json({"roots":[]})json")));
  child(2, result(1));
}

TEST_F(BridgeIdsTest, MatchesAnAnswerOfTheClientByTheValueOfItsId) {
  open_session();
  child(1, request("\"q\"", "roots/list"));
  done();
  for (const std::string other : {"2", "0", "-1", "\"1\"", "1.5", "99999999999999999999"}) {
    client(result(other));
    EXPECT_THAT(done(), IsEmpty()) << other;
  }
  client(result("1e0"));
  EXPECT_THAT(done(), ElementsAre("child 1 " + result("\"q\"")));
  client(result(1));
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(BridgeIdsTest, QuestionsOfTwoChildrenAreKeptApart) {
  open_session();
  client(call(1, "work"));
  ask_reload();
  opens(2);
  done();
  child(1, request(5, "roots/list"));
  child(2, request(5, "roots/list"));
  child(2, request(6, "roots/list"));
  EXPECT_THAT(client_got(), ElementsAre(request(1, "roots/list"), request(2, "roots/list"),
                                        request(3, "roots/list")));
  child(2, cancelled("5.0"));
  EXPECT_THAT(client_got(), ElementsAre(cancelled(2)));
  child(1, result(1));
  dies(1, 0);
  EXPECT_THAT(client_got(), ElementsAre(result(1), AllOf(HasSubstr("notifications/cancelled"),
                                                         HasSubstr("\"requestId\":1,"))));
  client(result(3));
  EXPECT_THAT(done(), ElementsAre("child 2 " + result(6)));
}

TEST_F(BridgeIdsTest, DropsLateLinesOfADeadChild) {
  open_session();
  client(call(1, "echo"));
  dies(1, 3);
  client(call(2, "echo"));
  opens(2);
  done();
  child(1, result(2, R"json({"of":"the dead"})json"));
  child(1, notification("notifications/message"));
  child_says(1, "late");
  exits(1, 0);
  closes_output(1);
  EXPECT_THAT(done(), IsEmpty());
  child(2, result(2, R"json({"of":"the living"})json"));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("the living")));
}

TEST_F(BridgeIdsTest, ProgressOfTheClientForAQuestionWithoutATokenIsDropped) {
  open_session();
  child(1, request(3, "sampling/createMessage"));
  done();
  client(progress(1, 5));
  EXPECT_THAT(done(), IsEmpty());
  client(result(1));
}

TEST_F(BridgeIdsTest, AChildThatKeepsSixtyFourBitsMayRoundLongerIds) {
  open_session();
  const std::string kept = "12345678901234567891", longer = "123456789012345678901234";
  client(call(kept, "a"));
  child(1, result(kept));
  client(call(longer, "a"));
  done();
  // nlohmann/json, serde_json and simdjson print the id like this.
  child(1, result("1.2345678901234568e+23"));
  EXPECT_THAT(done(), ElementsAre("client " + result(longer)));
}

}  // namespace
}  // namespace sitter
