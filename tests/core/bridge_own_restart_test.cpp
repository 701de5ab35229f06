#include "core/child/list_survey.hpp"
#include "core/child/own_restart.hpp"
#include "core/client/sent_lines.hpp"
#include "support/own_restart_script.hpp"

namespace sitter {
namespace {

using ::testing::StartsWith;

TEST_F(BridgeOwnRestartTest, ChecksARefusedCallWithToolsList) {
  open_used_session();
  client(call(2, "echo"));
  child(1, refused(2));
  EXPECT_THAT(done(), ElementsAre("child 1 " + call(2, "echo"),
                                  "child 1 " + request(kList, "tools/list", "{}")));
  child(1, refused(kList));
  EXPECT_THAT(done(), ElementsAre("renumber 2", HasSubstr("initialize")));
}

TEST_F(BridgeOwnRestartTest, OpensListsAndReportsTheNewServerAndSendsTheCallAgain) {
  open_used_session();
  server.tools = {tool("echo"), tool("added")};
  is_found();
  done();
  opens(2);
  const auto orders = done();
  EXPECT_THAT(orders, Contains("client " + notification("notifications/tools/list_changed")));
  EXPECT_THAT(orders, Contains("child 2 " + call(2, "echo")));
  EXPECT_THAT(orders, Not(Contains(StartsWith("start"))));
  client(request(3, "tools/list"));
  child(2, result(3, Server::list("tools", server.tools)));
  child(2, result(2, text_result("new")));
  time_passes(milliseconds(5));
  EXPECT_THAT(client_got(),
              Contains(AllOf(HasSubstr("server restarted (spawn #2, pid 1001, startup"),
                             HasSubstr("previous: restarted itself after"),
                             HasSubstr("tools: +1 added (added)"), HasSubstr("new"))));
}

TEST_F(BridgeOwnRestartTest, WhatTheClientHasSetUpIsSetUpAgain) {
  server.capabilities = R"json({"tools":{},"logging":{},"resources":{"subscribe":true}})json";
  open_used_session();
  const std::string level = request(5, "logging/setLevel", R"json({"level":"debug"})json");
  const std::string uri = request(6, "resources/subscribe", R"json({"uri":"a:b"})json");
  client(level);
  client(uri);
  child(1, result(5));
  child(1, result(6));
  client(call(2, "echo"));
  child(1, refused(2));
  child(1, refused("#3"));
  done();
  opens(2);
  EXPECT_THAT(done(), AllOf(Contains(AllOf(StartsWith("child 2"), HasSubstr("logging/setLevel"))),
                            Contains(AllOf(StartsWith("child 2"), HasSubstr("\"a:b\"")))));
  child(2, result(2, text_result("new")));
}

TEST_F(BridgeOwnRestartTest, RequestsWaitUntilTheServerIsKnownToBeOpen) {
  open_used_session();
  client(call(2, "echo"));
  child(1, refused(2));
  done();
  client(call(3, "echo"));
  EXPECT_THAT(done(), IsEmpty());
  child(1, refused(kList));
  done();
  client(call(4, "echo"));
  EXPECT_THAT(done(), IsEmpty());
  opens(2);
  EXPECT_THAT(done(),
              AllOf(Contains("child 2 " + call(2, "echo")), Contains("child 2 " + call(3, "echo")),
                    Contains("child 2 " + call(4, "echo"))));
  for (const int id : {2, 3, 4}) child(2, result(id, text_result("new")));
}

TEST_F(BridgeOwnRestartTest, BothOfTwoRefusedCallsAreSentInTheirOrder) {
  open_used_session();
  client(call(2, "echo"));
  client(call(3, "echo"));
  child(1, refused(2));
  child(1, refused(3));
  child(1, refused(kList));
  opens(2);
  const auto orders = done();
  const auto at = [&](int id) {
    return std::find(orders.begin(), orders.end(), "child 2 " + call(id, "echo"));
  };
  ASSERT_NE(at(2), orders.end());
  EXPECT_LT(at(2), at(3));
  EXPECT_NE(at(3), orders.end());
  child(2, result(2, text_result("new")));
  child(2, result(3, text_result("new")));
}

TEST_F(BridgeOwnRestartTest, ACallThatASecondServerRefusesIsAnsweredByTheBridge) {
  open_used_session();
  is_found();
  opens(2);
  EXPECT_THAT(done(), Contains("child 2 " + call(2, "echo")));
  child(2, refused(2));
  child(2, refused("#5"));
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("\"id\":2"), HasSubstr("had no effect"))));
  opens(3);
}

TEST_F(BridgeOwnRestartTest, ACallThatTheFormerServerHadIsLost) {
  open_used_session();
  client(call(2, "echo"));
  client(call(3, "echo"));
  refuses_everything(3);
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("\"id\":2"), HasSubstr("\"isError\":true"),
                                              HasSubstr("the server restarted itself after"),
                                              HasSubstr("may or may not have taken effect"))));
  opens(2);
  child(2, result(3, text_result("new")));
}

TEST_F(BridgeOwnRestartTest, AReadThatTheFormerServerHadIsSentOnceMore) {
  open_used_session();
  client(request(2, "prompts/list"));
  client(call(3, "echo"));
  refuses_everything(3);
  done();
  opens(2);
  EXPECT_THAT(done(), Contains("child 2 " + request(2, "prompts/list")));
  child(2, result(2, R"json({"prompts":[]})json"));
  child(2, result(3, text_result("new")));
}

TEST_F(BridgeOwnRestartTest, AnErrorOfAServerThatAnswersTheListIsPassedOn) {
  open_used_session();
  client(call(2, "echo"));
  child(1, refused(2, "The database is not initialized"));
  done();
  child(1, result(kList, Server::list("tools", server.tools)));
  EXPECT_THAT(done(), ElementsAre("client " + refused(2, "The database is not initialized")));
  client(call(3, "echo"));
  EXPECT_THAT(done(), ElementsAre("child 1 " + call(3, "echo")));
  child(1, result(3, text_result("old")));
}

TEST_F(BridgeOwnRestartTest, DoesNotSendACallAgainIfItsErrorDiffersFromTheRefusedList) {
  open_used_session();
  client(call(2, "echo"));
  child(1, refused(2, "The database is not initialized"));
  done();
  child(1, refused(kList));
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("The database is not initialized"),
                                              Not(HasSubstr("[mcp-sitter]")))));
  opens(2);
  EXPECT_THAT(done(), Not(Contains("child 2 " + call(2, "echo"))));
}

TEST_F(BridgeOwnRestartTest, AServerWithoutAnyListIsAskedForItsTools) {
  client(initialize(0));
  child(1, result(0, R"json({"protocolVersion":"2025-11-25","capabilities":{},)json"
                     R"json("serverInfo":{"name":"s","version":"1"}})json"));
  client(initialized());
  done();
  client(request(2, "vendor/do"));
  child(1, refused(2));
  EXPECT_THAT(done(), Contains(HasSubstr("tools/list")));
  child(1, refused("#1"));
  EXPECT_THAT(done(), Contains("renumber 2"));
  opens(2);
  EXPECT_THAT(done(), Contains("child 2 " + request(2, "vendor/do")));
  child(2, result(2));
  client(request(3, "vendor/do"));
  child(2, refused(3));
  child(2, error("#4", -32601, "Method not found"));
  EXPECT_THAT(client_got(), Contains(refused(3)));
}

TEST_F(BridgeOwnRestartTest, AServerThatDoesNotAnswerTheListGetsTheBenefitOfTheDoubt) {
  open_used_session();
  client(call(2, "echo"));
  child(1, refused(2));
  client(call(3, "echo"));
  done();
  time_passes(limits::kOwnRestartListWait);
  EXPECT_THAT(done(), ElementsAre(unclear(2), "child 1 " + call(3, "echo")));
  child(1, result(3, text_result("old")));
}

TEST_F(BridgeOwnRestartTest, AnErrorThatWasDoubtedWaitsForTheClientToListTheTools) {
  open_used_session();
  dies(1, 3);
  server.tools = {tool("echo"), tool("added")};
  client(call(2, "echo"));
  client(call(3, "echo"));
  opens(2);
  child(2, result(2, text_result("new")));
  done();
  const std::string failed = refused(3, "The database is not initialized");
  child(2, failed);
  EXPECT_THAT(done(), ElementsAre("child 2 " + request("#4", "tools/list", "{}")));
  child(2, result("#4", Server::list("tools", server.tools)));
  EXPECT_THAT(done(), IsEmpty());
  client(request(4, "tools/list"));
  child(2, result(4, Server::list("tools", server.tools)));
  time_passes(milliseconds(5));
  EXPECT_THAT(client_got(),
              ElementsAre(HasSubstr("added"),
                          AllOf(HasSubstr("new"), HasSubstr("server restarted")), failed));
}

TEST_F(BridgeOwnRestartTest, OtherErrorsPassAtOnce) {
  open_used_session();
  client(call(2, "gone"));
  done();
  child(1, error(2, -32602, "Unknown tool: gone"));
  EXPECT_THAT(done(), ElementsAre("client " + error(2, -32602, "Unknown tool: gone")));
}

TEST_F(BridgeOwnRestartTest, ALongErrorIsNoRefusal) {
  open_used_session();
  const auto padded = [](std::size_t size) {
    const std::string text = "not initialized";
    const std::size_t rest = std::string(R"json({"code":-32002,"message":""})json").size();
    return text + std::string(size - rest - text.size(), '.');
  };
  client(call(2, "echo"));
  child(1, refused(2, padded(limits::kRefusalBytesMax + 1)));
  EXPECT_THAT(client_got(), SizeIs(1));
  client(call(3, "echo"));
  child(1, refused(3, padded(limits::kRefusalBytesMax)));
  EXPECT_THAT(client_got(), IsEmpty());
  child(1, result(kList, Server::list("tools", server.tools)));
  EXPECT_THAT(client_got(), SizeIs(1));
}

TEST_F(BridgeOwnRestartTest, ARestartBeforeTheListsWereTakenIsFoundWithoutARequest) {
  client(initialize(0));
  child(1, result(0, server.opening()));
  client(initialized());
  done();
  child(1, refused("#1"));
  EXPECT_THAT(done(), ElementsAre("child 1 " + request("#2", "tools/list", "{}")));
  child(1, refused("#2"));
  EXPECT_THAT(done(), ElementsAre("renumber 2", HasSubstr("initialize")));
  opens(2);
  client(call(2, "echo"));
  child(2, result(2, text_result("new")));
  EXPECT_THAT(answer_text(), HasSubstr("previous: restarted itself"));
}

TEST_F(BridgeOwnRestartTest, ARequestBeforeTheListsWereTakenWaitsForTheNewServer) {
  client(initialize(0));
  child(1, result(0, server.opening()));
  client(initialized());
  client(request(2, "tools/list"));
  child(1, refused("#1"));
  child(1, refused(2));
  child(1, refused("#2"));
  EXPECT_THAT(client_got(), SizeIs(1));
  opens(2);
  EXPECT_THAT(done(), Contains("child 2 " + request(2, "tools/list")));
  child(2, result(2, Server::list("tools", server.tools)));
}

TEST_F(BridgeOwnRestartTest, AServerThatListsItsToolsWhenAskedAgainIsOpen) {
  client(initialize(0));
  child(1, result(0, server.opening()));
  client(initialized());
  child(1, refused("#1"));
  child(1, result("#2", Server::list("tools", server.tools)));
  done();
  client(call(2, "echo"));
  EXPECT_THAT(done(), ElementsAre("child 1 " + call(2, "echo")));
  child(1, result(2, text_result("open")));
}

TEST_F(BridgeOwnRestartTest, AnUnrelatedErrorOfAServerWithoutListsRaisesNoSuspicion) {
  client(initialize(0));
  child(1, result(0, server.opening()));
  client(initialized());
  done();
  child(1, error("#1", -32600, "tools/list is not supported"));
  EXPECT_THAT(done(), IsEmpty());
  client(call(2, "echo"));
  child(1, error(2, -32600, "wrong input"));
  EXPECT_THAT(client_got(), ElementsAre(error(2, -32600, "wrong input")));
}

TEST_F(BridgeOwnRestartTest, ASecondRestartDuringTheFirstIsFoundToo) {
  open_used_session();
  is_found();
  child(2, result("#3", server.opening()));
  child(2, refused("#4"));
  child(2, refused("#5"));
  EXPECT_THAT(done(), Contains("renumber 3"));
  opens(3);
  EXPECT_THAT(done(), Contains("child 3 " + call(2, "echo")));
  child(3, result(2, text_result("new")));
  EXPECT_THAT(answer_text(), HasSubstr("server restarted (spawn #3"));
}

TEST_F(BridgeOwnRestartTest, PassesRefusalsOnAfterTwoMoreOpenings) {
  static_assert(limits::kDoubtfulRestartsMax == 2);
  open_used_session();
  is_found();
  child(2, result("#3", server.opening()));
  child(2, refused("#4"));
  child(2, refused("#5"));
  child(3, result("#6", server.opening()));
  child(3, refused("#7"));
  child(3, refused("#8"));
  EXPECT_THAT(done(), Contains("renumber 4"));
  child(4, result("#9", server.opening()));
  child(4, refused("#10"));
  EXPECT_THAT(done(), Contains("child 4 " + call(2, "echo")));
  child(4, refused(2));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("Server not initialized")));
  client(call(3, "echo"));
  child(4, refused(3));
  EXPECT_THAT(client_got(), ElementsAre(refused(3)));
}

TEST_F(BridgeOwnRestartTest, ACallIsKeptUpToItsBound) {
  open_used_session();
  const auto long_call = [](int id, std::size_t size) {
    const std::size_t rest = call(id, "echo", R"json({"a":""})json").size();
    return call(id, "echo", R"json({"a":")json" + std::string(size - rest, 'x') + "\"}");
  };
  client(long_call(2, limits::kSentLineMax));
  client(long_call(3, limits::kSentLineMax + 1));
  child(1, refused(3));
  child(1, refused(2));
  child(1, refused(kList));
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("\"id\":3"), HasSubstr("restarted itself"),
                                              HasSubstr("had no effect"))));
  opens(2);
  EXPECT_THAT(done(), Contains("child 2 " + long_call(2, limits::kSentLineMax)));
  child(2, result(2, text_result("new")));
}

TEST_F(BridgeOwnRestartTest, OfManyCallsAtOnceOnlyTheFirstAreKept) {
  open_used_session();
  // Those that are answered make way.
  for (int id = 100; id < 110; ++id) {
    client(call(id, "echo"));
    child(1, result(id));
  }
  const int last = 2 + static_cast<int>(limits::kSentLinesMax);
  for (int id = 2; id <= last; ++id) client(call(id, "echo"));
  done();
  for (const int id : {last, last - 1, 2}) child(1, refused(id));
  child(1, refused(kList));
  const auto lost = client_got();
  EXPECT_THAT(lost, SizeIs(last - 3));
  EXPECT_THAT(lost, Contains(AllOf(HasSubstr("\"id\":" + std::to_string(last)),
                                   HasSubstr("had no effect"))));
  opens(2);
  EXPECT_THAT(done(), AllOf(Contains("child 2 " + call(2, "echo")),
                            Contains("child 2 " + call(last - 1, "echo")),
                            Not(Contains("child 2 " + call(last, "echo")))));
  child(2, result(2, text_result("new")));
  child(2, result(last - 1, text_result("new")));
}

TEST_F(BridgeOwnRestartTest, ACancelledCallIsNotSentOnceMore) {
  open_used_session();
  client(call(2, "echo"));
  child(1, refused(2));
  client(cancelled(2));
  child(1, refused(kList));
  done();
  opens(2);
  EXPECT_THAT(done(), Not(Contains("child 2 " + call(2, "echo"))));
}

TEST_F(BridgeOwnRestartTest, QuestionsOfTheFormerServerAreWithdrawn) {
  open_used_session();
  child(1, request(8, "roots/list"));
  done();
  is_found();
  EXPECT_THAT(client_got(), Contains(AllOf(HasSubstr("notifications/cancelled"),
                                           HasSubstr("the server that asked is gone"))));
  opens(2);
  child(2, result(2, text_result("new")));
}

TEST_F(BridgeOwnRestartTest, TheNewServerMustBeOpenInTime) {
  open_used_session();
  is_found();
  done();
  time_passes(config.startup_timeout);
  EXPECT_THAT(done(), Contains("close 2"));
  dies(2, 0);
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("had not answered its opening")));
}

TEST_F(BridgeOwnRestartTest, ExplainsARefusalThatComesDuringARebuild) {
  open_used_session();
  client(call(2, "echo"));
  client(call(3, "echo"));
  client(rebuild(9));
  dies(build(1), 0);
  done();
  child(1, refused(2));
  EXPECT_THAT(done(), ElementsAre(unclear(2)));
  child(1, error(3, -32600, "wrong input"));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("wrong input")));
  opens(2);
  dies(1, 0);
}

TEST_F(BridgeOwnRestartTest, AKillEndsTheSuspicion) {
  open_used_session();
  client(call(2, "echo"));
  child(1, refused(2));
  client(call(3, "sitter_kill"));
  EXPECT_THAT(client_got(), Contains(unclear(2)));
  dies(1, 0);
  EXPECT_THAT(client_got(), SizeIs(1));
}

TEST_F(BridgeOwnRestartTest, TheServerIsOpenedAgainWhileABuildRuns) {
  open_used_session();
  client(rebuild(3));
  is_found();
  opens(2);
  EXPECT_THAT(done(), Contains("child 2 " + call(2, "echo")));
  child(2, result(2, text_result("restarted")));
  dies(build(1), 0);
  opens(3);
  dies(2, 0);
}

TEST_F(BridgeOwnRestartTest, ACandidateServerEndsTheSuspicion) {
  open_used_session();
  client(rebuild(3));
  client(call(2, "echo"));
  child(1, refused(2));
  client(call(4, "echo"));
  dies(build(1), 0);
  EXPECT_THAT(done(), AllOf(Contains(unclear(2)), Contains("child 1 " + call(4, "echo"))));
  child(1, result(4, text_result("old")));
  opens(2);
  dies(1, 0);
}

TEST_F(BridgeOwnRestartTest, TheEndOfTheSessionEndsTheSuspicion) {
  open_used_session();
  client(call(2, "echo"));
  child(1, refused(2));
  client(call(3, "echo"));
  done();
  client_closes_input();
  EXPECT_THAT(done(), ElementsAre(unclear(2), "child 1 " + call(3, "echo")));
  child(1, refused(3));
  EXPECT_THAT(client_got(), ElementsAre(unclear(3)));
}

TEST_F(BridgeOwnRestartTest, ACrashDuringTheSuspicionAnswersTheCall) {
  open_used_session();
  client(call(2, "echo"));
  child(1, refused(2));
  done();
  dies(1, 1);
  EXPECT_THAT(client_got(), ElementsAre(unclear(2)));
}

TEST_F(BridgeOwnRestartTest, TheStatusShowsTheNewGeneration) {
  open_used_session();
  is_found();
  opens(2);
  child(2, result(2, text_result("new")));
  done();
  client(call(3, "sitter_status"));
  const auto status = nlohmann::json::parse(answer_text());
  EXPECT_EQ(status["spawnCount"], 2);
  EXPECT_EQ(status["childPid"], 1001);
  EXPECT_EQ(status["lastKillReason"], "restarted itself");
  EXPECT_FALSE(status.contains("lastFailure"));
}

}  // namespace
}  // namespace sitter
