#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <string>
#include <vector>

#include "support/scripted_client.hpp"
#include "support/temporary_directory.hpp"

namespace sitter::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<std::string> names_of(const Json& tools) {
  std::vector<std::string> names;
  for (const Json& tool : tools) names.push_back(tool.value("name", ""));
  return names;
}

const std::vector<std::string> kBuiltIn = {"sitter_status", "sitter_kill", "sitter_binary_info",
                                           "sitter_child_stderr"};

TEST(Session, LinesPassAsTheyAre) {
  ScriptedClient client;
  client.open();
  for (const std::string id : {"1", "1.0", "\"1\"", "12345678901234567890", "\"\\u00fc\"", "-7"}) {
    client.program().write(
        R"json( {"params" : {"arguments":{"a":1e2,"big":123456789012345678901,"\u0061":"é\/"},"name":"meta"},)json"
        R"json("method":"tools/call", "jsonrpc":"2.0","id":)json" +
        id + "}\r\n");
    const std::string line = client.program().read_line().value_or("");
    EXPECT_THAT(line, StartsWith(R"json({"jsonrpc":"2.0","id":)json" + id + ","));
    const Json raw_params = Json::parse(line)["result"]["content"][1]["text"];
    EXPECT_EQ(
        raw_params,
        R"json({"arguments":{"a":1e2,"big":123456789012345678901,"\u0061":"é\/"},"name":"meta"})json");
  }
}

TEST(Session, HandshakeMayBePipelined) {
  ScriptedClient client({.command = fake({"--strict"})});
  for (const Json id : {1, 2, 3}) client.owe(id);
  client.program().write(
      R"json({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"state","arguments":{}}}
)json");
  const Json answered = client.answer(3);
  EXPECT_THAT(client.order(), ElementsAre("answer 1", "answer 2", "answer 3"));
  const Json state = Json::parse(text_of(answered["result"]));
  const std::vector<std::string> methods = state["methods"];
  EXPECT_EQ(std::count(methods.begin(), methods.end(), "initialize"), 1);
  EXPECT_EQ(std::count(methods.begin(), methods.end(), "notifications/initialized"), 1);
}

TEST(Session, SecondOpeningIsPassedOnAndReplayed) {
  ScriptedClient client;
  client.open("2025-11-25");
  client.request(5, "initialize",
                 {{"protocolVersion", "2025-03-26"},
                  {"capabilities", Json::object()},
                  {"clientInfo", {{"name", "second"}, {"version", "2"}}}});
  EXPECT_EQ(client.answer(5)["result"]["protocolVersion"], "2025-03-26");
  client.notify("notifications/initialized");
  EXPECT_EQ(client.child_state()["initializeParams"]["clientInfo"]["name"], "second");
  client.text_of_call("sitter_kill");
  EXPECT_EQ(client.child_state()["initializeParams"]["clientInfo"]["name"], "second");
}

TEST(Session, OpeningResultIsAmendedOnly) {
  ScriptedClient client({.command = fake({"--everything", "--instructions", "Be brief."})});
  const Json opened = client.open();
  EXPECT_EQ(opened["serverInfo"]["name"], "fake-mcp");
  for (const char* list : {"tools", "prompts", "resources"}) {
    EXPECT_EQ(opened["capabilities"][list]["listChanged"], true) << list;
  }
  EXPECT_EQ(opened["capabilities"]["resources"]["subscribe"], true);
  EXPECT_THAT(opened["instructions"], AllOf(StartsWith("Be brief."), HasSubstr("sitter_status")));
}

TEST(Session, ChildWithoutToolsStillGivesTheBuiltInOnes) {
  ScriptedClient client({.command = fake({"--no-tools"})});
  EXPECT_EQ(client.open()["capabilities"]["tools"]["listChanged"], true);
  client.request(1, "tools/list");
  EXPECT_EQ(names_of(client.answer(1)["result"]["tools"]), kBuiltIn);
  EXPECT_EQ(client.status()["childToolCount"], 0);
}

TEST(Session, BuiltInToolsStandOnTheFirstPageOnly) {
  ScriptedClient client({.command = fake({"--pages", "3"})});
  client.open();
  std::vector<std::string> names;
  Json params = Json::object();
  for (int page = 1; page <= 3; ++page) {
    client.request(page, "tools/list", params);
    const Json result = client.answer(page)["result"];
    const auto here = names_of(result["tools"]);
    EXPECT_EQ(std::count(here.begin(), here.end(), "sitter_status"), page == 1 ? 1 : 0);
    names.insert(names.end(), here.begin(), here.end());
    params = {{"cursor", result.value("nextCursor", "")}};
  }
  const auto count = static_cast<int>(names.size()) - 4;
  EXPECT_EQ(client.status()["childToolCount"], count);
  // A respawn compares all pages, so it reports no change.
  client.text_of_call("sitter_kill");
  EXPECT_THAT(client.text_of_call("echo"), AllOf(HasSubstr("spawn #2"), Not(HasSubstr("tools:"))));
  EXPECT_EQ(client.status()["childToolCount"], count);
  EXPECT_FALSE(client.has_heard("notifications/tools/list_changed"));
}

TEST(Session, ChildsOwnSitterStatusKeepsItsName) {
  TemporaryDirectory directory;
  ScriptedClient client({.command = fake({"--tools", directory.write("tools.json", R"json([
         {"name":"sitter_status","inputSchema":{"type":"object"}},
         {"name":"own","inputSchema":{"type":"object"}}])json")})});
  client.open();
  client.request(1, "tools/list");
  EXPECT_THAT(names_of(client.answer(1)["result"]["tools"]),
              ElementsAre("sitter_status", "own", "outer_sitter_status", "sitter_kill",
                          "sitter_binary_info", "sitter_child_stderr"));
  EXPECT_EQ(client.text_of_call("sitter_status", {{"x", 1}}), R"json({"x":1})json");
  EXPECT_EQ(Json::parse(client.text_of_call("outer_sitter_status"))["childToolCount"], 2);
}

TEST(Session, BridgesMayStandBehindEachOther) {
  // The command is a copy, so that the kill does not find the bridges of other tests.
  TemporaryDirectory directory;
  ScriptedClient client(
      {.command = {directory.copy_program("mcp-sitter", sitter_program()), "--", fake_mcp()}});
  client.open();
  client.request(1, "tools/list");
  EXPECT_THAT(names_of(client.answer(1)["result"]["tools"]),
              AllOf(Contains("sitter_status"), Contains("outer_sitter_status")));
  const long inner_child = client.child_pid();
  const long inner = Json::parse(client.text_of_call("outer_sitter_status"))["childPid"];
  EXPECT_NE(inner, inner_child);
  client.text_of_call("outer_sitter_kill");
  EXPECT_TRUE(ends(inner));
  EXPECT_TRUE(ends(inner_child));
  EXPECT_THAT(client.text_of_call("echo", {{"text", "both"}}), HasSubstr("both"));
}

TEST(Session, RespawnedChildMayAskBeforeItIsListed) {
  TemporaryDirectory directory;
  ScriptedClient client({.command = fake({"--ask", "roots/list", "--strict"})});
  client.open();
  const auto reply = [&](const Json& question) {
    client.send(
        Json{{"jsonrpc", "2.0"}, {"id", question["id"]}, {"result", {{"roots", Json::array()}}}}
            .dump());
  };
  reply(client.heard("roots/list"));
  client.text_of_call("sitter_kill");
  client.call(1, "state");
  reply(client.heard("roots/list"));
  const Json content = client.answer(1)["result"]["content"];
  EXPECT_THAT(content[0]["text"], AllOf(HasSubstr("spawn #2"), Not(HasSubstr("not compared"))));
}

TEST(Session, QuestionsOfTheChildPassInBothDirections) {
  ScriptedClient client;
  client.open();
  for (const char* method : {"sampling/createMessage", "elicitation/create", "roots/list"}) {
    client.call(1, "ask", {{"method", method}, {"params", {{"x", 1}}}});
    const Json question = client.heard(method);
    EXPECT_EQ(question["params"]["x"], 1);
    client.send(Json{{"jsonrpc", "2.0"},
                     {"id", question["id"]},
                     {"error", {{"code", -1}, {"message", "the user refused"}}}}
                    .dump());
    EXPECT_THAT(text_of(client.answer(1)["result"]), HasSubstr("the user refused"));
  }
}

TEST(Session, WhatTheClientHasSetUpIsSetUpAgain) {
  ScriptedClient client({.command = fake({"--everything"})});
  client.open();
  client.request(1, "logging/setLevel", {{"level", "debug"}});
  client.request(2, "resources/subscribe", {{"uri", "fake://one"}});
  client.request(3, "resources/subscribe", {{"uri", "fake://two"}});
  client.request(4, "resources/unsubscribe", {{"uri", "fake://one"}});
  client.answer(4);
  client.text_of_call("sitter_kill");
  const Json state = client.child_state();
  EXPECT_EQ(state["level"], "debug");
  EXPECT_EQ(state["subscriptions"], Json::array({"fake://two"}));
}

TEST(Session, NoticeWaitsUntilTheClientHasTheNewList) {
  TemporaryDirectory directory;
  const std::string file =
      directory.write("tools.json", R"json([{"name":"old","inputSchema":{"type":"object"}}])json");
  ScriptedClient client({.command = fake({"--tools", file})});
  client.open();
  client.request(1, "tools/list");
  client.answer(1);
  client.text_of_call("sitter_kill");
  directory.write("tools.json", R"json([{"name":"new","inputSchema":{"type":"object"}}])json");
  client.call(2, "new");
  client.heard("notifications/tools/list_changed");
  client.request(3, "tools/list");
  EXPECT_THAT(names_of(client.answer(3)["result"]["tools"]), Contains("new"));
  EXPECT_FALSE(client.has_heard("answer 2"));
  EXPECT_THAT(text_of(client.answer(2)["result"]),
              HasSubstr("tools: +1 added (new), -1 removed (old)."));
}

TEST(Session, NoNoticeIsWrittenIfTheUserDoesNotWantIt) {
  ScriptedClient client({.options = {"--no-notice"}});
  client.open();
  client.text_of_call("sitter_kill");
  EXPECT_EQ(client.text_of_call("echo", {{"text", "plain"}}), "plain");
  EXPECT_EQ(client.status()["spawnCount"], 2);
}

TEST(Session, BuiltInToolsAnswerWhileACallHangs) {
  ScriptedClient client;
  client.open();
  client.call(1, "hang");
  EXPECT_EQ(client.status()["requestsInFlight"], 1);
  client.notify("notifications/cancelled", {{"requestId", 1}});
  EXPECT_EQ(client.child_state()["cancelled"], Json::array({1}));
  EXPECT_EQ(client.end(), 0);
  EXPECT_FALSE(client.has_heard("answer 1"));
}

}  // namespace
}  // namespace sitter::testing
