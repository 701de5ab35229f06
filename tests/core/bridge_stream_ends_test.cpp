#include "core/client/streams.hpp"
#include "support/stateless_script.hpp"

namespace sitter {
namespace {

/// The end of a stream as the bridge itself writes it.
std::string own_end_of(const Id& stream) {
  return end_of(stream, stream,
                R"json(,"io.modelcontextprotocol/serverInfo":)json"
                R"json({"name":"mcp-sitter","version":"9.9.9"})json");
}

/// How a stream ends, and what does not end it.
class BridgeStreamEndsTest : public StreamsTest {
 protected:
  /// A child has granted all of this, and the next child grants only the tools.
  void respawn_grants_less_than(const std::string& granted) {
    open_stream(granted, granted);
    dies(1, 0);
    done();
    respawn(2);
    done();
    child(2, acknowledged(kStream, kTools));
  }
};

TEST_F(BridgeStreamEndsTest, ARespawnedChildThatGrantsLessEndsTheStream) {
  respawn_grants_less_than(R"json({"toolsListChanged":true,"resourceSubscriptions":["a:/b"]})json");
  EXPECT_THAT(
      done(),
      ElementsAre(HasSubstr("child 2 " + cancelled(kStream)),
                  HasSubstr(R"json(client {"jsonrpc":"2.0","method":)json"
                            R"json("notifications/cancelled","params":{"requestId":"s")json")));
  answers_x(2);
}

TEST_F(BridgeStreamEndsTest, ARespawnedChildThatRefusesAStreamThatItAloneCanServeEndsIt) {
  const std::string resource = R"json({"resourceSubscriptions":["a:/b"]})json";
  open_stream(resource, resource);
  dies(1, 0);
  done();
  respawn(2);
  done();
  child(2, error(kStream, -32602, "no"));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("notifications/cancelled")));
  answers_x(2);
}

TEST_F(BridgeStreamEndsTest, KeepsAStreamEndedByAChildThatGrantedNothing) {
  client(listen(kStream, kTools));
  opens(1);
  done();
  const std::string end = end_of(kStream, kStream);
  child(1, acknowledged(kStream, "{}"));
  child(1, end);
  EXPECT_THAT(client_got(), ElementsAre(acknowledged(kStream, kTools)));
  time_passes(limits::kStreamEndWait);
  EXPECT_THAT(done(), IsEmpty());
  dies(1, 0);
  server.tools.push_back(tool("more"));
  respawn(2);
  EXPECT_THAT(client_got(), ElementsAre(to_stream(kStream, kChanged)));
  answers_x(2);
}

TEST_F(BridgeStreamEndsTest, AnErrorEndsAnOpenStream) {
  open_stream(kTools, kTools);
  child(1, error(kStream, -32603, "no more"));
  EXPECT_THAT(client_got(), ElementsAre(error(kStream, -32603, "no more")));
}

TEST_F(BridgeStreamEndsTest, AnEndThatWaitsPassesWhenTheClientClosesItsInput) {
  open_stream(kTools, kTools);
  const std::string end = end_of(kStream, kStream);
  child(1, end);
  EXPECT_THAT(done(), IsEmpty());
  client_closes_input();
  EXPECT_THAT(client_got(), ElementsAre(end));
}

TEST_F(BridgeStreamEndsTest, TheEndOfAStreamThatTheBridgeHasEndedEndsNoOther) {
  plays.start = false;
  const std::string more = R"json({"toolsListChanged":true,"resourceSubscriptions":["a:/b"]})json";
  // A child that keeps numbers as doubles would take both ids for the first.
  const Id ended("9007199254740992"), other("9007199254740993");
  client(listen(ended, more));
  client(listen(other, kTools));
  start_fails(1, "no such file");
  respawn(2);
  started(2);
  opens(2);
  child(2, acknowledged(ended, more));
  EXPECT_THAT(done(), Contains(HasSubstr("grants more of this stream")));
  child(2, end_of(ended, ended));
  time_passes(limits::kStreamEndWait);
  EXPECT_THAT(client_got(), IsEmpty());
  child(2, acknowledged(other, kTools));
  child(2, end_of(other, other));
  time_passes(limits::kStreamEndWait);
  EXPECT_THAT(client_got(), ElementsAre(end_of(other, other)));
  answers_x(2);
}

TEST_F(BridgeStreamEndsTest, TheCancellationOfAStreamThatTheClientHasEndedEndsNoOther) {
  const Id ended("9007199254740992"), other("9007199254740993");
  client(listen(ended, kTools));
  client(listen(other, kTools));
  opens(1);
  child(1, acknowledged(ended, kTools));
  child(1, acknowledged(other, kTools));
  client(cancelled(ended));
  done();
  child(1, cancelled(ended));
  time_passes(limits::kStreamEndWait);
  EXPECT_THAT(client_got(), IsEmpty());
  child(1, to_stream(other, kChanged));
  EXPECT_THAT(client_got(), ElementsAre(to_stream(other, kChanged)));
}

TEST_F(BridgeStreamEndsTest, AnAcknowledgementAfterTheEndOfAStreamChangesNothing) {
  client(listen(kStream, kTools));
  opens(1);
  child(1, acknowledged(kStream, kTools));
  done();
  child(1, cancelled(kStream));
  child(1, acknowledged(kStream, kTools));
  time_passes(limits::kStreamEndWait);
  EXPECT_THAT(client_got(), ElementsAre(cancelled(kStream)));
}

TEST_F(BridgeStreamEndsTest, EndsAStreamIfTheChildGrantsMoreThanPromised) {
  plays.start = false;
  const std::string more = R"json({"toolsListChanged":true,"resourceSubscriptions":["a:/b"]})json";
  client(listen(kStream, more));
  start_fails(1, "no such file");
  EXPECT_THAT(client_got(), ElementsAre(acknowledged(kStream, kTools)));
  respawn(2);
  started(2);
  opens(2);
  done();
  child(2, acknowledged(kStream, more));
  EXPECT_THAT(done(), ElementsAre("child 2 " + cancelled(kStream),
                                  AllOf(HasSubstr("notifications/cancelled"),
                                        HasSubstr("grants more of this stream"))));
  answers_x(2);
}

TEST_F(BridgeStreamEndsTest, SendsNoCancellationToAChildBeingTakenDown) {
  const std::string resource = R"json({"resourceSubscriptions":["a:/b"]})json";
  open_stream(resource, resource);
  dies(1, 0);
  respawn(2);
  client(enveloped_call(3, "sitter_kill"));
  done();
  child(2, acknowledged(kStream, "{}"));
  EXPECT_THAT(done(), IsEmpty());
  dies(2, 0);
  done();
}

TEST_F(BridgeStreamEndsTest, TheClientCanEndAStream) {
  open_stream(kTools, kTools);
  client(cancelled(kStream));
  EXPECT_THAT(done(), ElementsAre("child 1 " + cancelled(kStream)));
  child(1, to_stream(kStream, kChanged));
  EXPECT_THAT(client_got(), IsEmpty());
  dies(1, 0);
  respawn(2);
  for (const std::string& word : done()) EXPECT_THAT(word, ::testing::Not(HasSubstr("listen")));
  answers_x(2);
}

TEST_F(BridgeStreamEndsTest, AChildThatRefusedItIsNotToldOfItsEnd) {
  client(listen(kStream, kTools));
  opens(1);
  child(1, error(kStream, -32601, "Method not found"));
  done();
  client(cancelled(kStream));
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(BridgeStreamEndsTest, ItsEndReachesTheClientIfTheChildLivesOn) {
  open_stream(kTools, kTools);
  const std::string end = end_of(kStream, kStream);
  child(1, end);
  EXPECT_THAT(done(), IsEmpty());
  time_passes(limits::kStreamEndWait);
  EXPECT_THAT(client_got(), ElementsAre(end));
  client(listen(kStream, kTools));
  EXPECT_THAT(done(), ElementsAre("child 1 " + listen(kStream, kTools)));
}

TEST_F(BridgeStreamEndsTest, AChildThatExitsMayEndItInGoodOrder) {
  open_stream(kTools, kTools);
  child(1, end_of(kStream, kStream));
  dies(1, 0);
  time_passes(limits::kStreamEndWait);
  EXPECT_THAT(client_got(), IsEmpty());
  respawn(2);
  EXPECT_THAT(done(), Contains("child 2 " + listen(kStream, kTools)));
  answers_x(2);
}

TEST_F(BridgeStreamEndsTest, ItsEndHasTheIdAsTheClientSpellsIt) {
  client(listen("7.0", kTools));
  opens(1);
  child(1, acknowledged("7.0", kTools));
  done();
  child(1, end_of(7, 7));
  time_passes(limits::kStreamEndWait);
  EXPECT_THAT(client_got(), ElementsAre(end_of("7.0", "7.0")));
}

TEST_F(BridgeStreamEndsTest, AtTheEndOfTheSessionItsEndPassesAtOnce) {
  open_stream(kTools, kTools);
  client_closes_input();
  done();
  const std::string end = end_of(kStream, kStream);
  child(1, end);
  EXPECT_THAT(client_got(), ElementsAre(end));
  dies(1, 0);
}

TEST_F(BridgeStreamEndsTest, AChildMayEndItWithACancellationToo) {
  open_stream(kTools, kTools);
  child(1, cancelled(kStream));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(limits::kStreamEndWait);
  EXPECT_THAT(client_got(), ElementsAre(cancelled(kStream)));
}

TEST_F(BridgeStreamEndsTest, TheEndOfACancelledStreamIsNoAnswerToTheNextRequestWithItsId) {
  open_stream(kTools, kTools);
  client(cancelled(kStream));
  client(enveloped_call(kStream, "echo"));
  done();
  child(1, end_of(kStream, kStream));
  EXPECT_THAT(done(), IsEmpty());
  child(1, result(kStream, R"json({"resultType":"complete","content":[]})json"));
  EXPECT_THAT(client_got(),
              ElementsAre(result(kStream, R"json({"resultType":"complete","content":[]})json")));
}

TEST_F(BridgeStreamEndsTest, ARespawnedChildThatGrantsLessOfWhatElseWasAskedEndsTheStream) {
  respawn_grants_less_than(R"json({"toolsListChanged":true,"taskIds":["t"]})json");
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("notifications/cancelled")));
  answers_x(2);
}

TEST_F(BridgeStreamEndsTest, AStreamThatTheClientEndsWhileNoChildServesIsNotOpenedAgain) {
  open_stream(kTools, kTools);
  dies(1, 0);
  done();
  client(cancelled(kStream));
  EXPECT_THAT(done(), IsEmpty());
  server.tools = {tool("other")};
  respawn(2);
  const auto words = done();
  EXPECT_THAT(words, Not(Contains(HasSubstr("subscriptions/listen"))));
  EXPECT_THAT(words, Not(Contains(HasSubstr("client "))));
  answers_x(2);
}

TEST_F(BridgeStreamEndsTest, ItsEndNamesTheStreamAlsoIfTheChildForgotThat) {
  for (const std::string said : {"", R"json(,"_meta":null)json", R"json(,"_meta":{})json"}) {
    open_stream(kTools, kTools);
    child(1, result(kStream, R"json({"resultType":"complete")json" + said + "}"));
    time_passes(limits::kStreamEndWait);
    EXPECT_THAT(client_got(), ElementsAre(end_of(kStream, kStream)));
  }
}

TEST_F(BridgeStreamEndsTest, AStreamEndWithoutAResultTypeGetsOne) {
  open_stream(kTools, kTools);
  child(1, result(kStream, "{}"));
  time_passes(limits::kStreamEndWait);
  EXPECT_THAT(client_got(), ElementsAre(end_of(kStream, kStream)));
}

TEST_F(BridgeStreamEndsTest, ReplacesAnEndThatIsNotAnObject) {
  for (const std::string said : {"null", "[1]", "\"x\""}) {
    open_stream(kTools, kTools);
    child(1, result(kStream, said));
    time_passes(limits::kStreamEndWait);
    EXPECT_THAT(client_got(), ElementsAre(end_of(kStream, kStream)));
  }
}

TEST_F(BridgeStreamEndsTest, AStreamThatIsOpenWhenTheSessionEndsIsEnded) {
  open_stream(kTools, kTools);
  client_closes_input();
  dies(1, 0);
  EXPECT_THAT(client_got(), ElementsAre(own_end_of(kStream)));
}

TEST_F(BridgeStreamEndsTest, ASignalEndsAllThatAreOpen) {
  open_stream(kTools, kTools);
  client(listen("\"t\"", kTools));
  child(1, acknowledged("\"t\"", kTools));
  child(1, end_of(kStream, kStream));
  done();
  signal(143);
  dies(1, 143, "SIGTERM");
  EXPECT_THAT(client_got(), ElementsAre(own_end_of(kStream), own_end_of("\"t\"")));
}

TEST_F(BridgeStreamEndsTest, AStreamThatTheOldServerEndsAsItExitsGoesOnAtTheNewOne) {
  config.build_command = "make";
  serve_session();
  open_stream(kTools, kTools);
  ask_reload();
  dies(build(1), 0);
  child(1, end_of(kStream, kStream));
  // A process that the child has started holds its pipes for a moment.
  exits(1, 0);
  opens(2);
  child(2, acknowledged(kStream, kTools));
  closes_output(1);
  done();
  time_passes(seconds(5));
  EXPECT_THAT(client_got(), IsEmpty());
}

}  // namespace
}  // namespace sitter
