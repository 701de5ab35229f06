#include "core/client/streams.hpp"
#include "support/stateless_script.hpp"

namespace sitter {
namespace {

/// How a stream is opened, and opened again with each child.
class BridgeStreamsTest : public StreamsTest {
 protected:
  /// The stream is acknowledged, and the call is in flight.
  void open_beside_a_call(const Id& stream, const Id& other) {
    client(listen(stream, kTools));
    opens(1);
    child(1, acknowledged(stream, kTools));
    client(enveloped_call(other, "echo"));
    done();
  }
};

TEST_F(BridgeStreamsTest, AStreamMayBeTheFirstRequest) {
  client(listen(kStream, kTools));
  const auto words = done();
  ASSERT_GE(words.size(), 2u);
  EXPECT_EQ(words[0], "start 1");
  EXPECT_EQ(words[1], "child 1 " + listen(kStream, kTools));
  opens(1);
  child(1, acknowledged(kStream, kTools));
  EXPECT_THAT(client_got(), ElementsAre(acknowledged(kStream, kTools)));
}

TEST_F(BridgeStreamsTest, ItIsOpenedAgainUnderItsIdAndTheSecondAcknowledgementIsSwallowed) {
  open_stream(kTools, kTools);
  dies(1, 3);
  EXPECT_THAT(done(), ElementsAre("terminate 1", "release 1"));
  respawn(2);
  const auto words = done();
  EXPECT_THAT(words, Contains("child 2 " + listen(kStream, kTools)));
  EXPECT_EQ(words.back(), "child 2 " + enveloped(92, "x"));
  child(2, acknowledged(kStream, kTools));
  EXPECT_THAT(done(), IsEmpty());
  answers_x(2);
}

TEST_F(BridgeStreamsTest, AStreamThatComesDuringARespawnReachesTheNewChildToo) {
  open_stream(kTools, kTools);
  dies(1, 0);
  client(enveloped(92, "x"));
  client(listen(7, kTools));
  done();
  opens(2);
  EXPECT_THAT(done(), ElementsAre("child 2 " + listen(7, kTools), "child 2 " + enveloped(92, "x")));
  child(2, acknowledged(7, kTools));
  EXPECT_THAT(client_got(), ElementsAre(acknowledged(7, kTools)));
  answers_x(2);
}

TEST_F(BridgeStreamsTest, IfTheChildDoesNotGrantTheToolsTheBridgeGrantsThem) {
  client(listen(kStream, R"json({"toolsListChanged":true,"resourcesListChanged":true})json"));
  opens(1);
  done();
  child(1, acknowledged(kStream, R"json({"resourcesListChanged":true})json"));
  EXPECT_THAT(client_got(),
              ElementsAre(acknowledged(
                  kStream, R"json({"toolsListChanged":true,"resourcesListChanged":true})json")));
}

TEST_F(BridgeStreamsTest, IfTheChildHasNoStreamsTheBridgeServesTheStream) {
  client(listen(kStream, kTools));
  opens(1);
  done();
  child(1, error(kStream, -32601, "Method not found"));
  EXPECT_THAT(client_got(), ElementsAre(acknowledged(kStream, kTools)));
  dies(1, 0);
  server.tools = {tool("other")};
  done();
  respawn(2);
  EXPECT_THAT(client_got(), ElementsAre(to_stream(kStream, kChanged)));
  child(2, error(kStream, -32601, "Method not found"));
  EXPECT_THAT(client_got(), IsEmpty());
  answers_x(2);
}

TEST_F(BridgeStreamsTest, PassesAnyOtherErrorToTheClient) {
  client(listen(kStream, kTools));
  opens(1);
  done();
  const std::string full = error(kStream, -32603, "Subscription limit reached");
  child(1, full);
  EXPECT_THAT(client_got(), ElementsAre(full));
}

TEST_F(BridgeStreamsTest, WithoutAChildTheBridgeAcknowledges) {
  plays.start = false;
  client(listen(kStream, kTools));
  start_fails(1, "no such file");
  EXPECT_THAT(client_got(), ElementsAre(acknowledged(kStream, kTools)));
  plays.start = true;
  respawn(2);
  EXPECT_THAT(done(), Contains("child 2 " + listen(kStream, kTools)));
  child(2, acknowledged(kStream, kTools));
  EXPECT_THAT(client_got(), IsEmpty());
  answers_x(2);
}

TEST_F(BridgeStreamsTest, SendsAnAcknowledgementIfTheChildSendsNone) {
  client(listen(kStream, kTools));
  opens(1);
  done();
  time_passes(limits::kStreamAckWait - Milliseconds(1));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(Milliseconds(1));
  EXPECT_THAT(client_got(), ElementsAre(acknowledged(kStream, kTools)));
  // An acknowledgement that comes later is swallowed.
  child(1, acknowledged(kStream, kTools));
  EXPECT_THAT(client_got(), IsEmpty());
}

TEST_F(BridgeStreamsTest, AChildThatDiesBeforeItAcknowledgesDoesNotStartTheNext) {
  client(listen(kStream, kTools));
  opens(1);
  done();
  dies(1, 3);
  EXPECT_THAT(done(),
              ElementsAre("terminate 1", "release 1", "client " + acknowledged(kStream, kTools)));
}

TEST_F(BridgeStreamsTest, WhatAStreamCarriesIsTheSameAfterTheNextRespawnToo) {
  const std::string lists = R"json({"toolsListChanged":true,"promptsListChanged":true})json";
  open_stream(lists, kTools);
  for (const Generation gen : {2u, 3u}) {
    dies(gen - 1, 0);
    client(enveloped_call(90 + gen, "echo"));
    opens(gen);
    child(gen, acknowledged(kStream, kTools));
    child(gen, result(90 + gen, R"json({"resultType":"complete","content":[]})json"));
    EXPECT_THAT(client_got(), ElementsAre(HasSubstr("restarted")));
  }
}

TEST_F(BridgeStreamsTest, ALargeIdMayBeRoundedByTheChild) {
  const Id large("9007199254740993");
  client(listen(large, kTools));
  opens(1);
  done();
  const Id rounded("9007199254740992");
  child(1, acknowledged(rounded, kTools));
  EXPECT_THAT(client_got(), ElementsAre(acknowledged(large, kTools)));
  child(1, to_stream(rounded, kChanged));
  EXPECT_THAT(client_got(), ElementsAre(to_stream(large, kChanged)));
  child(1, cancelled(rounded));
  time_passes(limits::kStreamEndWait);
  EXPECT_THAT(client_got(), ElementsAre(cancelled(large)));
}

TEST_F(BridgeStreamsTest, AnExactIdMatchOfACallIsNotForTheStream) {
  const Id stream("12345678901234567001"), other("12345678901234567002");
  open_beside_a_call(stream, other);
  child(1, result(other, complete_text("a")));
  EXPECT_THAT(client_got(), ElementsAre(result(other, complete_text("a"))));
}

TEST_F(BridgeStreamsTest, AnExactIdMatchOfACallDoesNotEndAStreamEvenIfItLooksLikeAnEnd) {
  const Id stream("12345678901234567001"), rounded("12345678901234567168");
  open_beside_a_call(stream, rounded);
  const std::string answer =
      result(rounded, R"json({"resultType":"complete","content":[],)json"
                      R"json("_meta":{"io.modelcontextprotocol/subscriptionId":1}})json");
  child(1, answer);
  EXPECT_THAT(client_got(), ElementsAre(answer));
}

TEST_F(BridgeStreamsTest, AChildThatHasReturnedEveryDigitRoundsNoIdOfAStream) {
  const Id stream("12345678901234567001"), rounded("12345678901234567168");
  client(listen(stream, kTools));
  opens(1);
  child(1, acknowledged(stream, kTools));
  client(enveloped_call("12345678901234567890", "echo"));
  child(1, result("12345678901234567890", complete_text("a")));
  done();
  child(1, to_stream(rounded, kChanged));
  EXPECT_THAT(client_got(), IsEmpty());
  child(1, to_stream(stream, kChanged));
  EXPECT_THAT(client_got(), ElementsAre(to_stream(stream, kChanged)));
}

TEST_F(BridgeStreamsTest, AnUnreadableAnswerWithTheExactIdOfAStreamAnswersNoCall) {
  const Id stream("9007199254740992"), other("9007199254740993");
  open_beside_a_call(stream, other);
  child(1, result(stream, "{\"x\":\"\xff\"}"));
  EXPECT_THAT(done(), IsEmpty());
  child(1, result(other, complete_text("a")));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr(R"json({"type":"text","text":"a"}]}})json")));
}

TEST_F(BridgeStreamsTest, ForARoundedIdOnlyAStreamEndBelongsToTheStream) {
  const Id stream("12345678901234567001"), other("12345678901234567002");
  const Id rounded("12345678901234567000");
  client(listen(stream, kTools));
  opens(1);
  child(1, acknowledged(rounded, kTools));
  client(enveloped_call(other, "echo"));
  done();
  child(1, result(rounded, complete_text("a")));
  EXPECT_THAT(client_got(), ElementsAre(result(other, complete_text("a"))));
  client(enveloped_call(other, "echo"));
  done();
  child(1, end_of(rounded, rounded));
  time_passes(limits::kStreamEndWait);
  EXPECT_THAT(client_got(), ElementsAre(end_of(stream, stream)));
  child(1, result(rounded, complete_text("a")));
  EXPECT_THAT(client_got(), ElementsAre(result(other, complete_text("a"))));
}

TEST_F(BridgeStreamsTest, AnEndWithEveryDigitShowsThatTheChildRoundsNone) {
  const Id stream("12345678901234567017"), other("12345678901234567002");
  client(listen(stream, kTools));
  opens(1);
  child(1, acknowledged(stream, kTools));
  child(1, end_of(stream, stream));
  client(enveloped_call(other, "echo"));
  done();
  child(1, result("12345678901234567000", complete_text("a")));
  EXPECT_THAT(client_got(), IsEmpty());
  child(1, result(other, complete_text("b")));
  EXPECT_THAT(client_got(), ElementsAre(result(other, complete_text("b"))));
}

TEST_F(BridgeStreamsTest, DelaysAStreamThatCrashedTwoChildrenUntilTheNextHasAnswered) {
  open_stream(kTools, kTools);
  dies(1, 0);
  for (const Generation gen : {2u, 3u}) {
    respawn(gen);
    EXPECT_THAT(done(), Contains("child " + std::to_string(gen) + " " + listen(kStream, kTools)));
    dies(gen, 3);
    done();
  }
  respawn(4);
  EXPECT_THAT(done(), Not(Contains("child 4 " + listen(kStream, kTools))));
  answers_x(4);
  EXPECT_THAT(done(), Contains("child 4 " + listen(kStream, kTools)));
}

TEST_F(BridgeStreamsTest, AStreamWithTheIdOfARunningRequestIsRefused) {
  client(enveloped(kStream, "x"));
  client(listen(kStream, kTools));
  opens(1);
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("-32600"), HasSubstr("is open already"))));
  child(1, result(kStream, R"json({"resultType":"complete"})json"));
  EXPECT_THAT(client_got(), SizeIs(1));
}

TEST_F(BridgeStreamsTest, AnAcknowledgementThatCrossesTheCancellationIsNotAnError) {
  client(enveloped_call(1, "echo"));
  opens(1);
  child(1, result(1, R"json({"resultType":"complete","content":[]})json"));
  client(listen(kStream, kTools));
  client(cancelled(kStream));
  done();
  child(1, acknowledged(kStream, kTools));
  EXPECT_THAT(client_got(), IsEmpty());
  EXPECT_THAT(logs(), Not(Contains(HasSubstr("acknowledged a stream"))));
}

TEST_F(BridgeStreamsTest, DoesNotMatchARoundedAcknowledgementOfUnwantedItems) {
  const std::string prompts = R"json({"promptsListChanged":true})json";
  const Id cancelled_stream("9007199254740992"), stream("9007199254740993");
  client(listen(cancelled_stream, prompts));
  client(listen(stream, kTools));
  opens(1);
  client(cancelled(cancelled_stream));
  done();
  child(1, acknowledged(cancelled_stream, prompts));
  EXPECT_THAT(client_got(), IsEmpty());
  child(1, acknowledged(stream, kTools));
  EXPECT_THAT(client_got(), ElementsAre(acknowledged(stream, kTools)));
}

TEST_F(BridgeStreamsTest, ARequestWithTheIdOfAnOpenStreamIsRefused) {
  open_stream(kTools, kTools);
  client(enveloped_call(kStream, "echo"));
  EXPECT_THAT(done(), ElementsAre(AllOf(HasSubstr("-32600"), HasSubstr("is open already"))));
}

TEST_F(BridgeStreamsTest, PassesUnknownGrantsOfTheChildOn) {
  client(listen(kStream, R"json({"toolsListChanged":true,"taskIds":["t"]})json"));
  opens(1);
  done();
  child(1, acknowledged(kStream, R"json({"taskIds":["t"]})json"));
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr(R"json("taskIds":["t"])json"),
                                              HasSubstr(R"json("toolsListChanged":true)json"))));
}

TEST_F(BridgeStreamsTest, ASecondStreamWithTheSameIdIsRefused) {
  open_stream(kTools, kTools);
  client(listen(kStream, kTools));
  EXPECT_THAT(done(), ElementsAre(AllOf(HasSubstr("-32600"), HasSubstr("is open already"))));
}

TEST_F(BridgeStreamsTest, ARequestWithoutAFilterIsTheChildsToRefuse) {
  client(enveloped(1, "subscriptions/listen"));
  opens(1);
  const std::string refusal = error(1, -32602, "notifications is required");
  done();
  child(1, refusal);
  EXPECT_THAT(client_got(), ElementsAre(refusal));
}

TEST_F(BridgeStreamsTest, AnOpenStreamDoesNotDelayTheEnd) {
  open_stream(kTools, kTools);
  client_closes_input();
  EXPECT_THAT(done(), ElementsAre("close 1"));
  dies(1, 0);
}

TEST_F(BridgeStreamsTest, LimitsTheNumberOfStreams) {
  client(enveloped_call(1, "echo"));
  opens(1);
  child(1, result(1, R"json({"resultType":"complete","content":[]})json"));
  for (std::size_t i = 0; i < limits::kStreamsMax; ++i) {
    client(listen(static_cast<int>(1000 + i), kTools));
  }
  done();
  client(listen(2, kTools));
  EXPECT_THAT(done(), ElementsAre(AllOf(HasSubstr("-32603"), HasSubstr("1024 streams"))));
}

TEST_F(BridgeStreamsTest, TheBytesOfTheirRequestsAreBoundedTogether) {
  client(enveloped_call(1, "echo"));
  opens(1);
  child(1, result(1, R"json({"resultType":"complete","content":[]})json"));
  done();
  const auto of_size = [](int id, std::size_t size) {
    std::string line = listen(id, R"json({"resourceSubscriptions":[""]})json");
    line.insert(line.find("[\"") + 2, size - line.size(), 'x');
    return line;
  };
  constexpr std::size_t half = limits::kStreamBytesMax / 2;
  client(of_size(2, half));
  EXPECT_THAT(done(), SizeIs(1));
  client(of_size(3, half + 1));
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("-32603"), HasSubstr("4194304 bytes"))));
  client(of_size(4, half));
  EXPECT_THAT(done(), SizeIs(1));
}

TEST_F(BridgeStreamsTest, ItIsOpenedAgainWithEachChild) {
  open_stream(kTools, kTools);
  for (Generation gen = 2; gen <= 4; ++gen) {
    dies(gen - 1, 0);
    done();
    respawn(gen);
    EXPECT_THAT(done(), Contains("child " + std::to_string(gen) + " " + listen(kStream, kTools)));
    child(gen, acknowledged(kStream, kTools));
    answers_x(gen);
  }
}

TEST_F(BridgeStreamsTest, UnknownFiltersAreRequestedAgain) {
  const std::string more = R"json({"toolsListChanged":true,"taskIds":["t"]})json";
  open_stream(more, more);
  dies(1, 0);
  done();
  respawn(2);
  EXPECT_THAT(done(), Contains("child 2 " + listen(kStream, more)));
  child(2, acknowledged(kStream, more));
  EXPECT_THAT(client_got(), IsEmpty());
  answers_x(2);
}

TEST_F(BridgeStreamsTest, AStreamIsAcknowledgedThoughABuildRunsAndNothingServes) {
  config.build_command = "make";
  serve_session();
  ask_reload();
  dies(1, 3);
  client(listen(kStream, kTools));
  // After this time the official TypeScript client would give the stream up.
  time_passes(seconds(60));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("subscriptions/acknowledged")));
  dies(build(1), 2);
}

}  // namespace
}  // namespace sitter
