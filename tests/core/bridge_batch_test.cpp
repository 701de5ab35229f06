#include "core/client/batches.hpp"
#include "core/wire/salvage.hpp"
#include "support/bridge_script.hpp"

namespace sitter {
namespace {

using ::testing::UnorderedElementsAre;

/// Sessions of 2025-03-26, the only revision with batches.
class BridgeBatchTest : public BridgeTest {
 protected:
  void SetUp() override {
    server.protocol_version = "2025-03-26";
    open_session("2025-03-26");
    takes_batches = true;
  }

  static std::string batch(const std::vector<std::string>& messages) {
    std::string text;
    for (const std::string& message : messages) text += (text.empty() ? "" : ",") + message;
    return "[" + text + "]";
  }
};

TEST_F(BridgeBatchTest, ItsMessagesReachTheChildOneByOneAndTheAnswersComeInOneArray) {
  client(batch({request(1, "a"), notification("b"), request(2, "c")}));
  EXPECT_THAT(done(), ElementsAre("child 1 " + request(1, "a"), "child 1 " + notification("b"),
                                  "child 1 " + request(2, "c")));
  child(1, result(2));
  EXPECT_THAT(done(), IsEmpty());
  child(1, result(1));
  EXPECT_THAT(done(), ElementsAre("client " + batch({result(2), result(1)})));
}

TEST_F(BridgeBatchTest, ABatchOfNotificationsIsNotAnswered) {
  client(batch({notification("a"), notification("b")}));
  EXPECT_THAT(done(), ElementsAre("child 1 " + notification("a"), "child 1 " + notification("b")));
}

TEST_F(BridgeBatchTest, AnEmptyBatchIsRefused) {
  client("[]");
  EXPECT_THAT(done(), ElementsAre(HasSubstr(R"json("id":null,"error":{"code":-32600)json")));
}

TEST_F(BridgeBatchTest, ABatchOfTooManyEntriesIsRefusedWhole) {
  may_answer_unasked = true;
  std::vector<std::string> entries(limits::kBatchCountMax, "1");
  client(batch(entries));
  const auto answers = client_got();
  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_THAT(nlohmann::json::parse(answers[0]), SizeIs(10'000));
  entries.push_back("1");
  client(batch(entries));
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr(R"json("id":null,"error")json"),
                                              HasSubstr("more than 10000 entries"))));
}

TEST_F(BridgeBatchTest, AnEntryThatIsNotAMessageHasItsErrorInTheArray) {
  may_answer_unasked = true;
  client(batch({"1", request(1, "a"), R"json({"id":5})json"}));
  done();
  child(1, result(1));
  const auto lines = client_got();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], HasSubstr(R"json({"jsonrpc":"2.0","id":null,"error":{"code":-32600)json"));
  EXPECT_THAT(lines[0], HasSubstr(R"json({"jsonrpc":"2.0","id":5,"error":{"code":-32600)json"));
  EXPECT_TRUE(lines[0].starts_with('[') && lines[0].ends_with(']'));
  EXPECT_THAT(lines[0], HasSubstr(result(1)));
}

TEST_F(BridgeBatchTest, ABrokenBatchIsAParseError) {
  may_answer_unasked = true;
  client("[" + request(1, "a"));
  EXPECT_THAT(done(), ElementsAre(HasSubstr(R"json("error":{"code":-32700)json")));
}

TEST_F(BridgeBatchTest, EachMessageOfABrokenBatchHasItsError) {
  may_answer_unasked = true;
  client("[" + call(1, "a") + "," + call(2, "b"));
  EXPECT_THAT(done(), ElementsAre(AllOf(HasSubstr("-32700"), HasSubstr("\"id\":1")),
                                  AllOf(HasSubstr("-32700"), HasSubstr("\"id\":2"))));
  client("[" + call(3, "a"));
  EXPECT_THAT(done(), ElementsAre(AllOf(HasSubstr("-32700"), HasSubstr("\"id\":3"))));
  client("[" + call(4, "a") + R"json(,{"jsonrpc":"2.0","id":5,"method":"x")json");
  EXPECT_THAT(done(), ElementsAre(AllOf(HasSubstr("-32700"), HasSubstr("\"id\":4")),
                                  AllOf(HasSubstr("-32700"), HasSubstr("\"id\":5"))));
}

TEST_F(BridgeBatchTest, AStreamCannotBePartOfABatch) {
  client(batch({request(1, "ping"), listen(2, R"json({"toolsListChanged":true})json")}));
  child(1, result(1));
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr(R"json("id":2,"error":{"code":-32600)json"),
                                              HasSubstr(result(1)))));
}

TEST_F(BridgeBatchTest, AnAnswerThatDoesNotFitIntoTheArrayIsAnError) {
  const std::string half(limits::kBatchBytesMax / 2, 'x');
  client(batch({call(1, "a"), call(2, "b")}));
  child(1, result(1, text_result(half)));
  child(1, result(2, text_result(half)));
  const auto got = client_got();
  ASSERT_THAT(got, SizeIs(1));
  EXPECT_LT(got[0].size(), limits::kBatchBytesMax);
  EXPECT_THAT(got[0].substr(got[0].size() - 300),
              HasSubstr(R"json("id":2,"error":{"code":-32603)json"));
}

TEST_F(BridgeBatchTest, InitializeMustNotBePartOfABatch) {
  client(batch({initialize(7)}));
  EXPECT_THAT(done(), ElementsAre(AllOf(HasSubstr(R"json([{"jsonrpc":"2.0","id":7)json"),
                                        HasSubstr("-32600"), HasSubstr("initialize"))));
}

TEST_F(BridgeBatchTest, TheErrorForADeathIsInTheArray) {
  client(batch({request(1, "a"), request(2, "b")}));
  child(1, result(1));
  done();
  dies(1, 3);
  const auto lines = client_got();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], HasSubstr("[" + result(1) + R"json(,{"jsonrpc":"2.0","id":2,"error")json"));
}

TEST_F(BridgeBatchTest, ACancelledRequestIsNotWaitedFor) {
  client(batch({request(1, "a"), request(2, "b")}));
  child(1, result(1));
  done();
  client(cancelled(2));
  EXPECT_THAT(done(), ElementsAre("child 1 " + cancelled(2), "client " + batch({result(1)})));
  child(1, result(2));
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(BridgeBatchTest, BuiltInToolsAnswerInABatch) {
  client(batch({call(1, "sitter_child_stderr")}));
  EXPECT_THAT(done(), ElementsAre("client " +
                                  batch({result(1, text_result("(no child stderr in buffer)"))})));
}

TEST_F(BridgeBatchTest, ABatchOfTheChildIsSplit) {
  client(request(1, "a"));
  client(request(2, "b"));
  done();
  child(1, batch({result(1), result(2)}));
  EXPECT_THAT(done(), ElementsAre("client " + result(1), "client " + result(2)));
}

TEST_F(BridgeTest, InOtherRevisionsABatchIsRefused) {
  open_session();
  client("[" + request(1, "a") + "]");
  EXPECT_THAT(done(), ElementsAre(HasSubstr(R"json("error":{"code":-32600)json")));
}

TEST_F(BridgeBatchTest, ARespawnedChildOfAnotherRevisionDoesNotCostTheClientItsBatches) {
  dies(1, 0);
  server.protocol_version = "2025-06-18";
  client(batch({request(1, "a"), request(2, "b")}));
  opens(2);
  child(2, result(2));
  child(2, result(1));
  EXPECT_EQ(client_got().back(), batch({result(2), result(1)}));
  client(batch({request(3, "c")}));
  child(2, result(3));
  EXPECT_EQ(client_got().back(), batch({result(3)}));
}

}  // namespace
}  // namespace sitter
