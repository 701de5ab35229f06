#include "core/child/own_restart.hpp"
#include "support/stateless_script.hpp"

namespace sitter {
namespace {

/// A server of 2026-07-28 is started anew behind the process of its child, and its watcher says so.
/// Such a server refuses nothing, because it needs no opening.
class BridgeStatelessRestartTest : public StreamsTest {
 protected:
  void restarts_itself(Generation gen) {
    child(gen, "Restarting 'server.mjs'");
    done();
    time_passes(limits::kOwnRestartWait);
  }
};

TEST_F(BridgeStatelessRestartTest, TheNewServerIsListedComparedAndTold) {
  serve_session();
  server.tools = {tool("added")};
  child(1, "Restarting 'server.mjs'");
  client(enveloped_call(2, "echo"));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(limits::kOwnRestartWait);
  EXPECT_THAT(done(), AllOf(Contains("renumber 2"), Contains(HasSubstr("tools/list"))));
  opens(2);
  EXPECT_THAT(done(), ElementsAre("child 2 " + enveloped_call(2, "echo")));
  child(2, result(2, complete_text("new")));
  EXPECT_THAT(answer_text_of_first(), AllOf(HasSubstr("previous: restarted itself"),
                                            HasSubstr("+1 added (added), -1 removed (echo)")));
}

TEST_F(BridgeStatelessRestartTest, WhatTheFormerServerHadIsAnswered) {
  serve_session();
  client(enveloped_call(2, "echo"));
  restarts_itself(1);
  EXPECT_THAT(client_got(),
              ElementsAre(AllOf(HasSubstr("\"id\":2"), HasSubstr("restarted itself"))));
  opens(2);
}

TEST_F(BridgeStatelessRestartTest, AStreamIsOpenedAgain) {
  open_stream(kTools, kTools);
  restarts_itself(1);
  EXPECT_THAT(done(), Contains("child 2 " + listen(kStream, kTools)));
  opens(2);
  child(2, acknowledged(kStream, kTools));
  EXPECT_THAT(client_got(), IsEmpty());
}

TEST_F(BridgeStatelessRestartTest, AProbeThatTheFormerServerHadIsAnswered) {
  client(enveloped(1, "server/discover"));
  restarts_itself(1);
  EXPECT_THAT(done(), ElementsAre("renumber 2",
                                  AllOf(HasSubstr("\"id\":1"), HasSubstr("restarted itself"))));
  client(enveloped(2, "server/discover"));
  EXPECT_THAT(done(), ElementsAre("child 2 " + enveloped(2, "server/discover")));
  child(2, result(2, discovered()));
}

TEST_F(BridgeStatelessRestartTest, AnOpeningAfterAProbeIsSentToTheNewServerToo) {
  client(enveloped(1, "server/discover"));
  child(1, error(1, -32601, "Method not found"));
  child(1, "Restarting 'server.mjs'");
  done();
  client(initialize(2));
  EXPECT_THAT(done(), ElementsAre("child 1 " + initialize(2)));
  time_passes(limits::kOwnRestartWait);
  EXPECT_THAT(done(), ElementsAre("renumber 2", "child 2 " + initialize(2)));
  child(2, result(2, server.opening()));
  EXPECT_THAT(client_got(), SizeIs(1));
}

TEST_F(BridgeStatelessRestartTest, ACallAfterAProbeWaitsForTheNewServer) {
  client(enveloped(1, "server/discover"));
  child(1, result(1, discovered()));
  child(1, "Restarting 'server.mjs'");
  done();
  client(enveloped_call(2, "echo"));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(limits::kOwnRestartWait);
  opens(2);
  EXPECT_THAT(done(), Contains("child 2 " + enveloped_call(2, "echo")));
  child(2, result(2, complete_text("new")));
}

TEST_F(BridgeStatelessRestartTest, AReloadForAClientThatHasOnlyProbedStartsNoSecondServer) {
  client(enveloped(1, "server/discover"));
  child(1, "Restarting 'server.mjs'");
  client(enveloped(2, "server/discover"));
  done();
  ask_reload();
  EXPECT_THAT(done(), IsEmpty());
  time_passes(limits::kOwnRestartWait);
  EXPECT_THAT(done(), AllOf(Contains("renumber 2"),
                            Contains("child 2 " + enveloped(2, "server/discover"))));
  child(2, result(2, discovered()));
}

TEST_F(BridgeStatelessRestartTest, ACallThatIsCancelledMeanwhileIsNotSent) {
  serve_session();
  child(1, "Restarting 'server.mjs'");
  client(enveloped_call(2, "echo"));
  client(cancelled(2));
  time_passes(limits::kOwnRestartWait);
  opens(2);
  EXPECT_THAT(done(), Not(Contains(HasSubstr("tools/call"))));
}

TEST_F(BridgeStatelessRestartTest, AnErrorOfAServerOfUnknownEraIsTheClientsIfItDiesMeanwhile) {
  client(enveloped_call(1, "echo"));
  const std::string refusal = error(1, -32602, "no");
  child(1, refusal);
  child(1, "Restarting 'server.mjs'");
  EXPECT_THAT(client_got(), IsEmpty());
  dies(1, 1);
  EXPECT_THAT(client_got(), ElementsAre(refusal));
}

TEST_F(BridgeStatelessRestartTest, AnErrorThatNamesAnOpeningIsTheClients) {
  serve_session();
  client(enveloped_call(2, "echo"));
  const std::string refusal = error(2, -32002, "Server not initialized");
  child(1, refusal);
  EXPECT_THAT(client_got(), ElementsAre(refusal));
}

}  // namespace
}  // namespace sitter
