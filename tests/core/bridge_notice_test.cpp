#include "support/bridge_script.hpp"

namespace sitter {
namespace {

using ::testing::StartsWith;

constexpr char kNotice[] =
    "[mcp-sitter] server restarted (spawn #2, pid 1002, startup 0s). binary v1.0.0. ";

class BridgeNoticeTest : public BridgeTest {
 protected:
  /// Opens a session whose child has died. Its successor has a call with the id 1.
  void respawn_with_call(const std::string& line = call(1, "echo")) {
    open_session();
    dies(1, 0);
    client(line);
    opens(2);
    done();
  }
  /// Child 3 starts for a call, whose result tells of the kill and not of the crash before it.
  void expect_kill_in_next_notice() {
    client_got();
    client(call(3, "echo"));
    opens(3);
    child(3, result(3, text_result("a")));
    EXPECT_THAT(answer().dump(), AllOf(HasSubstr("previous: killed by sitter_kill after"),
                                       Not(HasSubstr("crashed"))));
  }
  static std::string block(const std::string& text) {
    return R"json({"type":"text","text":)json" + nlohmann::json(text).dump() + "}";
  }
};

TEST_F(BridgeNoticeTest, TheFirstResultAfterARespawnCarriesTheNoticeAtItsHead) {
  respawn_with_call();
  child(
      2,
      R"json({"jsonrpc":"2.0","id":1,"result":{ "content" : [ {"type":"text","text":"x"} ], "n":1.0}})json");
  EXPECT_THAT(done(),
              ElementsAre(R"json(client {"jsonrpc":"2.0","id":1,"result":{ "content" : [)json" +
                          block(std::string(kNotice) + "previous: exit 0 after 0s.") +
                          R"json(, {"type":"text","text":"x"} ], "n":1.0}})json"));
}

TEST_F(BridgeNoticeTest, OnlyTheFirstResultHasTheNotice) {
  respawn_with_call();
  child(2, result(1, text_result("x")));
  done();
  client(call(2, "echo"));
  done();
  child(2, result(2, text_result("y")));
  EXPECT_THAT(done(), ElementsAre("client " + result(2, text_result("y"))));
}

TEST_F(BridgeNoticeTest, AnEmptyContentGetsTheNotice) {
  respawn_with_call();
  child(2, result(1, R"json({"content":[]})json"));
  EXPECT_THAT(done(), ElementsAre("client " + result(1, R"json({"content":[)json" +
                                                            block(std::string(kNotice) +
                                                                  "previous: exit 0 after 0s.") +
                                                            "]}")));
}

TEST_F(BridgeNoticeTest, AnErrorResultOfTheChildGetsTheNotice) {
  respawn_with_call();
  child(2, result(1, R"json({"content":[],"isError":true})json"));
  EXPECT_THAT(answer_text(), StartsWith(kNotice));
}

TEST_F(BridgeNoticeTest, TheFirstChildCausesNoNotice) {
  open_session();
  client(call(1, "echo"));
  done();
  child(1, result(1, text_result("x")));
  EXPECT_THAT(done(), ElementsAre("client " + result(1, text_result("x"))));
}

TEST_F(BridgeNoticeTest, AnErrorGetsTheNoticeBehindItsMessage) {
  respawn_with_call();
  child(
      2,
      R"json({"jsonrpc":"2.0","id":1,"error":{ "message" : "Unknown tool: \u00fc" , "code":-32602.0}})json");
  EXPECT_THAT(
      done(),
      ElementsAre(
          R"json(client {"jsonrpc":"2.0","id":1,"error":{ "message" : "Unknown tool: \u00fc\n\n)json" +
          std::string(kNotice) + R"json(previous: exit 0 after 0s." , "code":-32602.0}})json"));
  client(call(2, "echo"));
  done();
  child(2, result(2, text_result("x")));
  EXPECT_THAT(done(), ElementsAre("client " + result(2, text_result("x"))));
}

TEST_F(BridgeNoticeTest, AnErrorWithoutAMessageGetsNoNotice) {
  respawn_with_call();
  int id = 1;
  for (const std::string json : {R"json({"code":1})json", R"json({"code":1,"message":null})json",
                                 R"json({"code":1,"message":["x"]})json"}) {
    const std::string line = R"json({"jsonrpc":"2.0","id":)json" + std::to_string(id) +
                             R"json(,"error":)json" + json + "}";
    child(2, line);
    EXPECT_THAT(done(), ElementsAre("client " + line));
    client(call(++id, "echo"));
    done();
  }
  child(2, error(id, -32602, "Unknown tool"));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("server restarted")));
}

TEST_F(BridgeNoticeTest, AResultThatIsNotPlainGetsNoNotice) {
  respawn_with_call();
  int id = 1;
  for (const std::string json :
       {R"json({"content":[],"resultType":"input_required"})json",
        R"json({"content":[],"task":{"taskId":"1"}})json", R"json({"task":{"taskId":"1"}})json",
        R"json({"content":"text"})json", "{}", "null", "[]", "7"}) {
    child(2, result(id, json));
    EXPECT_THAT(done(), ElementsAre("client " + result(id, json)));
    client(call(++id, "echo"));
    done();
  }
  child(2, result(id, R"json({"content":[],"resultType":"complete"})json"));
  EXPECT_THAT(answer_text(), StartsWith(kNotice));
}

TEST_F(BridgeNoticeTest, ACallThatAskedForATaskGetsNoNotice) {
  respawn_with_call(request(1, "tools/call", R"json({"name":"echo","task":{}})json"));
  child(2, result(1, R"json({"content":[]})json"));
  EXPECT_THAT(done(), ElementsAre("client " + result(1, R"json({"content":[]})json")));
}

TEST_F(BridgeNoticeTest, OtherMethodsGetNoNotice) {
  respawn_with_call(request(1, "resources/read", R"json({"uri":"a:b"})json"));
  child(2, result(1, R"json({"content":[]})json"));
  EXPECT_THAT(done(), ElementsAre("client " + result(1, R"json({"content":[]})json")));
}

TEST_F(BridgeNoticeTest, ABuiltInToolGetsNoNotice) {
  respawn_with_call();
  client(call(2, "sitter_child_stderr"));
  EXPECT_EQ(answer_text(), "(no child stderr in buffer)");
  child(2, result(1, text_result("x")));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("server restarted")));
}

TEST_F(BridgeNoticeTest, ACancelledCallGetsNoNotice) {
  respawn_with_call();
  client(cancelled(1));
  done();
  child(2, result(1, text_result("x")));
  EXPECT_THAT(done(), ElementsAre("client " + result(1, text_result("x"))));
}

TEST_F(BridgeNoticeTest, TheCrashReportOfTheBridgeGetsNoNotice) {
  respawn_with_call();
  dies(2, 3);
  EXPECT_THAT(answer_text(), Not(HasSubstr("server restarted")));
  client(call(2, "echo"));
  opens(3);
  child(3, result(2, text_result("x")));
  EXPECT_THAT(client_got(),
              ElementsAre(AllOf(HasSubstr("spawn #3"), HasSubstr("previous: ⚠ crashed (exit 3)"),
                                HasSubstr("2 restarts since the last notice"))));
}

TEST_F(BridgeNoticeTest,
       BesideStructuredContentTheNoticeComesLastAndIsRepeatedInTheNextPlainResult) {
  const std::string structured =
      R"json({"content":[{"type":"text","text":"{}"}],"structuredContent":{}})json";
  respawn_with_call();
  child(2, result(1, structured));
  const auto first = answer()["result"]["content"];
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[0]["text"], "{}");
  EXPECT_THAT(first[1]["text"].get<std::string>(), StartsWith(kNotice));
  client(call(2, "echo"));
  done();
  child(2, result(2, structured));
  EXPECT_THAT(done(), ElementsAre("client " + result(2, structured)));
  client(call(3, "echo"));
  done();
  child(2, result(3, text_result("x")));
  EXPECT_THAT(answer_text(), StartsWith(kNotice));
  client(call(4, "echo"));
  done();
  child(2, result(4, text_result("x")));
  EXPECT_THAT(done(), ElementsAre("client " + result(4, text_result("x"))));
}

TEST_F(BridgeNoticeTest, AnAnswerWithALoneSurrogateGetsTheNotice) {
  respawn_with_call();
  child(2, result(1, R"json({"content":[{"type":"text","text":"\ud83d"}],"x":1,"x":2})json"));
  EXPECT_THAT(client_got(),
              ElementsAre(AllOf(HasSubstr("server restarted"), HasSubstr(R"json("\ud83d")json"),
                                HasSubstr(R"json("x":1,"x":2)json"))));
}

TEST_F(BridgeNoticeTest, AnIdThatIsSpelledDifferentlyIsMendedToo) {
  respawn_with_call(call("1.0", "echo"));
  child(2, result(1, text_result("x")));
  EXPECT_THAT(client_got(),
              ElementsAre(AllOf(HasSubstr("server restarted"), HasSubstr("\"id\":1.0,"))));
}

TEST_F(BridgeNoticeTest, WithoutNoticesNothingIsAddedButChangesAreAnnounced) {
  config.writes_notices = false;
  open_session();
  dies(1, 0);
  server.tools.push_back(tool("more"));
  client(call(1, "echo"));
  opens(2);
  EXPECT_THAT(client_got(), ElementsAre(notification("notifications/tools/list_changed")));
  child(2, result(1, text_result("x")));
  EXPECT_THAT(done(), ElementsAre("client " + result(1, text_result("x"))));
}

TEST_F(BridgeNoticeTest, TheFirstLineKeepsItsOrder) {
  binary.path = "/abs/path/server";
  binary.exists = true;
  binary.modified = now.wall - std::chrono::minutes(1);
  open_session();
  time_passes(seconds(45));
  server.tools = {tool("search_index")};
  dies(1, 0);
  client(call(1, "search_index"));
  time_passes(milliseconds(1800));
  opens(2);
  done();
  child(2, result(1, text_result("x")));
  EXPECT_THAT(
      answer_text(),
      StartsWith("[mcp-sitter] server restarted (spawn #2, pid 1002, startup 1.8s). path: "
                 "/abs/path/server. binary v1.0.0 built 1 min ago. previous: exit 0 after 45s. "
                 "tools: +1 added (search_index), -1 removed (echo)."));
}

TEST_F(BridgeNoticeTest, EndsAreCalledByTheirNames) {
  open_session();
  const std::vector<std::tuple<int, std::string, std::string>> ends = {
      {3, "", "⚠ crashed (exit 3) after 0s"},
      {139, "SIGSEGV", "⚠ crashed (SIGSEGV) after 0s"},
      {137, "SIGKILL", "⚠ crashed (SIGKILL, from outside or out of memory) after 0s"},
      {143, "SIGTERM", "ended from outside (SIGTERM) after 0s"},
      {0, "", "exit 0 after 0s"}};
  Generation gen = 1;
  for (const auto& [code, name, words] : ends) {
    dies(gen, code, name);
    client(call(++gen, "echo"));
    opens(gen);
    done();
    child(gen, result(gen, text_result("x")));
    EXPECT_THAT(answer_text(), HasSubstr("previous: " + words + "."));
  }
}

TEST_F(BridgeNoticeTest, AKillDuringAStartIsToldAndNotTheCrashBeforeIt) {
  open_session();
  dies(1, 3);
  client(call(1, "echo"));
  done();
  client(call(2, "sitter_kill"));
  dies(2, 0);
  expect_kill_in_next_notice();
}

TEST_F(BridgeNoticeTest, AKillIsToldAlsoIfAnEarlierChildIsOverLater) {
  open_session();
  ask_reload();
  exits(1, 3);
  client(call(2, "sitter_kill"));
  dies(2, 0);
  closes_output(1);
  expect_kill_in_next_notice();
}

TEST_F(BridgeNoticeTest, ACrashBetweenTwoCallsTellsItsLastWords) {
  open_session();
  for (const std::string line : {"one", "two", "three", "  four"}) child_says(1, line);
  dies(1, 3);
  client(call(1, "echo"));
  opens(2);
  child(2, result(1, text_result("a")));
  EXPECT_THAT(answer_text(), HasSubstr("previous: ⚠ crashed (exit 3) after 0s.\n"
                                       "its last words on stderr (sitter_child_stderr shows more):"
                                       "\n| two\n| three\n|   four"));
}

TEST_F(BridgeNoticeTest, ACrashThatACallWasToldOfIsNotToldWithItsLastWordsAgain) {
  open_session();
  client(call(1, "echo"));
  child_says(1, "boom");
  dies(1, 3);
  EXPECT_THAT(answer_text(), HasSubstr("boom"));
  client(call(2, "echo"));
  opens(2);
  child(2, result(2, text_result("a")));
  EXPECT_THAT(answer_text(), AllOf(HasSubstr("crashed (exit 3)"), Not(HasSubstr("boom"))));
}

TEST_F(BridgeNoticeTest, AServerThatWasKilledOnPurposeHasNoLastWords) {
  open_session();
  child_says(1, "bye");
  client(call(1, "sitter_kill"));
  dies(1, 0);
  client_got();
  client(call(2, "echo"));
  opens(2);
  child(2, result(2, text_result("a")));
  EXPECT_THAT(answer_text(), AllOf(HasSubstr("killed by sitter_kill"), Not(HasSubstr("bye"))));
}

TEST_F(BridgeNoticeTest, ChangedToolsSayWhatChanged) {
  server.tools = {
      R"json({"name":"read_file","inputSchema":{"type":"object","properties":{"path":{"type":"string"}}}})json"};
  open_session();
  dies(1, 0);
  server.tools = {
      R"json({"name":"read_file","inputSchema":{"type":"object","required":["path"],)json"
      R"json("properties":{"limit":{"type":"integer"},"path":{"type":"string"}}}})json"};
  client(call(1, "read_file"));
  opens(2);
  done();
  child(2, result(1, text_result("x")));
  EXPECT_THAT(answer_text(),
              AllOf(HasSubstr("tools: 1 schema changed (read_file)."),
                    HasSubstr("\nread_file: +limit (integer, optional), path now required")));
}

TEST_F(BridgeNoticeTest, ChangesOfTheOpeningAreTold) {
  server.instructions = "old";
  server.capabilities = R"json({"tools":{},"prompts":{}})json";
  open_session();
  dies(1, 0);
  server.name = "renamed";
  server.version = "2.0.0";
  server.instructions = "new";
  server.capabilities = R"json({"tools":{},"resources":{}})json";
  client(call(1, "echo"));
  opens(2);
  done();
  child(2, result(1, text_result("x")));
  const std::string first = answer_text();
  EXPECT_THAT(
      first, AllOf(HasSubstr("binary v2.0.0"), HasSubstr("\nserver: server 1.0.0 -> renamed 2.0.0"),
                   HasSubstr("\ncapabilities: +resources, -prompts"),
                   HasSubstr("\ninstructions changed")));
  // A change that was told is not told again.
  dies(2, 0);
  client(call(2, "echo"));
  opens(3);
  done();
  child(3, result(2, text_result("x")));
  EXPECT_THAT(answer_text(), AllOf(HasSubstr("server restarted"), Not(HasSubstr("renamed")),
                                   Not(HasSubstr("capabilities"))));
}

TEST_F(BridgeNoticeTest, SeveralRestartsMakeOneDiff) {
  open_session();
  dies(1, 0);
  server.tools = {tool("echo"), tool("a")};
  client(request(1, "vendor/x"));
  opens(2);
  child(2, result(1));
  dies(2, 0);
  server.tools = {tool("echo"), tool("b")};
  client(call(2, "echo"));
  opens(3);
  done();
  child(3, result(2, text_result("x")));
  EXPECT_THAT(answer_text(), AllOf(HasSubstr("tools: +1 added (b)."), Not(HasSubstr("(a)"))));
}

TEST_F(BridgeNoticeTest, PromptsAndResourcesAreTold) {
  server.capabilities = R"json({"tools":{},"prompts":{},"resources":{}})json";
  open_session();
  dies(1, 0);
  server.prompts = {R"json({"name":"p"})json"};
  server.resources = {R"json({"uri":"a:b","name":"r"})json"};
  client(call(1, "echo"));
  opens(2);
  EXPECT_THAT(client_got(), ElementsAre(notification("notifications/prompts/list_changed"),
                                        notification("notifications/resources/list_changed")));
  child(2, result(1, text_result("x")));
  EXPECT_THAT(answer_text(), AllOf(HasSubstr("\nprompts: +1 added (p)"),
                                   HasSubstr("\nresources: +1 added (a:b)")));
}

TEST_F(BridgeNoticeTest, StdoutPollutionIsToldInTheNextNoticeAndOnce) {
  open_session();
  child(1, "Listening on port 3000");
  child(1, "Ready");
  dies(1, 0);
  client(call(1, "echo"));
  opens(2);
  done();
  child(2, result(1, text_result("x")));
  EXPECT_THAT(answer_text(),
              HasSubstr("2 lines that are not MCP messages (log to stderr instead), first: "
                        "Listening on port 3000"));
  dies(2, 0);
  client(call(2, "echo"));
  opens(3);
  done();
  child(3, result(2, text_result("x")));
  EXPECT_THAT(answer_text(), Not(HasSubstr("Listening")));
}

TEST_F(BridgeNoticeTest, ListsThatCouldNotBeTakenAreNamed) {
  server.capabilities = R"json({"tools":{},"prompts":{}})json";
  open_session();
  dies(1, 0);
  client(call(1, "echo"));
  child(2, result("#3", server.opening()));
  done();
  time_passes(milliseconds(1999));
  EXPECT_THAT(done(), IsEmpty());
  time_passes(milliseconds(1));
  EXPECT_THAT(done(), ElementsAre("child 2 " + call(1, "echo")));
  child(2, result(1, text_result("x")));
  EXPECT_THAT(answer_text(),
              HasSubstr("not compared, because the server listed them too late, or too "
                        "many, or not at all: tools, prompts"));
}

TEST_F(BridgeNoticeTest, AnOrderToInspectThatIsAnsweredLateStillWorks) {
  plays.inspect = false;
  open_session();
  dies(1, 0);
  client(call(1, "echo"));
  opens(2);
  EXPECT_THAT(done(), Contains("inspect"));
  child(2, result(1, text_result("x")));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("server restarted")));
  binary_inspected();
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(BridgeNoticeTest, ABridgeBehindABridgeNamesItsOwnTools) {
  server.tools = {tool("sitter_status"), tool("sitter_child_stderr")};
  open_session();
  child_says(1, "oops");
  client(call(1, "work"));
  dies(1, 3);
  EXPECT_THAT(answer_text(), HasSubstr("outer_sitter_child_stderr shows more"));
}

TEST_F(BridgeNoticeTest, ACancelledCallLeavesTheNoticeToTheNext) {
  respawn_with_call();
  client(cancelled(1));
  child(2, result(1, text_result("x")));
  client(call(2, "echo"));
  done();
  child(2, result(2, text_result("y")));
  EXPECT_THAT(answer_text(), StartsWith(kNotice));
}

TEST_F(BridgeNoticeTest, ACancellationThatCrossesTheAnswerLeavesTheNoticeToTheNext) {
  respawn_with_call();
  child(2, result(1, text_result("x")));
  const std::string told = answer_text();
  EXPECT_THAT(told, StartsWith(kNotice));
  client(cancelled(1));
  for (const int id : {2, 3}) {
    client(call(id, "echo"));
    done();
    child(2, result(id, text_result("y")));
    EXPECT_EQ(answer_text(), id == 2 ? told : "y");
  }
}

TEST_F(BridgeNoticeTest, CancellingAnAnswerWithoutTheNoticeDoesNotRepeatTheNotice) {
  respawn_with_call();
  child(2, result(1, text_result("x")));
  client(call(2, "echo"));
  child(2, result(2, text_result("y")));
  client(cancelled(2));
  done();
  client(call(3, "echo"));
  child(2, result(3, text_result("z")));
  EXPECT_THAT(client_got(), ElementsAre(result(3, text_result("z"))));
}

TEST_F(BridgeNoticeTest, AnUnreadNoticeFollowsTheNewNoticeAndIsCut) {
  respawn_with_call();
  child(2, result(1, text_result("x")));
  done();
  for (int id = 2; id <= 40; ++id) {
    client(cancelled(id - 1));
    dies(static_cast<Generation>(id), 3);
    client(call(id, "echo"));
    opens(static_cast<Generation>(id + 1));
    done();
    child(static_cast<Generation>(id + 1), result(id, text_result(std::string(900, 'x'))));
    const auto text = answer_text();
    EXPECT_THAT(text,
                StartsWith("[mcp-sitter] server restarted (spawn #" + std::to_string(id + 1)));
    EXPECT_THAT(text, HasSubstr("(spawn #" + std::to_string(id)));
    EXPECT_LE(text.size(), limits::kNoticeBytesMax + 300);
  }
}

TEST_F(BridgeNoticeTest, AToolThatWasAddedIsToldWithWhatIsNeededToCallIt) {
  open_session();
  dies(1, 0);
  server.tools.push_back(
      R"json({"name":"search","inputSchema":{"type":"object","required":["query"],)json"
      R"json("properties":{"query":{"type":"string"},"limit":{"type":"integer"}}}})json");
  client(call(1, "echo"));
  opens(2);
  done();
  child(2, result(1, text_result("x")));
  const std::string text = answer_text();
  EXPECT_THAT(text, AllOf(HasSubstr("tools: +1 added (search)."), HasSubstr("query"),
                          HasSubstr("string"), HasSubstr("limit"), HasSubstr("integer")));
}

TEST_F(BridgeNoticeTest, AToolWithAnOutputSchemaMayGetTheNotice) {
  server.tools = {tool("typed", R"json(,"outputSchema":{"type":"object"})json")};
  respawn_with_call(call(1, "typed"));
  child(2, result(1, R"json({"content":[],"structuredContent":{"x":1}})json"));
  const auto got = answer()["result"];
  EXPECT_EQ(got["structuredContent"].dump(), R"json({"x":1})json");
  EXPECT_FALSE(got.contains("_meta"));
  EXPECT_EQ(got["content"].size(), 1u);
}

TEST_F(BridgeNoticeTest, WhatTheClientHasListedItselfIsCompared) {
  open_session();
  client(request(1, "tools/list"));
  child(1, result(1, Server::list("tools", {tool("echo"), tool("grown")})));
  client(request(2, "prompts/list"));
  child(1, result(2, Server::list("prompts", {R"json({"name":"grown"})json"})));
  dies(1, 0);
  client(call(3, "echo"));
  opens(2);
  child(2, result(3, text_result("x")));
  time_passes(limits::kRelistWait);
  const auto lines = client_got();
  EXPECT_THAT(lines.back(), AllOf(HasSubstr("-1 removed (grown)"), HasSubstr("prompts")));
}

}  // namespace
}  // namespace sitter
