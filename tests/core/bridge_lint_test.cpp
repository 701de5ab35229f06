#include "support/rebuild_script.hpp"

namespace sitter {
namespace {

using ::testing::EndsWith;
using ::testing::StartsWith;

constexpr char kBadTool[] = R"json({"name":"bad"})json";
constexpr char kBadToolFinding[] =
    R"(tool "bad": it has no member `inputSchema`, so clients drop the whole list; mcp-sitter )"
    "leaves the tool out";
constexpr char kOutputFinding[] =
    R"(tool "add": a result has no structuredContent, but the tool has an outputSchema, so clients )"
    "reject the result";

class BridgeLintTest : public BridgeRebuildTest {
 protected:
  static std::string with_output(const std::string& name) {
    return tool(name, R"json(,"outputSchema":{"type":"object"})json");
  }
  static std::string line(const std::string& finding) { return "[mcp-sitter] lint: " + finding; }
  /// The first block of the only answer.
  std::string first_text() { return answer()["result"]["content"][0]["text"].get<std::string>(); }
  /// The child answers a call of this tool.
  void calls(int id, const std::string& tool, Generation gen = 1,
             const std::string& json = text_result("x")) {
    client(call(id, tool));
    child(gen, result(id, json));
  }
  nlohmann::json status(int id) {
    client(call(id, "sitter_status"));
    return nlohmann::json::parse(answer_text());
  }
};

TEST_F(BridgeLintTest, AFindingInTheToolsIsToldOnce) {
  server.tools = {tool("add"), kBadTool};
  open_session();
  calls(1, "add");
  EXPECT_EQ(first_text(), line(kBadToolFinding));
  calls(2, "add");
  EXPECT_THAT(done(), Contains("client " + result(2, text_result("x"))));
  EXPECT_EQ(status(3)["lint"].dump(), nlohmann::json::array({kBadToolFinding}).dump());
}

TEST_F(BridgeLintTest, AServerWithoutFindingsHasNoLint) {
  open_session();
  calls(1, "echo");
  EXPECT_EQ(answer_text(), "x");
  EXPECT_FALSE(status(2).contains("lint"));
}

TEST_F(BridgeLintTest, AListThatTheClientGetsIsLinted) {
  open_session();
  client(request(1, "tools/list"));
  child(1, result(1, Server::list("tools", {tool("echo"), kBadTool})));
  done();
  calls(2, "echo");
  EXPECT_EQ(first_text(), line(kBadToolFinding));
}

TEST_F(BridgeLintTest, AResultThatHasNoListIsLinted) {
  client(initialize(0));
  child(1, result(0, server.opening()));
  client(initialized());
  done();
  child(1, result("#1", R"json({"tools":null})json"));
  done();
  EXPECT_EQ(
      status(2)["lint"][0],
      "tools/list: tools is not of type array, so clients drop the whole list; mcp-sitter makes "
      "it empty");
}

TEST_F(BridgeLintTest, AResultThatIsNoListIsAnEmptyOneForTheClient) {
  open_session();
  int id = 0;
  for (const std::string broken :
       {R"json({"tools":null,"nextCursor":7})json", R"json({"_meta":null})json", "{}"}) {
    client(request(++id, "tools/list"));
    child(1, result(id, broken));
    const auto got = answer()["result"];
    EXPECT_EQ(got["tools"][0]["name"], "sitter_status");
    EXPECT_FALSE(got.contains("nextCursor"));
    EXPECT_FALSE(got.value("_meta", nlohmann::json::object()).is_null());
  }
  client(request(++id, "prompts/list"));
  child(1, result(id, R"json({"prompts":null})json"));
  EXPECT_THAT(client_got(), ElementsAre(result(id, R"json({"prompts":[]})json")));
  calls(++id, "echo");
  EXPECT_THAT(answer_text(), AllOf(HasSubstr("tools/list: tools is not of type array"),
                                   HasSubstr("tools/list: _meta is null"),
                                   HasSubstr("prompts/list: prompts is not of type array")));
}

TEST_F(BridgeLintTest, AToolThatIsNoJsonDoesNotCostTheList) {
  open_session();
  client(request(1, "tools/list"));
  child(1, result(1, Server::list("tools", {tool("echo"),
                                            R"json({"name":"bad","inputSchema":{"x":NaN}})json"})));
  const auto tools = answer()["result"]["tools"];
  EXPECT_EQ(tools[0]["name"], "echo");
  EXPECT_EQ(tools[1]["name"], "sitter_status");
  calls(2, "echo");
  EXPECT_THAT(first_text(), HasSubstr(R"(tool "bad": it is not valid JSON)"));
}

TEST_F(BridgeLintTest, SeveralListsOnALineAreMended) {
  open_session();
  client(request(1, "prompts/list"));
  client(request(2, "resources/list"));
  done();
  child(1, result(1, R"json({"prompts":null})json") + result(2, R"json({"resources":null})json"));
  EXPECT_THAT(client_got(), ElementsAre(result(1, R"json({"prompts":[]})json"),
                                        result(2, R"json({"resources":[]})json")));
}

TEST_F(BridgeLintTest, ABrokenListPassesWithTheLintOff) {
  config.lints = false;
  open_session();
  const std::string line = result(1, R"json({"prompts":null,"nextCursor":7})json");
  client(request(1, "prompts/list"));
  child(1, line);
  EXPECT_THAT(client_got(), ElementsAre(line));
}

TEST_F(BridgeLintTest, TheListOfTemplatesIsLintedWhenTheClientGetsIt) {
  open_session();
  client(request(1, "resources/templates/list"));
  child(1, result(1, R"json({"resourceTemplates":[{"name":"a"}],"nextCursor":7})json"));
  done();
  const auto lint = status(2)["lint"];
  ASSERT_EQ(lint.size(), 2u);
  EXPECT_THAT(lint[0].get<std::string>(), StartsWith("resources/templates/list: nextCursor"));
  EXPECT_THAT(lint[1].get<std::string>(), StartsWith("resource template \"a\": it has no member"));
}

TEST_F(BridgeLintTest, AProbeThatIsAnsweredInASessionIsLinted) {
  open_session();
  client(request(1, "server/discover"));
  child(1, result(1, R"json({"supportedVersions":["2026-07-28"]})json"));
  done();
  EXPECT_THAT(status(2)["lint"][0].get<std::string>(),
              StartsWith("server/discover: the result has no member `capabilities`"));
}

TEST_F(BridgeLintTest, AFindingInAResultIsToldInTheNextResult) {
  server.tools = {with_output("add"), tool("echo")};
  open_session();
  calls(1, "add");
  EXPECT_EQ(answer_text(), "x");
  calls(2, "echo");
  EXPECT_EQ(first_text(), line(kOutputFinding));
  calls(3, "add");
  EXPECT_EQ(answer_text(), "x");
}

TEST_F(BridgeLintTest, BesideStructuredContentAFindingIsNotYetTold) {
  const std::string structured = R"json({"content":[],"structuredContent":{}})json";
  server.tools = {tool("echo"), kBadTool};
  open_session();
  calls(1, "echo", 1, structured);
  EXPECT_EQ(answer_text(), line(kBadToolFinding));
  calls(2, "echo", 1, structured);
  EXPECT_THAT(client_got(), ElementsAre(result(2, structured)));
  calls(3, "echo");
  EXPECT_EQ(first_text(), line(kBadToolFinding));
}

TEST_F(BridgeLintTest, ANewFindingIsAddedBesideStructuredContentToo) {
  const std::string structured = R"json({"content":[],"structuredContent":{}})json";
  server.tools = {tool("echo"), with_output("add"), kBadTool};
  open_session();
  calls(1, "echo", 1, structured);
  calls(2, "add", 1, R"json({"content":[],"isError":"no","structuredContent":{}})json");
  done();
  calls(3, "echo", 1, structured);
  EXPECT_THAT(answer_text(), AllOf(StartsWith(line(kBadToolFinding)), HasSubstr("isError")));
}

TEST_F(BridgeLintTest, AFindingThatStaysIsNotToldAgainAfterARestart) {
  server.tools = {tool("echo"), kBadTool};
  open_session();
  calls(1, "echo");
  done();
  dies(1, 0);
  client(call(2, "echo"));
  opens(2);
  done();
  child(2, result(2, text_result("x")));
  EXPECT_THAT(first_text(), AllOf(HasSubstr("server restarted"), Not(HasSubstr("lint"))));
}

TEST_F(BridgeLintTest, AFindingInANewServerStandsBehindTheRestart) {
  open_session();
  dies(1, 0);
  server.tools = {tool("echo"), kBadTool};
  client(call(1, "echo"));
  opens(2);
  done();
  child(2, result(1, text_result("x")));
  EXPECT_THAT(first_text(), AllOf(StartsWith("[mcp-sitter] server restarted"),
                                  EndsWith("\n" + line(kBadToolFinding))));
}

TEST_F(BridgeLintTest, AFixedServerHasNoFindings) {
  server.tools = {tool("echo"), with_output("add"), kBadTool};
  open_session();
  calls(1, "add");
  done();
  dies(1, 0);
  server.tools = {tool("echo"), with_output("add")};
  client(call(2, "echo"));
  opens(2);
  done();
  child(2, result(2, text_result("x")));
  EXPECT_THAT(first_text(), AllOf(HasSubstr("server restarted"), Not(HasSubstr("lint"))));
  EXPECT_FALSE(status(3).contains("lint"));
}

TEST_F(BridgeLintTest, TheAnswerToARebuildTellsTheFindings) {
  open_session();
  server.tools = {tool("echo"), kBadTool};
  build_works();
  opens(2);
  EXPECT_THAT(text_of(rebuilt()),
              AllOf(HasSubstr("server restarted"), HasSubstr("\n" + line(kBadToolFinding))));
  dies(1, 0);
  done();
  calls(2, "echo", 2);
  EXPECT_THAT(client_got(), ElementsAre(result(2, text_result("x"))));
}

TEST_F(BridgeLintTest, AResultOfARetiringChildIsNotLinted) {
  server.tools = {with_output("add")};
  open_session();
  client(call(2, "add"));
  build_works();
  opens(2);
  child(1, result(2, text_result("x")));
  done();
  EXPECT_FALSE(status(3).contains("lint"));
}

TEST_F(BridgeLintTest, AListOfARetiringChildIsNotLinted) {
  open_session();
  client(request(2, "tools/list"));
  build_works();
  opens(2);
  child(1, result(2, Server::list("tools", {kBadTool})));
  done();
  EXPECT_FALSE(status(3).contains("lint"));
}

TEST_F(BridgeLintTest, ACallThatRunsAsATaskIsNotLinted) {
  server.tools = {with_output("add")};
  open_session();
  client(request(1, "tools/call", R"json({"name":"add","task":{}})json"));
  child(1, result(1, text_result("x")));
  done();
  EXPECT_FALSE(status(2).contains("lint"));
}

TEST_F(BridgeLintTest, BuiltInToolsAreNotLinted) {
  server.tools = {with_output("sitter_status")};
  open_session();
  client(call(1, "outer_sitter_status"));
  EXPECT_THAT(answer_text(), Not(HasSubstr("\"lint\"")));
  calls(2, "sitter_status");
  client(call(3, "outer_sitter_status"));
  EXPECT_THAT(client_got(), Contains(HasSubstr(R"json(tool \\\"sitter_status\\\": a result)json")));
}

TEST_F(BridgeLintTest, ReportsNoFindingsWithTheLintOff) {
  config.lints = false;
  server.tools = {with_output("add"), kBadTool};
  open_session();
  calls(1, "add");
  calls(2, "add");
  EXPECT_THAT(done(), Contains("client " + result(2, text_result("x"))));
  EXPECT_FALSE(status(3).contains("lint"));
}

TEST_F(BridgeLintTest, WithTheLintOffAnOpeningPassesWithItsNulls) {
  config.lints = false;
  client(initialize(0));
  done();
  child(1, result(0, R"json({"protocolVersion":"2025-11-25","capabilities":{"tools":{}},)json"
                     R"json("serverInfo":{"name":"a","version":"1","title":null}})json"));
  EXPECT_THAT(done(), ElementsAre(HasSubstr(R"json("version":"1","title":null})json")));
}

TEST_F(BridgeLintTest, WithoutNoticesOnlyTheStatusShowsTheFindings) {
  config.writes_notices = false;
  open_session();
  server.tools = {tool("echo"), kBadTool};
  build_works();
  opens(2);
  EXPECT_THAT(text_of(rebuilt()), AllOf(HasSubstr("server restarted"), Not(HasSubstr("lint"))));
  dies(1, 0);
  done();
  calls(2, "echo", 2);
  EXPECT_THAT(client_got(), ElementsAre(result(2, text_result("x"))));
  EXPECT_THAT(status(3)["lint"], SizeIs(1));
}

}  // namespace
}  // namespace sitter
