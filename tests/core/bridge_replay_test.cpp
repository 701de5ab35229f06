#include <algorithm>
#include <cstddef>

#include "core/child/call_replay.hpp"
#include "core/child/own_restart.hpp"
#include "core/client/client_requests.hpp"
#include "support/respawn_script.hpp"
#include "support/stateless_script.hpp"

namespace sitter {
namespace {

/// Calls of tools that the user has named with --replay-call.
class BridgeReplayTest : public RespawnTest {
 protected:
  BridgeReplayTest() { config.replayed_tools = {"connect", "open_project"}; }

  void call_works(int id, const std::string& tool, const std::string& arguments = "{}") {
    client(call(id, tool, arguments));
    child(last_gen_, result(id, text_result("done")));
    done();
  }
  /// A request starts the next child, and the child is opened. Returns what the child is asked
  /// then.
  std::vector<std::string> asked_of_next() {
    dies(last_gen_++, 3);
    client(call(100 + last_gen_, "echo"));
    done();
    child(last_gen_, result("#" + std::to_string(own_id_), server.opening()));
    return done();
  }
  /// The calls that the bridge itself has made at the child, with their params.
  static std::vector<std::string> calls_in(const std::vector<std::string>& orders) {
    std::vector<std::string> calls;
    for (const std::string& order : orders) {
      const std::size_t at = order.find("\"tools/call\",\"params\":");
      if (at != order.npos && order.find("\"id\":#") != order.npos) {
        calls.push_back(order.substr(at + 22));
      }
    }
    return calls;
  }
  /// The text of the first result after `asked_of_next`.
  std::string text_of_waiting_call() {
    opens(last_gen_);
    child(last_gen_, result(100 + last_gen_, text_result("a")));
    const auto lines = client_got();
    return lines.empty() ? "" : lines.back();
  }

  Generation last_gen_ = 1;
  int own_id_ = 2;
};

TEST_F(BridgeReplayTest, RepeatsTheLastSuccessfulCallFirst) {
  open_session();
  call_works(1, "connect", R"json({"host":"a"})json");
  call_works(2, "connect", R"json({"host":"b"})json");
  EXPECT_THAT(
      asked_of_next(),
      ElementsAre("child 2 " + initialized(),
                  "child 2 " + request("#3", "tools/call",
                                       R"json({"name":"connect","arguments":{"host":"b"}})json")));
  child(2, result("#3", text_result("connected")));
  EXPECT_THAT(done(), Contains("child 2 " + request("#4", "tools/list", "{}")));
  EXPECT_THAT(text_of_waiting_call(), AllOf(HasSubstr("spawn #2"), Not(HasSubstr("connect"))));
}

TEST_F(BridgeReplayTest, SeveralAreMadeOneAfterTheOtherInTheOrderOfTheOptions) {
  config.replayed_tools = {"connect", "open_project", "connect"};
  open_session();
  call_works(1, "open_project");
  call_works(2, "connect");
  EXPECT_THAT(calls_in(asked_of_next()), ElementsAre(HasSubstr("connect")));
  child(2, result("#3", text_result("connected")));
  EXPECT_THAT(calls_in(done()), ElementsAre(HasSubstr("open_project")));
  child(2, result("#4", text_result("opened")));
  EXPECT_THAT(calls_in(done()), IsEmpty());
  EXPECT_THAT(text_of_waiting_call(), HasSubstr("spawn #2"));
}

TEST_F(BridgeReplayTest, OnlyNamedCallsThatSucceededAreMadeAgain) {
  open_session();
  call_works(1, "echo");
  client(call(2, "connect"));
  child(1, result(2, R"json({"content":[],"isError":true})json"));
  client(call(3, "open_project"));
  child(1, error(3, -32602, "no"));
  EXPECT_THAT(calls_in(asked_of_next()), IsEmpty());
  EXPECT_THAT(text_of_waiting_call(), HasSubstr("spawn #2"));
}

TEST_F(BridgeReplayTest, AFailureIsToldInTheNotice) {
  open_session();
  call_works(1, "connect");
  call_works(2, "open_project");
  asked_of_next();
  child(2,
        result("#3",
               R"json({"content":[{"type":"text","text":"no such\nhost"}],"isError":true})json"));
  child(2, error("#4", -32602, "gone"));
  const std::string text = text_of_waiting_call();
  EXPECT_THAT(text, HasSubstr("(--replay-call) failed: connect: no such host"));
  EXPECT_THAT(text, HasSubstr("(--replay-call) failed: open_project: gone"));
  // The failures are told once, and the next child gets the calls again.
  client(call(5, "echo"));
  child(2, result(5, text_result("a")));
  EXPECT_THAT(answer().dump(), Not(HasSubstr("Called again")));
  own_id_ = 6;
  EXPECT_THAT(calls_in(asked_of_next()), SizeIs(1));
  EXPECT_THAT(text_of_waiting_call(), HasSubstr("spawn #3"));
}

TEST_F(BridgeReplayTest, AFailureIsForgottenIfTheNextServerMakesTheCallAgain) {
  open_session();
  call_works(1, "connect");
  asked_of_next();
  child(2, error("#3", -32602, "no such host"));
  done();
  dies(2, 1);
  last_gen_ = 3;
  done();
  client(call(103, "echo"));
  opens(3);
  done();
  child(3, result(103, text_result("a")));
  EXPECT_THAT(answer_text(), AllOf(HasSubstr("spawn #3"), Not(HasSubstr("no such host"))));
}

TEST_F(BridgeReplayTest, ACallThatIsNotAnsweredIsWaitedForTwentySeconds) {
  open_session();
  call_works(1, "connect");
  asked_of_next();
  time_passes(limits::kReplayWait - milliseconds(1));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(done(), Contains(HasSubstr("tools/list")));
  EXPECT_THAT(text_of_waiting_call(), HasSubstr("connect: not answered within 20s"));
}

TEST_F(BridgeReplayTest, ACallThatRestartsTheServerIsMadeALimitedNumberOfTimes) {
  open_session();
  call_works(1, "connect");
  const auto calls_after_a_restart = [&] {
    child(last_gen_++, "Restarting 'server.mjs'");
    time_passes(limits::kOwnRestartWait);
    opens(last_gen_);
    return calls_in(done()).size();
  };
  for (int i = 0; i < limits::kUnusedRestartsMax; ++i) EXPECT_EQ(calls_after_a_restart(), 1u) << i;
  EXPECT_EQ(calls_after_a_restart(), 0u);
  EXPECT_EQ(calls_after_a_restart(), 0u);
  client(call(2, "echo"));
  child(last_gen_, result(2, text_result("a")));
  const auto orders = done();
  EXPECT_THAT(calls_in(orders), ElementsAre(HasSubstr("connect")));
  EXPECT_THAT(orders, Contains(HasSubstr("connect: not called before this call, because the server "
                                         "has restarted itself 11 times in a row")));
  EXPECT_EQ(calls_after_a_restart(), 1u);
}

TEST_F(BridgeReplayTest, DoesNotRepeatACallThatCrashedTheServer) {
  open_session();
  call_works(1, "connect");
  asked_of_next();
  dies(2, 139, "SIGSEGV");
  EXPECT_THAT(done(), Contains(HasSubstr("crashed (SIGSEGV) after 0s, while connect was called "
                                         "again, which --replay-call asks for.")));
  last_gen_ = 3;
  own_id_ = 4;
  client(call(103, "echo"));
  done();
  child(3, result("#4", server.opening()));
  EXPECT_THAT(calls_in(done()), IsEmpty());
  EXPECT_THAT(text_of_waiting_call(),
              HasSubstr("connect: the server crashed (SIGSEGV) after 0s; it is not called again"));
}

TEST_F(BridgeReplayTest, AnErrorWithoutAWordIsAFailureToo) {
  open_session();
  call_works(1, "connect");
  asked_of_next();
  child(2, R"json({"jsonrpc":"2.0","id":#3,"error":{"code":-32000}})json");
  EXPECT_THAT(text_of_waiting_call(), HasSubstr("(--replay-call) failed: connect: it gave no"));
}

TEST_F(BridgeReplayTest, ReportsACallThatCrashedTheCandidateWithTheReload) {
  open_session();
  call_works(1, "connect");
  ask_reload();
  child(2, result("#2", server.opening()));
  dies(2, 139, "SIGSEGV");
  done();
  client(call(9, "echo"));
  child(1, result(9, text_result("a")));
  EXPECT_THAT(answer().dump(), AllOf(HasSubstr("serves on"), HasSubstr("connect: the server"),
                                     HasSubstr("not called again")));
}

TEST_F(BridgeReplayTest, RepeatsASubscriptionMadeMeanwhileAfterTheCalls) {
  server.capabilities = R"json({"tools":{},"resources":{"subscribe":true}})json";
  open_session();
  call_works(1, "connect");
  client(request(2, "resources/subscribe", R"json({"uri":"a:1"})json"));
  ask_reload();
  child(2, result("#3", server.opening()));
  done();
  child(1, result(2, "{}"));
  EXPECT_THAT(done(), Not(Contains(HasSubstr("child 2"))));
  child(2, result("#4", text_result("connected")));
  EXPECT_THAT(done(), Contains("child 2 " +
                               request("#5", "resources/subscribe", R"json({"uri":"a:1"})json")));
  opens(2);
}

TEST_F(BridgeReplayTest, DoesNotRepeatACallTooLargeToKeep) {
  open_session();
  const auto arguments = [](std::size_t size) { return "\"" + std::string(size - 2, 'x') + "\""; };
  call_works(1, "connect", arguments(limits::kReplayBytesMax));
  call_works(2, "open_project", arguments(limits::kReplayBytesMax + 1));
  EXPECT_THAT(calls_in(asked_of_next()), ElementsAre(HasSubstr("connect")));
  child(2, result("#3", text_result("connected")));
  EXPECT_THAT(calls_in(done()), IsEmpty());
  EXPECT_THAT(text_of_waiting_call(), HasSubstr("spawn #2"));
}

/// Calls that succeed at a server that is about to be replaced, or was replaced.
class LateReplayTest : public BridgeReplayTest {
 protected:
  static std::string connect(const Id& id, const std::string& host) {
    return call(id, "connect", "{\"host\":\"" + host + "\"}");
  }
  /// The child answers call `id` with a success.
  void succeeds(Generation gen, const Id& id) { child(gen, result(id, text_result("done"))); }
  /// Call 1 has connected to a. Call 2, which connects to b, is in flight when a reload comes.
  void reload_in_a_call() {
    open_session();
    client(connect(1, "a"));
    succeeds(1, 1);
    client(connect(2, "b"));
    ask_reload();
    child(2, result("#2", server.opening()));
    EXPECT_THAT(calls_in(done()), ElementsAre(HasSubstr("\"a\"")));
  }
  void swap() {
    reload_in_a_call();
    opens(2);
    EXPECT_THAT(calls_in(done()), IsEmpty());
  }
};

TEST_F(LateReplayTest, IsSentToTheNewServerBeforeItServes) {
  reload_in_a_call();
  succeeds(1, 2);
  EXPECT_THAT(calls_in(done()), IsEmpty()) << "one after the other";
  child(2, result("#3", text_result("connected")));
  EXPECT_THAT(done(), ElementsAre("child 2 " + connect("#4", "b")));
  child(2, result("#4", text_result("connected")));
  EXPECT_THAT(done(), Contains(HasSubstr("tools/list")));
  opens(2);
}

TEST_F(LateReplayTest, ReplacesACallThatWasNotRepeatedYet) {
  open_session();
  call_works(1, "connect");
  call_works(2, "open_project", R"json({"name":"x"})json");
  client(call(3, "open_project", R"json({"name":"y"})json"));
  ask_reload();
  child(2, result("#2", server.opening()));
  succeeds(1, 3);
  done();
  child(2, result("#3", text_result("connected")));
  EXPECT_THAT(calls_in(done()), ElementsAre(HasSubstr("\"y\"")));
  child(2, result("#4", text_result("opened")));
  EXPECT_THAT(calls_in(done()), IsEmpty());
  opens(2);
}

TEST_F(LateReplayTest, IsSentWhileTheListsAreFetched) {
  reload_in_a_call();
  child(2, result("#3", text_result("connected")));
  done();
  succeeds(1, 2);
  EXPECT_THAT(calls_in(done()), ElementsAre(HasSubstr("\"b\"")));
  opens(2);
}

TEST_F(LateReplayTest, IsSentAfterTheSwap) {
  swap();
  succeeds(1, 2);
  EXPECT_THAT(calls_in(done()), ElementsAre(HasSubstr("\"b\"")));
  opens(2);
  // Every later child gets this call.
  last_gen_ = 2;
  dies(last_gen_++, 3);
  client(call(103, "echo"));
  opens(3);
  EXPECT_THAT(calls_in(done()), ElementsAre(HasSubstr("\"b\"")));
  succeeds(3, 103);
}

TEST_F(LateReplayTest, IsSkippedAfterALaterSuccess) {
  swap();
  client(connect(3, "c"));
  succeeds(2, 3);
  done();
  succeeds(1, 2);
  EXPECT_THAT(calls_in(done()), IsEmpty());
  dies(2, 3);
  client(call(103, "echo"));
  opens(3);
  EXPECT_THAT(calls_in(done()), ElementsAre(HasSubstr("\"c\"")));
  succeeds(3, 103);
}

TEST_F(LateReplayTest, IsSentIfALaterCallFailed) {
  swap();
  client(connect(3, "c"));
  done();
  succeeds(1, 2);
  EXPECT_THAT(calls_in(done()), IsEmpty());
  child(2, error(3, -32602, "no"));
  EXPECT_THAT(calls_in(done()), ElementsAre(HasSubstr("\"b\"")));
  opens(2);
}

TEST_F(LateReplayTest, IsSentIfALaterCallFailedAndTheOldServerHasEnded) {
  swap();
  client(call(4, "echo"));
  succeeds(2, 4);
  client(connect(3, "c"));
  succeeds(1, 2);
  dies(1, 0);
  EXPECT_THAT(calls_in(done()), IsEmpty());
  child(2, result(3, R"json({"content":[],"isError":true})json"));
  EXPECT_THAT(calls_in(done()), ElementsAre(HasSubstr("\"b\"")));
  opens(2);
}

TEST_F(LateReplayTest, IsSkippedIfTheClientCalledTheToolMeanwhile) {
  open_session();
  call_works(1, "connect");
  call_works(2, "open_project");
  client(call(3, "open_project", R"json({"name":"x"})json"));
  client(connect(4, "b"));
  ask_reload();
  opens(2);
  done();
  succeeds(1, 3);
  succeeds(1, 4);
  EXPECT_THAT(calls_in(done()), ElementsAre(HasSubstr("open_project")));
  client(connect(5, "c"));
  opens(2);
  succeeds(2, 5);
  EXPECT_THAT(calls_in(done()), IsEmpty());
}

TEST_F(LateReplayTest, SeveralAreSentInTheOrderOfTheOption) {
  config.replayed_tools = {"connect", "open_project", "login"};
  open_session();
  client(connect(2, "b"));
  client(call(3, "login"));
  client(call(4, "open_project"));
  ask_reload();
  opens(2);
  done();
  for (const int id : {2, 3, 4}) succeeds(1, id);
  EXPECT_THAT(calls_in(done()), ElementsAre(HasSubstr("connect")));
  opens(2);
  EXPECT_THAT(calls_in(done()), ElementsAre(HasSubstr("open_project"), HasSubstr("login")));
}

TEST_F(LateReplayTest, IsBlamedForACrashWithoutClientRequests) {
  swap();
  succeeds(1, 2);
  done();
  dies(2, 3);
  client(call(103, "echo"));
  opens(3);
  EXPECT_THAT(calls_in(done()), IsEmpty());
  succeeds(3, 103);
}

TEST_F(LateReplayTest, IsNotBlamedForACrashDuringAClientCall) {
  swap();
  succeeds(1, 2);
  client(call(4, "die"));
  done();
  dies(2, 3);
  EXPECT_THAT(client_got(),
              ElementsAre(AllOf(HasSubstr("exit 3"), Not(HasSubstr("was called again")))));
  client(call(103, "echo"));
  opens(3);
  EXPECT_THAT(calls_in(done()), ElementsAre(HasSubstr("\"b\"")));
  succeeds(3, 103);
}

TEST_F(LateReplayTest, TellsOfItsFailureInTheNextResult) {
  swap();
  succeeds(1, 2);
  done();
  child(2, error("#5", -32602, "no such host"));
  opens(2);
  client(call(4, "echo"));
  succeeds(2, 4);
  EXPECT_THAT(answer().dump(), HasSubstr("(--replay-call) failed: connect: no such host"));
}

/// Sessions without an opening.
class StatelessReplayTest : public StatelessTest {};

TEST_F(StatelessReplayTest, IsTheFirstRequestAndItsTimeoutStartsAtTheFirstMessage) {
  config.replayed_tools = {"connect"};
  serve_session();
  client(enveloped_call(2, "connect"));
  child(1, result(2, complete_text("connected")));
  dies(1, 3);
  client(enveloped_call(3, "echo"));
  EXPECT_THAT(done(), AllOf(Contains(AllOf(HasSubstr("\"connect\""), HasSubstr("\"_meta\":{"))),
                            Not(Contains(HasSubstr("tools/list")))));
  time_passes(seconds(30));
  EXPECT_THAT(done(), IsEmpty());
  client(enveloped_call(4, "echo"));
  child_says(2, "compiling");
  EXPECT_THAT(done(), IsEmpty());
  opens(2);
  EXPECT_THAT(done(), Contains(HasSubstr("tools/list")));
  child(2, result(3, complete_text("a")));
  child(2, result(4, complete_text("a")));
}

class StreamsReplayTest : public StreamsTest {};

TEST_F(StreamsReplayTest, AStreamIsReopenedAfterTheCall) {
  config.replayed_tools = {"connect"};
  open_stream(kTools, kTools);
  client(enveloped_call(2, "connect"));
  child(1, result(2, complete_text("connected")));
  dies(1, 3);
  client(enveloped_call(3, "echo"));
  EXPECT_THAT(done(),
              AllOf(Contains(HasSubstr("\"connect\"")), Not(Contains(HasSubstr("listen")))));
  opens(2);
  EXPECT_THAT(done(), Contains(AllOf(HasSubstr("child 2"), HasSubstr("listen"))));
  child(2, result(3, complete_text("a")));
}

TEST_F(BridgeReplayTest, ALargeNamedCallDoesNotBlockOthers) {
  open_session();
  client(call(1, "connect", "{\"x\":\"" + std::string(limits::kInFlightBytesMax, 'x') + "\"}"));
  EXPECT_TRUE(bridge().reads_client());
  time_passes(seconds(2));
  done();
  client(call(2, "echo"));
  EXPECT_THAT(done(), ElementsAre("child 1 " + call(2, "echo")));
  child(1, result(2, text_result("a")));
  child(1, result(1, text_result("a")));
}

}  // namespace
}  // namespace sitter
