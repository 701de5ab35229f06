#include "sitter/limits.hpp"
#include "support/stateless_script.hpp"

namespace sitter {
namespace {

/// A client of one era, and a server of the other.
class BridgeEraTest : public StatelessTest {};

// Servers that have never spoken the stateless revision.

TEST_F(BridgeEraTest, ARefusedCallSaysThatTheServerMustBeOpened) {
  server.is_stateless = false;
  client(enveloped_call(1, "echo"));
  child(1, error(1, -32600, "not initialized"));
  EXPECT_THAT(client_got(), IsEmpty());
  for (const char* id : {"#1", "#2", "#3"}) child(1, error(id, -32600, "not initialized"));
  EXPECT_THAT(done(),
              ElementsAre(AllOf(HasSubstr("child 1"), HasSubstr("\"initialize\""),
                                HasSubstr(R"json({"name":"mcp-sitter","version":"9.9.9"})json"))));
  opens(1);
  const auto words = done();
  EXPECT_THAT(words, Contains("close 1"));
  EXPECT_THAT(words, Contains(AllOf(HasSubstr("client"), HasSubstr("\"isError\":true"),
                                    HasSubstr("It refused this call, which had no effect"),
                                    HasSubstr("2025-11-25"), HasSubstr("reconnect"))));
  dies(1, 0);
}

TEST_F(BridgeEraTest, ARefusedRequestIsToldHowLongItsServerHasLived) {
  server.is_stateless = false;
  client(enveloped(1, "resources/read"));
  time_passes(seconds(3));
  for (const char* id : {"1", "#1", "#2", "#3"}) child(1, error(id, -32600, "not initialized"));
  opens(1);
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("\"lifetimeMs\":3000")));
  dies(1, 0);
}

TEST_F(BridgeEraTest, TheListsOfAServerThatMustBeOpenedAreTheBuiltInTools) {
  server.is_stateless = false;
  client(enveloped(1, "tools/list"));
  for (const char* id : {"1", "#1", "#2", "#3"}) child(1, error(id, -32002, "not initialized"));
  opens(1);
  EXPECT_THAT(client_got(), ElementsAre(AllOf(HasSubstr("sitter_status"),
                                              HasSubstr("\"resultType\":\"complete\""))));
  dies(1, 0);
}

TEST_F(BridgeEraTest, AnErrorOfAServerThatListsItsToolsIsItsAnswer) {
  client(enveloped_call(1, "missing"));
  child(1, error(1, -32602, "Unknown tool"));
  EXPECT_THAT(client_got(), IsEmpty());
  opens(1);
  EXPECT_THAT(client_got(), ElementsAre(error(1, -32602, "Unknown tool")));
  client(enveloped_call(2, "missing"));
  child(1, error(2, -32602, "Unknown tool"));
  EXPECT_THAT(client_got(), ElementsAre(error(2, -32602, "Unknown tool")));
}

TEST_F(BridgeEraTest, PassesAtOnceAnErrorThatDoesNotAskForAnOpening) {
  for (const int code : {-32601, -32603, -32020, -32021, -32022}) {
    client(enveloped_call(-code, "echo"));
    child(1, error(-code, code, "no"));
    EXPECT_THAT(client_got(), ElementsAre(error(-code, code, "no")));
  }
}

TEST_F(BridgeEraTest, AServerThatRefusesInitializeTooGivesItsErrors) {
  client(enveloped_call(1, "echo"));
  for (const char* id : {"1", "#1", "#2", "#3"}) child(1, error(id, -32602, "no database"));
  EXPECT_THAT(client_got(), IsEmpty());
  opens(1);
  EXPECT_THAT(client_got(), ElementsAre(error(1, -32602, "no database")));
}

TEST_F(BridgeEraTest, AmbiguousErrorsAreHeldForALimitedTime) {
  client(enveloped_call(1, "echo"));
  for (const char* id : {"1", "#1", "#2", "#3"}) child(1, error(id, -32600, "no"));
  done();
  time_passes(limits::kOtherListWait - milliseconds(1));
  EXPECT_THAT(client_got(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(client_got(), ElementsAre(error(1, -32600, "no")));
}

TEST_F(BridgeEraTest, AReplacementReleasesAmbiguousErrors) {
  client(enveloped_call(1, "echo"));
  client(enveloped_call(2, "echo"));
  for (const char* id : {"1", "#1", "#2", "#3"}) child(1, error(id, -32600, "no"));
  ask_reload();
  opens(2);
  done();
  time_passes(limits::kOtherListWait);
  // The next answer of the new server tells of the restart.
  EXPECT_THAT(client_got(), ElementsAre(error(1, -32600, "no")));
  child(1, result(2, complete_text("a")));
  dies(1, 0);
}

TEST_F(BridgeEraTest, AmbiguousErrorsOfAReplacedServerAreExplainedToo) {
  client(enveloped_call(1, "echo"));
  client(enveloped_call(2, "echo"));
  for (const char* id : {"1", "#1", "#2", "#3"}) child(1, error(id, -32600, "no"));
  ask_reload();
  opens(2);
  done();
  server.is_stateless = false;
  opens(1);
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("It refused this call, which had no effect")));
  child(1, error(2, -32600, "no"));
  dies(1, 0);
}

TEST_F(BridgeEraTest, AmbiguousErrorsOutliveTheServer) {
  client(enveloped_call(1, "echo"));
  child(1, error(1, -32600, "no"));
  done();
  dies(1, 1);
  EXPECT_THAT(client_got(), ElementsAre(error(1, -32600, "no")));
}

TEST_F(BridgeEraTest, ACancellationDropsAnAmbiguousError) {
  client(enveloped_call(1, "missing"));
  child(1, error(1, -32602, "Unknown tool"));
  client(cancelled(1));
  opens(1);
  EXPECT_THAT(client_got(), IsEmpty());
}

TEST_F(BridgeEraTest, AResultForAnotherRequestReleasesAnAmbiguousError) {
  client(enveloped_call(1, "missing"));
  client(enveloped_call(2, "echo"));
  child(1, error(1, -32602, "Unknown tool"));
  EXPECT_THAT(client_got(), IsEmpty());
  child(1, result(2, complete_text("a")));
  EXPECT_THAT(client_got(),
              ElementsAre(result(2, complete_text("a")), error(1, -32602, "Unknown tool")));
}

TEST_F(BridgeEraTest, AServerThatHasAnsweredDiscoverIsNotDoubted) {
  client(enveloped(1, "server/discover"));
  child(1, result(1, discovered()));
  client(enveloped_call(2, "echo"));
  client_got();
  child(1, error(2, -32602, "Unknown tool"));
  EXPECT_THAT(client_got(), ElementsAre(error(2, -32602, "Unknown tool")));
  for (const char* id : {"#1", "#2", "#3"}) child(1, error(id, -32602, "no database"));
  EXPECT_THAT(done(), IsEmpty());
}

// Servers that are of another era after a rebuild.

TEST_F(BridgeEraTest, AServerThatNowNeedsAnOpeningIsRecognised) {
  serve_session();
  dies(1, 0);
  server.is_stateless = false;
  client(enveloped_call(2, "echo"));
  opens(2);
  EXPECT_THAT(done(), Contains(AllOf(HasSubstr("child 2"), HasSubstr("\"initialize\""))));
  dies(2, 0);
  EXPECT_THAT(answer_text(), AllOf(HasSubstr("2025-11-25"), HasSubstr("reconnect"),
                                   HasSubstr("was not delivered")));
}

TEST_F(BridgeEraTest, AChildThatNowSpeaksOnlyTheStatelessRevisionIsRecognised) {
  server.is_stateless = false;
  open_session();
  dies(1, 0);
  done();
  server.is_stateless = true;
  client(call(1, "echo"));
  client(request(2, "vendor/x"));
  opens(2);
  dies(2, 0);
  const auto got = client_got();
  ASSERT_THAT(got, SizeIs(2));
  EXPECT_THAT(got[0], AllOf(HasSubstr(R"json("isError":true)json"), HasSubstr("2026-07-28"),
                            HasSubstr("reconnect"), HasSubstr("not delivered")));
  EXPECT_THAT(got[1], AllOf(HasSubstr("-32603"), HasSubstr("2026-07-28")));
  client(call(3, "sitter_status"));
  EXPECT_THAT(answer_text(), HasSubstr("2026-07-28"));
}

TEST_F(BridgeEraTest, AServerThatRefusesListsWithoutAnOpeningIsRecognised) {
  serve_session();
  dies(1, 0);
  client(enveloped_call(2, "echo"));
  child(2, error("#4", -32600, "not initialized"));
  child(2, error("#5", -32600, "not initialized"));
  child(2, error("#6", -32600, "not initialized"));
  server.is_stateless = false;
  opens(2);
  dies(2, 0);
  EXPECT_THAT(answer_text(), HasSubstr("reconnect"));
}

TEST_F(BridgeEraTest, ReportsTheOtherEraForAServerThatExitsUnopened) {
  serve_session();
  dies(1, 0);
  client(enveloped_call(2, "echo"));
  dies(2, 1);
  EXPECT_THAT(answer_text(),
              AllOf(HasSubstr("(exit 1)"), HasSubstr("not delivered"), HasSubstr("reconnect")));
}

TEST_F(BridgeEraTest, ReportsTheOtherEraForASilentUnopenedServer) {
  serve_session();
  dies(1, 0);
  client(enveloped_call(2, "echo"));
  done();
  time_passes(config.startup_timeout - milliseconds(1));
  EXPECT_THAT(done(), Not(Contains("close 2")));
  time_passes(milliseconds(1));
  EXPECT_THAT(done(), Contains("close 2"));
  dies(2, 0);
  EXPECT_THAT(answer_text(), AllOf(HasSubstr("said nothing"), HasSubstr("50s"),
                                   HasSubstr("--startup-timeout"), HasSubstr("reconnect")));
  client(enveloped_call(3, "echo"));
  EXPECT_THAT(done(), Contains("start 3"));
}

TEST_F(BridgeEraTest, RequestsToASilentServerCountAsNotDelivered) {
  serve_session();
  dies(1, 0);
  client(enveloped(2, "resources/read", R"json("uri":"a:b")json"));
  client(enveloped(3, "tools/list"));
  time_passes(config.startup_timeout);
  done();
  dies(2, 0);
  const auto words = done();
  EXPECT_THAT(words, Not(Contains("start 3")));
  EXPECT_THAT(words, Contains(AllOf(HasSubstr("said nothing"), HasSubstr("was not delivered"))));
  EXPECT_THAT(words, Contains(AllOf(HasSubstr(R"json("id":3,"result")json"), HasSubstr("echo"))));
}

TEST_F(BridgeEraTest, AReadThatKilledTheFirstServerIsReportedAsDelivered) {
  client(enveloped(1, "resources/read", R"json("uri":"a:b")json"));
  done();
  dies(1, 1);
  EXPECT_THAT(done(), Contains(AllOf(HasSubstr("may or may not have taken effect"),
                                     HasSubstr(R"json("delivered":true)json"))));
}

TEST_F(BridgeEraTest, AnOpeningThatARespawnedServerRefusesLeavesTheClientItsEra) {
  serve_session();
  dies(1, 0);
  client(enveloped_call(2, "echo"));
  client(initialize(7));
  opens(2);
  EXPECT_THAT(client_got(), Contains(HasSubstr(R"json("id":7,"error")json")));
  child(2, result(2, complete_text("b")));
  dies(2, 0);
  client(enveloped_call(3, "echo"));
  opens(3);
  EXPECT_THAT(done(), AllOf(Not(Contains(HasSubstr("initialize"))),
                            Contains("child 3 " + enveloped_call(3, "echo"))));
  child(3, result(3, complete_text("c")));
}

TEST_F(BridgeEraTest, ANoticeOmitsChangesOfUnknownValues) {
  client(enveloped("\"p\"", "server/discover"));
  child(1, result("\"p\"", discovered()));
  serve_session();
  dies(1, 0);
  client(enveloped_call(2, "echo"));
  client(initialize(7));
  time_passes(config.startup_timeout);
  dies(2, 0);
  client(initialized());
  server.is_stateless = false;
  client(call(8, "echo"));
  opens(3);
  done();
  child(3, result(8, text_result("x")));
  EXPECT_THAT(answer_text(), AllOf(HasSubstr("restarted"), Not(HasSubstr("protocol version: ")),
                                   Not(HasSubstr("server: "))));
}

TEST_F(BridgeEraTest, OneMessageShowsThatAServerIsNotSilent) {
  serve_session();
  dies(1, 0);
  client(enveloped_call(2, "echo"));
  done();
  child(2, notification("notifications/message", R"json({"level":"info","data":"loading"})json"));
  time_passes(std::chrono::hours(10));
  EXPECT_THAT(done(), Not(Contains("close 2")));
}

TEST_F(BridgeEraTest, TheFirstServerMayBeSilentDuringItsFirstCall) {
  client(enveloped_call(1, "echo"));
  time_passes(std::chrono::hours(10));
  EXPECT_THAT(done(), Not(Contains("close 1")));
}

TEST_F(BridgeEraTest, WithoutAStartupTimeoutASilentServerIsLeftAlone) {
  config.startup_timeout = {};
  serve_session();
  dies(1, 0);
  client(enveloped_call(2, "echo"));
  time_passes(std::chrono::hours(10));
  EXPECT_THAT(done(), Not(Contains("close 2")));
}

TEST_F(BridgeEraTest, ACrashDuringACallDoesNotSuggestTheOtherEra) {
  serve_session();
  client(enveloped_call(2, "echo"));
  dies(1, 1);
  EXPECT_THAT(answer_text(), AllOf(HasSubstr("(exit 1)"), Not(HasSubstr("reconnect"))));
}

TEST_F(BridgeEraTest, AServerOfTheSameEraWhoseListsFailServes) {
  serve_session();
  dies(1, 0);
  client(enveloped_call(2, "echo"));
  child(2, error("#4", -32603, "no database"));
  child(2, error("#5", -32601, "unknown"));
  child(2, error("#6", -32601, "unknown"));
  opens(2);
  EXPECT_THAT(done(), Contains("child 2 " + enveloped_call(2, "echo")));
  child(2, result(2, complete_text("b")));
  EXPECT_THAT(answer_text(), HasSubstr("not compared"));
}

TEST_F(BridgeEraTest, AServerThatIsSlowToListIsNotAskedToOpen) {
  // A server of both eras would keep to the era that it was asked for last.
  serve_session();
  dies(1, 0);
  client(enveloped_call(2, "echo"));
  done();
  child(2, notification("notifications/message", R"json({"level":"info","data":"up"})json"));
  done();
  time_passes(limits::kToolsListWait);
  EXPECT_THAT(done(), ElementsAre("child 2 " + enveloped_call(2, "echo")));
  child(2, result(2, complete_text("b")));
  EXPECT_THAT(answer_text(), HasSubstr("not compared"));
}

TEST_F(BridgeEraTest, AServerThatIsSlowToStartIsComparedAsAnyOther) {
  serve_session();
  dies(1, 0);
  server.tools.push_back(tool("fresh"));
  client(enveloped_call(2, "echo"));
  time_passes(seconds(20));
  opens(2);
  child(2, result(2, complete_text("b")));
  EXPECT_THAT(answer_text(), AllOf(HasSubstr("+1 added (fresh)"), HasSubstr("startup 20s"),
                                   Not(HasSubstr("not compared"))));
}

TEST_F(BridgeEraTest, TheFirstServerMayBeSlowToStartToo) {
  client(enveloped_call(1, "echo"));
  time_passes(seconds(3));
  opens(1);
  child(1, result(1, complete_text("a")));
  EXPECT_THAT(logs(), Not(Contains(HasSubstr("did not list its tools"))));
  dies(1, 0);
  server.tools.push_back(tool("fresh"));
  client(enveloped_call(2, "echo"));
  opens(2);
  done();
  child(2, result(2, complete_text("b")));
  EXPECT_THAT(answer_text(), HasSubstr("+1 added (fresh)"));
}

TEST_F(BridgeEraTest, TheListTimeoutOfTheFirstServerStartsAtItsFirstMessage) {
  client(enveloped_call(1, "echo"));
  time_passes(seconds(3));
  child(1, result(1, complete_text("a")));
  time_passes(limits::kToolsListWait - milliseconds(1));
  EXPECT_THAT(logs(), Not(Contains(HasSubstr("did not list its tools"))));
  time_passes(milliseconds(1));
  EXPECT_THAT(logs(), Contains(HasSubstr("did not list its tools")));
}

/// Errors that a server of either era may give.
class BridgeVagueEraTest : public BridgeEraTest, public ::testing::WithParamInterface<int> {};

INSTANTIATE_TEST_SUITE_P(All, BridgeVagueEraTest, ::testing::Values(-32601, -32603));

TEST_P(BridgeVagueEraTest, AServerThatRefusesAllListsAlikeIsAskedForItsEra) {
  serve_session();
  dies(1, 0);
  client(enveloped_call(2, "echo"));
  for (const std::string id : {"#4", "#5", "#6"}) {
    child(2, error(id, GetParam(), "not initialized"));
  }
  EXPECT_THAT(done(), Contains(HasSubstr(R"json("method":"initialize")json")));
  child(2, result("#7", Server().opening()));
  dies(2, 0);
  EXPECT_THAT(answer_text(), AllOf(HasSubstr("opens with initialize"), HasSubstr("reconnect")));
}

TEST_F(BridgeEraTest, AServerThatRefusesTheVersionIsOfThisEra) {
  serve_session();
  dies(1, 0);
  const std::string call = enveloped(2, "tools/call", R"json("name":"echo")json", "2099-01-01");
  client(call);
  for (const char* const id : {"#4", "#5", "#6"}) child(2, error(id, -32022, "no such version"));
  EXPECT_THAT(done(), Contains("child 2 " + call));
  child(2, error(2, -32022, "no such version"));
  EXPECT_THAT(client_got(), ElementsAre(error(2, -32022, "no such version")));
}

TEST_F(BridgeEraTest, ARefusedInitializeOfANewChildLeavesTheClientItsEra) {
  serve_session();
  dies(1, 0);
  done();
  client(initialize("\"i\""));
  client(enveloped_call(2, "echo"));
  opens(2);
  EXPECT_THAT(client_got(), ElementsAre(error("\"i\"", -32022, "Unsupported protocol version")));
  opens(2);
  child(2, result(2, complete_text("b")));
  EXPECT_THAT(answer_text(), HasSubstr("server restarted"));
  client(enveloped_call(3, "sitter_status"));
  EXPECT_EQ(nlohmann::json::parse(answer_text())["protocolEra"], "modern");
}

}  // namespace
}  // namespace sitter
