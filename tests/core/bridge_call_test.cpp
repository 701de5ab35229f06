#include "core/report/builtin_arguments.hpp"
#include "sitter/limits.hpp"
#include "support/bridge_script.hpp"

namespace sitter {
namespace {

/// sitter_call, for clients that list the tools only once.
class BridgeCallTest : public BridgeTest {
 protected:
  BridgeCallTest() {
    config.call_tool = BridgeConfig::CallTool::on;
    server.tools = {
        tool("echo"),
        R"json({"name":"find","inputSchema":{"type":"object","required":["query"]}})json"};
  }

  bool is_offered() {
    client(request(70, "tools/list"));
    child(1, result(70, Server::list("tools", server.tools)));
    const auto got = client_got();
    return !got.empty() && got[0].find("\"sitter_call\"") != std::string::npos;
  }
};

TEST_F(BridgeCallTest, SitterCallPassesTheInnerCallToTheServer) {
  open_session();
  client(request(1, "tools/call",
                 R"json({"_meta":{"progressToken":1},"name":"sitter_call","arguments":)json"
                 R"json({"tool":"find","arguments":{ "query" : "a" }}})json"));
  EXPECT_THAT(done(), ElementsAre("child 1 " +
                                  request(1, "tools/call",
                                          R"json({"_meta":{"progressToken":1},"name":"find",)json"
                                          R"json("arguments":{ "query" : "a" }})json")));
  child(1, progress(1, 1));
  child(1, result(1, text_result("found")));
  time_passes(milliseconds(1));
  EXPECT_THAT(client_got(), ElementsAre(progress(1, 1), result(1, text_result("found"))));
}

TEST_F(BridgeCallTest, ItStartsTheServerAndCarriesTheNotice) {
  open_session();
  dies(1, 0);
  server.tools.push_back(tool("new"));
  client(call(1, "sitter_call", R"json({"tool":"new"})json"));
  opens(2);
  EXPECT_THAT(done(), Contains("child 2 " + call(1, "new")));
  child(2, result(1, text_result("a")));
  EXPECT_THAT(client_got(),
              Contains(AllOf(HasSubstr("spawn #2"), HasSubstr("+1 added (new)"),
                             HasSubstr(R"json(sitter_call {\"tool\": \"new\")json"))));
}

TEST_F(BridgeCallTest, CancellingSitterCallCancelsTheInnerCall) {
  open_session();
  client(call(1, "sitter_call", R"json({"tool":"echo"})json"));
  done();
  client(cancelled(1));
  EXPECT_THAT(done(), ElementsAre("child 1 " + cancelled(1)));
}

TEST_F(BridgeCallTest, ACrashIsReportedAsForAnyCall) {
  open_session();
  client(call(1, "sitter_call", R"json({"tool":"echo"})json"));
  dies(1, 3);
  EXPECT_THAT(client_got(),
              ElementsAre(AllOf(HasSubstr("crashed (exit 3)"), HasSubstr("isError"))));
}

TEST_F(BridgeCallTest, AnUnknownToolIsNamedWithTheKnownTools) {
  open_session();
  client(call(1, "sitter_call", R"json({"tool":"search"})json"));
  EXPECT_EQ(answer_text(), "the server has no tool search. It has: echo, find");
}

TEST_F(BridgeCallTest, AMissingArgumentIsNamedWithTheSchema) {
  open_session();
  client(call(1, "sitter_call", R"json({"tool":"find","arguments":{"x":1}})json"));
  EXPECT_EQ(answer_text(),
            "find needs the argument \"query\", which is missing. Its schema: "
            R"json({"type":"object","required":["query"]})json");
}

TEST_F(BridgeCallTest, ACallThatHasWaitedIsCheckedWhenTheServerIsThere) {
  open_session();
  dies(1, 0);
  client(call(1, "sitter_call", R"json({"tool":"search"})json"));
  client(call(2, "sitter_call", R"json({"tool":"find"})json"));
  client(call(3, "sitter_call", R"json({"tool":"find","arguments":{"query":"a"}})json"));
  client(call(4, "search"));
  done();
  opens(2);
  const auto all = done();
  EXPECT_THAT(all, Contains(HasSubstr("the server has no tool search")));
  EXPECT_THAT(all, Contains(HasSubstr("find needs the argument \\\"query\\\"")));
  EXPECT_THAT(all, Contains("child 2 " + call(3, "find", R"json({"query":"a"})json")));
  EXPECT_THAT(all, Contains("child 2 " + call(4, "search")));
  child(2, result(3));
  child(2, result(4));
}

TEST_F(BridgeCallTest, ItsArgumentsMayBeAsLargeAsThoseOfAnyCall) {
  open_session();
  const std::string arguments =
      "{\"query\":\"" + std::string(limits::kArgumentsBytesMax, 'x') + "\"}";
  client(call(1, "sitter_call", R"json({"tool":"find","arguments":)json" + arguments + "}"));
  EXPECT_THAT(done(), ElementsAre("child 1 " + call(1, "find", arguments)));
  child(1, result(1));
}

TEST_F(BridgeCallTest, ReportsUnknownToolsOnlyOnceTheListIsKnown) {
  open_session();
  dies(1, 0);
  client(call(1, "sitter_call", R"json({"tool":"new"})json"));
  child(2, result("#2", server.opening()));
  time_passes(limits::kToolsListWait);
  EXPECT_THAT(done(), Contains("child 2 " + call(1, "new")));
  client(call(2, "sitter_call", R"json({"tool":"new"})json"));
  EXPECT_THAT(done(), Contains("child 2 " + call(2, "new")));
  child(2, result(1));
  child(2, result(2));
}

TEST_F(BridgeCallTest, WhatFailsAsATaskIsAnError) {
  open_session();
  client(request(1, "tools/call",
                 R"json({"name":"sitter_call","arguments":{"tool":"search"},"task":{}})json"));
  EXPECT_EQ(answer()["error"]["code"], -32602);
}

TEST_F(BridgeCallTest, SitterCallRefusesBuiltInTools) {
  open_session();
  for (const std::string tool : {"sitter_kill", "sitter_call"}) {
    client(call(1, "sitter_call", R"json({"tool":")json" + tool + "\"}"));
    EXPECT_EQ(answer_text(), tool + " is a tool of mcp-sitter: call it directly");
  }
}

TEST_F(BridgeCallTest, WrongArgumentsAreNamed) {
  open_session();
  client(call(1, "sitter_call", R"json({"arguments":{}})json"));
  EXPECT_EQ(answer_text(), "tool must be the name of a tool of the server");
  client(request(2, "tools/call", R"json({"name":"sitter_call"})json"));
  EXPECT_EQ(answer_text(), "tool must be the name of a tool of the server");
}

TEST_F(BridgeCallTest, TheOptionOffersSitterCallToEveryClient) {
  open_session();
  EXPECT_TRUE(is_offered());
}

TEST_F(BridgeCallTest, ClientsThatListAgainAreNotOfferedSitterCall) {
  config.call_tool = BridgeConfig::CallTool::automatic;
  open_session();
  EXPECT_FALSE(is_offered());
}

TEST_F(BridgeCallTest, CodexDoesNotListAgain) {
  config.call_tool = BridgeConfig::CallTool::automatic;
  open_session("2025-06-18", "codex-mcp-client");
  EXPECT_TRUE(is_offered());
}

TEST_F(BridgeCallTest, QwenCodeWhichNamesTheServerTooDoesNotListAgain) {
  config.call_tool = BridgeConfig::CallTool::automatic;
  open_session("2025-11-25", "qwen-cli-mcp-client-dev");
  EXPECT_TRUE(is_offered());
}

TEST_F(BridgeCallTest, AStatelessClientIsRecognizedByItsRequests) {
  config.call_tool = BridgeConfig::CallTool::automatic;
  server.is_stateless = true;
  client(request(1, "tools/list", "{" + envelope("2026-07-28", "@cline/core") + "}"));
  opens(1);
  child(1, result(1, server.page("tools", server.tools)));
  EXPECT_THAT(client_got(), ElementsAre(HasSubstr("\"sitter_call\"")));
}

TEST_F(BridgeCallTest, TheOptionHidesSitterCallFromCodex) {
  config.call_tool = BridgeConfig::CallTool::off;
  open_session("2025-06-18", "codex-mcp-client");
  EXPECT_FALSE(is_offered());
}

}  // namespace
}  // namespace sitter
