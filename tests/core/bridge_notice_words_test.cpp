#include "core/client/relist_wait.hpp"
#include "core/report/restart_notice.hpp"
#include "support/bridge_script.hpp"

namespace sitter {
namespace {

using ::testing::StartsWith;

/// What the notice after a restart says.
class BridgeNoticeWordsTest : public BridgeTest {
 protected:
  /// Child 3 starts for a call, whose result tells of the kill and not of the crash before it.
  void expect_kill_in_next_notice() {
    client_got();
    client(call(3, "echo"));
    opens(3);
    child(3, result(3, text_result("a")));
    EXPECT_THAT(answer().dump(), AllOf(HasSubstr("previous: killed by sitter_kill after"),
                                       Not(HasSubstr("crashed"))));
  }
};

TEST_F(BridgeNoticeWordsTest, TheFirstLineKeepsItsOrder) {
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

TEST_F(BridgeNoticeWordsTest, AFileThatSeemsOldIsOfUnknownAge) {
  open_session();
  Generation gen = 1;
  for (const auto& [age, words] : {std::pair(limits::kKnownAgeMax - milliseconds(1000),
                                             "binary v1.0.0 built 7299.9 days ago."),
                                   std::pair(limits::kKnownAgeMax, "binary v1.0.0.")}) {
    binary.exists = true;
    binary.path = "/server";
    binary.modified = now.wall - age;
    dies(gen, 0);
    client(call(++gen, "echo"));
    opens(gen);
    done();
    child(gen, result(gen, text_result("x")));
    EXPECT_THAT(answer_text(), HasSubstr(words));
  }
}

TEST_F(BridgeNoticeWordsTest, NamesEachKindOfExit) {
  open_session();
  const std::vector<std::pair<ExitStatus, std::string>> ends = {
      {{3}, "⚠ crashed (exit 3) after 0s"},
      {{128}, "⚠ crashed (exit 128) after 0s"},
      {{.code = 135, .passed_on = "SIGBUS"},
       "⚠ crashed (exit 135, as a shell passes on SIGBUS) after 0s"},
      {{.code = 137, .passed_on = "SIGKILL"},
       "⚠ crashed (exit 137, as a shell passes on SIGKILL (from outside, or out of memory)) after "
       "0s"},
      {{139, "SIGSEGV"}, "⚠ crashed (SIGSEGV) after 0s"},
      {{137, "SIGKILL"}, "⚠ crashed (SIGKILL, from outside or out of memory) after 0s"},
      {{143, "SIGTERM"}, "ended from outside (SIGTERM) after 0s"},
      {{0}, "exit 0 after 0s"}};
  Generation gen = 1;
  for (const auto& [status, words] : ends) {
    dies(gen, status);
    client(call(++gen, "echo"));
    opens(gen);
    done();
    child(gen, result(gen, text_result("x")));
    EXPECT_THAT(answer_text(), HasSubstr("previous: " + words + "."));
  }
}

TEST_F(BridgeNoticeWordsTest, AKillDuringAStartIsToldAndNotTheCrashBeforeIt) {
  open_session();
  dies(1, 3);
  client(call(1, "echo"));
  done();
  client(call(2, "sitter_kill"));
  dies(2, 0);
  expect_kill_in_next_notice();
}

TEST_F(BridgeNoticeWordsTest, AKillIsToldAlsoIfAnEarlierChildIsOverLater) {
  open_session();
  ask_reload();
  exits(1, 3);
  client(call(2, "sitter_kill"));
  dies(2, 0);
  closes_output(1);
  expect_kill_in_next_notice();
}

TEST_F(BridgeNoticeWordsTest, ACrashBetweenTwoCallsTellsItsLastWords) {
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

TEST_F(BridgeNoticeWordsTest, DoesNotRepeatTheStderrOfACrashThatACallReported) {
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

TEST_F(BridgeNoticeWordsTest, AServerThatWasKilledOnPurposeHasNoLastWords) {
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

TEST_F(BridgeNoticeWordsTest, ChangedToolsSayWhatChanged) {
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

TEST_F(BridgeNoticeWordsTest, ChangesOfTheOpeningAreTold) {
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

TEST_F(BridgeNoticeWordsTest, SeveralRestartsMakeOneDiff) {
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

TEST_F(BridgeNoticeWordsTest, PromptsAndResourcesAreTold) {
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

TEST_F(BridgeNoticeWordsTest, NoiseOnStdoutIsToldInTheNextResultOnceForEachGeneration) {
  const auto told = [this](Generation gen, int id) {
    client(call(id, "echo"));
    done();
    child(gen, result(id, text_result("x")));
    return answer_text();
  };
  open_session();
  child(1, "Listening on \x1b[1mport 3000");
  child(1, "Ready");
  EXPECT_EQ(told(1, 1),
            "[mcp-sitter] stdout: the server (spawn #1) wrote 2 lines that are not MCP messages "
            "(log to stderr instead), first: Listening on port 3000");
  child(1, "Listening");
  EXPECT_EQ(told(1, 2), "x");
  dies(1, 0);
  client(call(3, "echo"));
  opens(2);
  child(2, "Listening");
  done();
  child(2, result(3, text_result("x")));
  EXPECT_THAT(answer_text(),
              HasSubstr("\n[mcp-sitter] stdout: the server (spawn #2) wrote 1 line that is not an "
                        "MCP message (log to stderr instead), first: Listening"));
  EXPECT_EQ(told(2, 4), "x");
}

TEST_F(BridgeNoticeWordsTest, NoiseIsAddedBesideStructuredContentToo) {
  const std::string structured = R"json({"content":[],"structuredContent":{}})json";
  open_session();
  dies(1, 0);
  client(call(1, "echo"));
  opens(2);
  done();
  child(2, result(1, structured));
  EXPECT_THAT(answer_text(), HasSubstr("server restarted"));
  child(2, "Listening");
  client(call(2, "echo"));
  client(call(3, "echo"));
  done();
  child(2, result(2, structured));
  child(2, result(3, structured));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("first: Listening"), result(3, structured)));
}

TEST_F(BridgeNoticeWordsTest, ListsThatCouldNotBeTakenAreNamed) {
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
              HasSubstr("not compared, because the server listed too many of them, or "
                        "too late, or not at all: tools, prompts"));
}

TEST_F(BridgeNoticeWordsTest, ALateInspectionStillWorks) {
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

TEST_F(BridgeNoticeWordsTest, ABridgeBehindABridgeNamesItsOwnTools) {
  server.tools = {tool("sitter_status"), tool("sitter_child_stderr")};
  open_session();
  child_says(1, "oops");
  client(call(1, "work"));
  dies(1, 3);
  EXPECT_THAT(answer_text(), HasSubstr("outer_sitter_child_stderr shows more"));
}

TEST_F(BridgeNoticeWordsTest, ReportsAnAddedToolWithItsParameters) {
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

TEST_F(BridgeNoticeWordsTest, ComparesWithTheListsThatTheClientFetched) {
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
