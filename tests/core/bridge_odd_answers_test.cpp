#include "support/bridge_script.hpp"

namespace sitter {
namespace {

/// Answers that name no request, and answers with more than an answer may have.
class BridgeOddAnswersTest : public BridgeTest {
 protected:
  void SetUp() override { may_answer_unasked = true; }
};

TEST_F(BridgeOddAnswersTest, AnErrorWithoutAnIdAnswersTheOnlyRequestThatIsOpen) {
  open_session();
  const std::string unnamed = error("null", -32700, "Parse error: token too long");
  client(call(1, "echo"));
  client(call(2, "echo"));
  done();
  child(1, unnamed);
  EXPECT_THAT(client_got(), IsEmpty());
  child(1, result(1, text_result("x")));
  EXPECT_THAT(answer_text(), HasSubstr("token too long"));
  child(1, unnamed);
  EXPECT_THAT(answer_text(), AllOf(HasSubstr("names no request"), HasSubstr("token too long")));
  child(1, unnamed);
  EXPECT_THAT(client_got(), IsEmpty());
}

TEST_F(BridgeOddAnswersTest, AnErrorWithoutAnIdMayBeAboutANotification) {
  const std::string unnamed = error("null", -32601, "Method not found");
  client(initialize(0));
  child(1, result(0, server.opening()));
  client(initialized());
  client(call(1, "echo"));
  done();
  child(1, unnamed);
  EXPECT_THAT(client_got(), IsEmpty());
  child(1, result(1, text_result("x")));
  EXPECT_THAT(answer_text(), HasSubstr("Method not found"));
  // Now the server has read the notification.
  client(call(2, "echo"));
  child(1, unnamed);
  EXPECT_THAT(answer_text(), HasSubstr("names no request"));

  client(call(3, "echo"));
  client(notification("notifications/roots/list_changed"));
  done();
  child(1, unnamed);
  EXPECT_THAT(client_got(), IsEmpty());
  // The server has not read what this is about.
  child(1, error("null", -32700, "Parse error"));
  EXPECT_THAT(answer_text(), HasSubstr("names no request"));

  client(call(4, "echo"));
  child(1, result(4));
  client(call(5, "echo"));
  done();
  child(1, error("null", -32601, "Method not found: notifications/initialized"));
  EXPECT_THAT(client_got(), IsEmpty());
  child(1, result(5));
}

TEST_F(BridgeOddAnswersTest, AParseErrorOfAnIdThatNobodyUsesHasNone) {
  open_session();
  for (const char* const id : {"-1", "0", "\"\"", "\"null\""}) {
    client(call(1, "echo"));
    done();
    child(1, error(id, -32700, "Parse error"));
    EXPECT_THAT(answer_text(), HasSubstr("names no request")) << id;
  }
}

TEST_F(BridgeOddAnswersTest, AnErrorWithoutAnIdAnswersInitialize) {
  client(initialize(0));
  done();
  child(1, error("null", -32600, "bad request"));
  dies(1, 0);
  EXPECT_THAT(answer()["result"]["instructions"].get<std::string>(), HasSubstr("bad request"));
}

TEST_F(BridgeOddAnswersTest, APartOfAnAnswerIsNone) {
  client(initialize(0));
  done();
  for (const char* const line : {"{", R"json("jsonrpc": "2.0",)json", R"json("result": {})json",
                                 R"json({"jsonrpc":"2.0","result":{)json", "}"}) {
    child(1, line);
  }
  EXPECT_THAT(done(), Each(HasSubstr("log")));
}

TEST_F(BridgeOddAnswersTest, AnAnswerWhoseIdIsNoneAnswersTheOnlyRequestThatIsOpen) {
  open_session();
  client(call(1, "echo"));
  done();
  // This may be the answer to `initialized`.
  child(1, result("null"));
  EXPECT_THAT(client_got(), IsEmpty());
  child(1, result(1));
  done();
  int id = 1;
  for (const char* const none : {"null", "true", "{}"}) {
    client(call(++id, "echo"));
    done();
    child(1, result(none));
    EXPECT_THAT(answer_text(), HasSubstr("could not be read")) << none;
    client(call(++id, "echo"));
    client(call(++id, "echo"));
    done();
    child(1, result(none));
    EXPECT_THAT(client_got(), IsEmpty()) << none;
    for (const int open : {id - 1, id}) child(1, result(open));
    done();
  }
}

/// The line of an object with more members.
std::string with(std::string line, const std::string& more) {
  line.insert(line.size() - 1, more);
  return line;
}

TEST_F(BridgeOddAnswersTest, OtherMembersOfAnAnswerPassAndAreTold) {
  open_session();
  for (const char* const more : {R"json(,"time":3,"x":1)json", R"json(,"params":{})json"}) {
    for (const std::string& line : {result(1), error(1, -32000, "x")}) {
      client(request(1, "vendor/x"));
      done();
      child(1, with(line, more));
      EXPECT_THAT(client_got(), ElementsAre(with(line, more)));
    }
  }
  client(call(2, "echo"));
  child(1, result(2, text_result("x")));
  EXPECT_THAT(answer_text(), HasSubstr("throws such an answer away: time, x"));
}

TEST_F(BridgeOddAnswersTest, AMethodThatIsNullIsLeftOutOfAnAnswer) {
  open_session();
  for (const std::string& line : {result(1), error(1, -32000, "x")}) {
    client(request(1, "vendor/x"));
    done();
    child(1, with(line, R"json(,"method":null,"params":null)json"));
    EXPECT_THAT(client_got(), ElementsAre(line));
  }
}

TEST_F(BridgeOddAnswersTest, OtherMembersAreLeftOutOfAnOpening) {
  client(initialize(0));
  done();
  child(1, with(result(0, server.opening()), R"json(,"time":3)json"));
  EXPECT_THAT(client_got(), ElementsAre(Not(HasSubstr("time"))));
  client(initialized());
  opens(1);
  client(call(1, "echo"));
  child(1, result(1, text_result("x")));
  EXPECT_THAT(answer_text(), HasSubstr("throws such an answer away: time"));
}

TEST_F(BridgeOddAnswersTest, WithoutLintOtherMembersOfAnOpeningPass) {
  config.lints = false;
  client(initialize(0));
  done();
  child(1, with(result(0, server.opening()), R"json(,"time":3)json"));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("time")));
}

}  // namespace
}  // namespace sitter
