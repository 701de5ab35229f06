#include "support/stateless_script.hpp"

namespace sitter {
namespace {

using ::testing::Each;

class BridgeStatelessTest : public StatelessTest {};

TEST_F(BridgeStatelessTest, AnyFirstRequestStartsTheChildAndReachesItAtOnce) {
  client(enveloped_call(1, "echo"));
  const auto words = done();
  ASSERT_GE(words.size(), 2u);
  EXPECT_EQ(words[0], "start 1");
  EXPECT_EQ(words[1], "child 1 " + enveloped_call(1, "echo"));
  opens(1);
  child(1, result(1, complete_text("a")));
  EXPECT_THAT(client_got(), ElementsAre(result(1, complete_text("a"))));
}

TEST_F(BridgeStatelessTest, RequestsOfOurOwnCarryTheLastEnvelope) {
  client(enveloped_call(1, "echo"));
  EXPECT_THAT(done(), Contains("child 1 " + request("#1", "tools/list", "{" + envelope() + "}")));
  opens(1);
  child(1, result(1, complete_text("a")));
  const std::string other =
      R"json("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)json"
      R"json("io.modelcontextprotocol/clientInfo":{"name":"b"}})json";
  client(request(2, "x", "{" + other + "}"));
  child(1, result(2, R"json({"resultType":"complete"})json"));
  dies(1, 0);
  client(enveloped_call(3, "echo"));
  // The bridge uses the client's last envelope, even if another request causes the respawn.
  EXPECT_THAT(done(), Contains("child 2 " + request("#4", "tools/list", "{" + envelope() + "}")));
  opens(2);
  child(2, result(3, complete_text("b")));
}

TEST_F(BridgeStatelessTest, NothingIsReplayedAtARespawnButTheListsAreTakenFirst) {
  serve_session();
  dies(1, 3);
  done();
  client(enveloped_call(2, "echo"));
  EXPECT_THAT(
      done(),
      ElementsAre("start 2", "child 2 " + request("#4", "tools/list", "{" + envelope() + "}"),
                  "child 2 " + request("#5", "prompts/list", "{" + envelope() + "}"),
                  "child 2 " + request("#6", "resources/list", "{" + envelope() + "}")));
  opens(2);
  EXPECT_THAT(done(), ElementsAre("child 2 " + enveloped_call(2, "echo")));
  child(2, result(2, complete_text("b")));
  EXPECT_THAT(answer()["result"]["content"][0]["text"],
              HasSubstr("server restarted (spawn #2, pid 1002"));
}

TEST_F(BridgeStatelessTest, TheEndOfARetiringServerThatNeverAnsweredFailsNoRequestOfTheNext) {
  client(enveloped_call(1, "slow"));
  ask_reload();
  opens(2);
  dies(2, 3);
  client(enveloped_call(2, "echo"));
  done();
  dies(1, 3);
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("\"id\":1,")));
  opens(3);
  EXPECT_THAT(done(), Contains("child 3 " + enveloped_call(2, "echo")));
  child(3, result(2, complete_text("b")));
}

TEST_F(BridgeStatelessTest, WithoutAStreamNobodyIsToldOfAChangedList) {
  serve_session();
  dies(1, 0);
  server.tools = {tool("other")};
  client(enveloped_call(2, "echo"));
  opens(2);
  child(2, result(2, complete_text("b")));
  const auto lines = client_got();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], HasSubstr("+1 added (other), -1 removed (echo)"));
}

TEST_F(BridgeStatelessTest, ResultsOfTheBridgeSayThatTheyAreCompleteAndNameTheirSender) {
  client(enveloped_call(1, "sitter_child_stderr"));
  EXPECT_THAT(client_got(), ElementsAre(result(1, own_text("(no child stderr in buffer)"))));
  client(enveloped_call(2, "echo"));
  opens(1);
  done();
  dies(1, 3);
  auto crash = answer();
  EXPECT_EQ(crash["result"]["resultType"], "complete");
  EXPECT_EQ(crash["result"]["isError"], true);
  EXPECT_EQ(crash["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "mcp-sitter");
}

TEST_F(BridgeStatelessTest, MarksListsOfTheBridgeAsNotCacheable) {
  plays.start = false;
  client(enveloped(1, "tools/list"));
  start_fails(1, "no such file");
  auto list = answer()["result"];
  EXPECT_EQ(list["resultType"], "complete");
  EXPECT_EQ(list["ttlMs"], 0);
  EXPECT_EQ(list["cacheScope"], "private");
  EXPECT_EQ(list["_meta"]["io.modelcontextprotocol/serverInfo"]["version"], "9.9.9");
  EXPECT_THAT(list["tools"], SizeIs(4));
}

TEST_F(BridgeStatelessTest, ListsOfTheChildMustNotBeKeptEither) {
  serve_session();
  for (const auto& [method, key] :
       {std::pair{"prompts/list", "prompts"}, std::pair{"resources/list", "resources"},
        std::pair{"resources/templates/list", "resourceTemplates"},
        std::pair{"resources/read", "contents"}}) {
    client(enveloped(2, method));
    child(1, result(2, R"json({"resultType":"complete","ttlMs": 60000 ,")json" + std::string(key) +
                           R"json(":[],"cacheScope":"public"})json"));
    EXPECT_THAT(
        client_got(),
        ElementsAre(result(2, R"json({"resultType":"complete","ttlMs": 0 ,")json" +
                                  std::string(key) + R"json(":[],"cacheScope":"public"})json")));
  }
}

TEST_F(BridgeStatelessTest, BuiltInToolsStandInTheFirstPage) {
  serve_session();
  client(enveloped(2, "tools/list"));
  child(1, result(2, server.page("tools", server.tools)));
  const auto list = answer()["result"];
  EXPECT_THAT(list["tools"], SizeIs(5));
  EXPECT_EQ(list["ttlMs"], 0);
}

TEST_F(BridgeStatelessTest, TheAnswerToDiscoverHasWhatTheBridgeAdds) {
  client(enveloped(1, "server/discover"));
  EXPECT_THAT(done(), ElementsAre("start 1", "child 1 " + enveloped(1, "server/discover")));
  child(1, result(1, discovered(R"json(,"instructions":"Hello.")json")));
  const auto found = answer()["result"];
  EXPECT_EQ(found["capabilities"]["tools"]["listChanged"], true);
  EXPECT_EQ(found["ttlMs"], 0);
  EXPECT_THAT(found["instructions"], AllOf(HasSubstr("Hello."), HasSubstr("sitter_kill")));
  EXPECT_EQ(found["supportedVersions"], nlohmann::json({"2026-07-28"}));
}

TEST_F(BridgeStatelessTest, ADiscoverAnswerWithoutVersionsPassesAsItIs) {
  client(enveloped(1, "server/discover"));
  child(1, result(1, R"json({"resultType":"complete","capabilities":{}})json"));
  EXPECT_THAT(client_got(),
              ElementsAre(result(1, R"json({"resultType":"complete","capabilities":{}})json")));
  EXPECT_THAT(logs(), Contains(HasSubstr("without supportedVersions")));
}

TEST_F(BridgeStatelessTest, DiscoverIsReadOnlyAndGoesToTheNextChildOnceTheEraIsKnown) {
  serve_session();
  client(enveloped(2, "server/discover"));
  dies(1, 3);
  opens(2);
  EXPECT_THAT(done(), Contains("child 2 " + enveloped(2, "server/discover")));
  child(2, result(2, discovered()));
  EXPECT_THAT(client_got(), SizeIs(1));
}

TEST_F(BridgeStatelessTest, AnUnknownVersionIsTheChildsToRefuse) {
  client(enveloped(1, "tools/list", "", "2099-01-01"));
  const std::string refusal = error(1, -32022, "Unsupported protocol version");
  child(1, refusal);
  EXPECT_THAT(client_got(), ElementsAre(refusal));
}

TEST_F(BridgeStatelessTest, ARequestWithoutAnEnvelopePassesOnceTheEraIsKnown) {
  serve_session();
  client(request(2, "tools/call"));
  EXPECT_THAT(done(), ElementsAre("child 1 " + request(2, "tools/call")));
  child(1, error(2, -32602, "no envelope"));
}

TEST_F(BridgeStatelessTest, AnAnswerToACancelledRequestIsNotPassedOn) {
  serve_session();
  client(enveloped_call(2, "echo"));
  client(cancelled(2));
  child(1, result(2, complete_text("b")));
  EXPECT_THAT(client_got(), IsEmpty());
}

TEST_F(BridgeStatelessTest, TheNoticeSaysHowLongTheStartTook) {
  serve_session();
  dies(1, 0);
  client(enveloped_call(2, "echo"));
  done();
  time_passes(milliseconds(1500));
  opens(2);
  child(2, result(2, complete_text("b")));
  EXPECT_THAT(answer_text_of_first(), HasSubstr("startup 1.5s"));
}

TEST_F(BridgeStatelessTest, NoProgressFollowsACancellation) {
  serve_session();
  client(request(
      2, "tools/call",
      R"json({"name":"slow","_meta":{"progressToken":2,)json" +
          envelope("2026-07-28").substr(std::string_view(R"json("_meta":{)json").size()) + "}"));
  done();
  child(1, progress(2, 10));
  client(cancelled(2));
  child(1, progress(2, 20));
  EXPECT_THAT(client_got(), ElementsAre(progress(2, 10)));
}

TEST_F(BridgeStatelessTest, AnIdMayComeAgainAfterACancellation) {
  serve_session();
  client(enveloped_call(2, "slow"));
  client(cancelled(2));
  client(enveloped_call(2, "echo"));
  done();
  child(1, result(2, complete_text("b")));
  EXPECT_THAT(client_got(), ElementsAre(result(2, complete_text("b"))));
}

TEST_F(BridgeStatelessTest, InputRequiredAndTaskResultsPassAndDoNotUseUpANotice) {
  serve_session();
  dies(1, 3);
  client(enveloped_call(2, "ask"));
  opens(2);
  done();
  const std::string asks =
      R"json({"resultType":"input_required","content":[],"inputRequests":{},"requestState":"s"})json";
  child(2, result(2, asks));
  EXPECT_THAT(client_got(), ElementsAre(result(2, asks)));
  client(enveloped_call(3, "task"));
  const std::string task = R"json({"resultType":"task","content":[],"task":{"taskId":"t"}})json";
  done();
  child(2, result(3, task));
  EXPECT_THAT(client_got(), ElementsAre(result(3, task)));
  client(enveloped_call(4, "echo"));
  done();
  child(2, result(4, complete_text("b")));
  EXPECT_THAT(answer()["result"]["content"][0]["text"], HasSubstr("crashed (exit 3)"));
}

TEST_F(BridgeStatelessTest, ARequestOfTheChildIsDropped) {
  serve_session();
  child(1, request(0, "roots/list"));
  EXPECT_THAT(done(), IsEmpty());
  EXPECT_THAT(logs(), Contains(HasSubstr("roots/list")));
}

TEST_F(BridgeStatelessTest, CursorsOfADeadChildAreStale) {
  serve_session();
  client(enveloped(2, "tools/list"));
  child(1, result(2, R"json({"resultType":"complete","tools":[],"nextCursor":"c"})json"));
  dies(1, 0);
  done();
  client(enveloped(3, "tools/list", R"json("cursor":"c")json"));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("-32602")));
}

TEST_F(BridgeStatelessTest, AChildThatDiesBeforeItAnswersAnythingIsAFailedStart) {
  for (int id = 1; id <= 3; ++id) {
    client(enveloped_call(id, "echo"));
    dies(static_cast<Generation>(id), 1);
    done();
  }
  client(enveloped_call(4, "echo"));
  EXPECT_THAT(done(), ElementsAre("check files", HasSubstr(R"json("isError":true)json")));
}

TEST_F(BridgeStatelessTest, TheFirstAnswerOfAReplacedServerDoesNotEndARowOfFailedStarts) {
  client(enveloped_call(1, "echo"));
  ask_reload();
  opens(2);
  dies(2, 1);
  plays.start = false;
  for (Generation gen = 3; gen <= 5; ++gen) {
    client(enveloped_call(gen, "echo"));
    start_fails(gen, "broken");
  }
  child(1, result(1, complete_text("a")));
  dies(1, 0);
  done();
  client(enveloped_call(10, "echo"));
  EXPECT_THAT(done(), ElementsAre("check files", HasSubstr("no new start was tried")));
}

TEST_F(BridgeStatelessTest, ACrashInTheFirstRequestIsToldAsACrash) {
  client(enveloped_call(1, "crash"));
  dies(1, 3);
  done();
  client(enveloped_call(2, "echo"));
  opens(2);
  done();
  child(2, result(2, complete_text("b")));
  EXPECT_THAT(answer_text_of_first(),
              AllOf(HasSubstr("previous: ⚠ crashed (exit 3)"), Not(HasSubstr("start failed"))));
}

TEST_F(BridgeStatelessTest, InitializeAfterStatelessRequestsIsTheChildsToRefuse) {
  serve_session();
  client(initialize("\"i\""));
  EXPECT_THAT(done(), ElementsAre("child 1 " + initialize("\"i\"")));
  const std::string refusal = error("\"i\"", -32022, "Unsupported protocol version");
  child(1, refusal);
  EXPECT_THAT(client_got(), ElementsAre(refusal));
}

TEST_F(BridgeStatelessTest, StatusShowsTheEra) {
  serve_session();
  client(enveloped_call(2, "sitter_status"));
  const auto status = nlohmann::json::parse(answer_text());
  EXPECT_EQ(status["protocolEra"], "modern");
  EXPECT_EQ(status["protocolVersion"], "2026-07-28");
}

TEST_F(BridgeStatelessTest, KillAnswersWhatIsInFlightAndTheNextRequestStartsAgain) {
  serve_session();
  client(enveloped_call(2, "echo"));
  client(enveloped_call(3, "sitter_kill"));
  dies(1, 0);
  const auto lines = client_got();
  EXPECT_THAT(lines, Each(HasSubstr(R"json("resultType":"complete")json")));
  EXPECT_THAT(lines, SizeIs(2));
  client(enveloped_call(4, "echo"));
  opens(2);
  child(2, result(4, complete_text("b")));
  EXPECT_THAT(answer()["result"]["content"][0]["text"], HasSubstr("killed by sitter_kill"));
}

TEST_F(BridgeStatelessTest, ADiscoveredValueCountsAsChangedOnlyIfTheNewValueIsKnown) {
  client(enveloped(1, "server/discover"));
  child(1, result(1, discovered(R"json(,"instructions":"Hello.","_meta":)json"
                                R"json({"io.modelcontextprotocol/serverInfo":)json"
                                R"json({"name":"a","version":"1"}})json")));
  client(enveloped_call(2, "echo"));
  opens(1);
  child(1, result(2, complete_text("a")));
  dies(1, 0);
  client(enveloped_call(3, "echo"));
  opens(2);
  done();
  child(2, result(3, complete_text("b")));
  const auto notice = answer_text_of_first();
  EXPECT_THAT(notice, Not(HasSubstr("capabilities")));
  EXPECT_THAT(notice, Not(HasSubstr("instructions")));
  EXPECT_THAT(notice, Not(HasSubstr("server:")));
}

TEST_F(BridgeStatelessTest, ARenamedServerIsToldWhereItsAnswersNameIt) {
  client(enveloped(1, "server/discover"));
  child(1, result(1, discovered(R"json(,"_meta":{"io.modelcontextprotocol/serverInfo":)json"
                                R"json({"name":"a","version":"1"}})json")));
  client(enveloped_call(2, "echo"));
  opens(1);
  child(1, result(2, complete_text("a")));
  dies(1, 0);
  done();
  client(enveloped_call(3, "echo"));
  child(2, result("#4",
                  R"json({"resultType":"complete","tools":[],"_meta":)json"
                  R"json({"io.modelcontextprotocol/serverInfo":{"name":"a","version":"2"}}})json"));
  opens(2);
  done();
  child(2, result(3, complete_text("b")));
  EXPECT_THAT(answer_text_of_first(), AllOf(HasSubstr("a 1 -> a 2"), HasSubstr("v2")));
}

TEST_F(BridgeStatelessTest, TheListsAreTakenOnceTheVersionIsKnown) {
  client(enveloped(1, "tools/list", "", "2099-01-01"));
  for (const Id& id : {Id(1), Id("#1"), Id("#2"), Id("#3")}) {
    child(1, error(id, -32022, "no such version"));
  }
  client(enveloped_call(2, "echo"));
  done();
  child(1, result(2, complete_text("a")));
  EXPECT_THAT(done(), Contains(AllOf(HasSubstr("child 1"), HasSubstr("tools/list"))));
  opens(1);
  dies(1, 0);
  server.tools.push_back(tool("more"));
  client(enveloped_call(3, "echo"));
  opens(2);
  child(2, result(3, complete_text("b")));
  EXPECT_THAT(answer_text(), HasSubstr("+1 added (more)"));
}

TEST_F(BridgeStatelessTest, ARefusedVersionDoesNotAffectTheNextRequest) {
  client(enveloped(1, "tools/call", R"json("name":"echo")json", "2099-01-01"));
  client(enveloped_call(2, "echo"));
  child(1, error(1, -32022, "no such version"));
  child(1, result(2, complete_text("a")));
  opens(1);
  done();
  client(enveloped_call(3, "sitter_status"));
  EXPECT_EQ(nlohmann::json::parse(answer_text())["protocolVersion"], "2026-07-28");
}

TEST_F(BridgeStatelessTest, AVersionThatIsNoStringIsTheChildsToRefuse) {
  for (const std::string version : {"7", "null", R"json({"a":1})json", "[1,2]"}) {
    const std::string line =
        request(1, "tools/list",
                R"json({"_meta":{"io.modelcontextprotocol/protocolVersion":)json" + version + "}}");
    client(line);
    EXPECT_THAT(done(), Contains("child 1 " + line));
    child(1, error(1, -32602, "no version"));
    EXPECT_THAT(client_got(), ElementsAre(error(1, -32602, "no version")));
  }
}

TEST_F(BridgeStatelessTest, AChildThatExitsOnDiscoverHasNoSuchMethod) {
  serve_session();
  client(enveloped(2, "server/discover"));
  dies(1, 1);
  opens(2);
  dies(2, 1);
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr(R"json("id":2,"error":{"code":-32601)json")));
}

TEST_F(BridgeStatelessTest, RequestsOfOurOwnAskForNoProgressAndNoLogMessages) {
  serve_session();
  client(request(2, "x",
                 R"json({"_meta":{"progressToken":"t",)json"
                 R"json("io.modelcontextprotocol/logLevel":"debug",)json" +
                     envelope().substr(envelope().find('{') + 1) + "}"));
  child(1, result(2, R"json({"resultType":"complete"})json"));
  dies(1, 0);
  done();
  client(enveloped_call(3, "echo"));
  EXPECT_THAT(done(), Contains("child 2 " + request("#4", "tools/list", "{" + envelope() + "}")));
  opens(2);
  child(2, result(3, complete_text("b")));
}

TEST_F(BridgeStatelessTest, ACancelledCallDoesNotUseUpANotice) {
  serve_session();
  dies(1, 0);
  client(enveloped_call(2, "echo"));
  opens(2);
  client(cancelled(2));
  child(2, result(2, complete_text("b")));
  client(enveloped_call(3, "echo"));
  done();
  child(2, result(3, complete_text("c")));
  EXPECT_THAT(answer_text(), HasSubstr("server restarted"));
}

TEST_F(BridgeStatelessTest, InputResponsesGoToTheCurrentChild) {
  serve_session();
  client(enveloped_call(2, "ask"));
  child(1, result(2, R"json({"resultType":"input_required","inputRequests":{},)json"
                     R"json("requestState":"s\u0031"})json"));
  dies(1, 0);
  done();
  const std::string again = enveloped(
      3, "tools/call",
      R"json("name":"ask","inputResponses":{"q":{"action":"accept"}},"requestState":"s\u0031")json");
  client(again);
  opens(2);
  EXPECT_THAT(done(), Contains("child 2 " + again));
  child(2, error(3, -32602, "requestState is not valid"));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("requestState is not valid")));
}

TEST_F(BridgeStatelessTest, RequestsAboutTasksReachTheNextChildAndAreNotSentTwice) {
  serve_session();
  dies(1, 0);
  Generation gen = 1;
  for (const std::string method : {"tasks/get", "tasks/update", "tasks/cancel"}) {
    const std::string line = enveloped(2, method, R"json("taskId":"t")json");
    client(line);
    opens(++gen);
    EXPECT_THAT(done(), Contains("child " + std::to_string(gen) + " " + line));
    child(gen, error(2, -32602, "unknown task"));
    EXPECT_THAT(client_got(), ElementsAre(HasSubstr("unknown task")));
    client(line);
    dies(gen, 3);
    EXPECT_THAT(client_got(), ElementsAre(HasSubstr("-32603")));
  }
}

TEST_F(BridgeStatelessTest, LogMessagesAndProgressPassByteForByte) {
  serve_session();
  client(enveloped_call(2, "work"));
  done();
  for (
      const std::string line :
      {R"json({"params":{"level":"info","data":{"x":1.0}},"method":"notifications/message","jsonrpc":"2.0"})json",
       R"json({"params":{"progress":0.10,"progressToken":"\u0074"},"method":"notifications/progress","jsonrpc":"2.0"})json"}) {
    child(1, line);
    EXPECT_THAT(client_got(), ElementsAre(line));
  }
  child(1, result(2, complete_text("b")));
}

TEST_F(BridgeStatelessTest, AnAnswerOfTheClientIsDropped) {
  serve_session();
  client(result(1, R"json({"roots":[]})json"));
  EXPECT_THAT(done(), IsEmpty());
}

}  // namespace
}  // namespace sitter
