#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/scripted_client.hpp"
#include "support/temporary_directory.hpp"

namespace sitter::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> stateless(std::vector<std::string> flags = {}) {
  flags.insert(flags.begin(), {"--era", "modern"});
  return fake(flags);
}

TEST(Stateless, TheFirstRequestMayBeACall) {
  ScriptedClient client({.command = stateless()});
  client.speak_stateless();
  client.call(1, "echo", {{"text", "hello"}});
  Json result = client.answer(1)["result"];
  EXPECT_EQ(result["resultType"], "complete");
  EXPECT_EQ(text_of(result), "hello");
}

TEST(Stateless, ACrashInACallIsReadAtOnceAndTheNextCallTellsOfIt) {
  ScriptedClient client({.command = stateless()});
  client.speak_stateless();
  client.text_of_call("echo", {{"text", "up"}});
  client.call(1, "hang");
  ASSERT_EQ(::kill(static_cast<pid_t>(client.child_pid()), SIGKILL), 0);
  Json report = client.answer(1)["result"];
  EXPECT_EQ(report["resultType"], "complete");
  EXPECT_EQ(report["isError"], true);
  EXPECT_THAT(text_of(report), HasSubstr("SIGKILL"));
  EXPECT_THAT(client.text_of_call("echo", {{"text", "back"}}),
              AllOf(HasSubstr("server restarted (spawn #2"), HasSubstr("back")));
}

TEST(Stateless, AServerThatHasFailedAProbeIsNotStartedForTheNext) {
  TemporaryDirectory directory;
  const std::string journal = directory / "journal";
  std::vector<std::string> command = fake({"--journal", journal});
  command.insert(command.begin(), sitter_program());
  const auto probe = [&] {
    Program bridge({.command = command, .environment = {"XDG_CACHE_HOME=" + directory.path()}});
    bridge.write(
        R"json({"jsonrpc":"2.0","id":"p","method":"server/discover","params":{"_meta":{)json"
        R"json("io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})json"
        "\n");
    return Json::parse(bridge.read_line().value_or(""))["error"]["code"];
  };
  EXPECT_EQ(probe(), -32601);
  const std::string asked = contents_of(journal);
  EXPECT_THAT(asked, HasSubstr("server/discover"));
  EXPECT_EQ(probe(), -32601);
  EXPECT_EQ(contents_of(journal), asked);
}

TEST(Stateless, OurOwnRequestsCarryTheClientsEnvelope) {
  ScriptedClient client({.command = stateless()});
  client.speak_stateless();
  // The first request of the client goes out before the bridge's own requests.
  client.text_of_call("echo", {{"text", "up"}});
  Json state = client.child_state();
  EXPECT_EQ(state["envelopes"]["tools/list"], state["lastEnvelope"]) << state.dump();
  EXPECT_THAT(state["methods"], Not(Contains("initialize")));
}

TEST(Stateless, AStreamOutlivesTheChild) {
  TemporaryDirectory directory;
  const std::string tools =
      directory.write("tools.json", R"json([{"name":"one","inputSchema":{"type":"object"}}])json");
  ScriptedClient client({.command = stateless({"--tools", tools})});
  client.speak_stateless();
  client.request("s", "subscriptions/listen", {{"notifications", {{"toolsListChanged", true}}}});
  const std::string subscription = "io.modelcontextprotocol/subscriptionId";
  EXPECT_EQ(
      client.heard("notifications/subscriptions/acknowledged")["params"]["_meta"][subscription],
      "s");
  // Later changes are compared with this list.
  client.request(9, "tools/list");
  client.answer(9);
  client.text_of_call("echo", {{"text", "up"}});
  client.text_of_call("sitter_kill", {{"scope", "child"}});
  directory.write("tools.json", R"json([{"name":"two","inputSchema":{"type":"object"}}])json");
  client.call(1, "echo", {{"text", "hello"}});
  EXPECT_EQ(client.heard("notifications/tools/list_changed")["params"]["_meta"][subscription], "s");
  client.request(2, "tools/list");
  EXPECT_THAT(client.answer(2)["result"].dump(), HasSubstr("\"two\""));
  EXPECT_THAT(text_of(client.answer(1)["result"]), HasSubstr("+1 added (two), -1 removed (one)"));
  Json state = client.child_state();
  EXPECT_THAT(state["listens"], Contains("s")) << state.dump();
  EXPECT_EQ(std::count(client.order().begin(), client.order().end(),
                       "notifications/subscriptions/acknowledged"),
            1);
  client.notify("notifications/cancelled", {{"requestId", "s"}});
  EXPECT_EQ(client.child_state()["listens"], Json::array());
  client.owe("s");
}

TEST(Stateless, AServerThatExitsOnAProbeIsOpenedAfresh) {
  ScriptedClient client({.command = fake({"--exit-on", "server/discover=1"})});
  client.speak_stateless();
  client.request("p", "server/discover");
  EXPECT_EQ(client.answer("p")["error"]["code"], -32601);
  client.send(R"json({"jsonrpc":"2.0","id":0,"method":"initialize","params":)json"
              R"json({"protocolVersion":"2025-11-25","capabilities":{},)json"
              R"json("clientInfo":{"name":"script","version":"1"}}})json");
  client.owe(0);
  EXPECT_EQ(client.answer(0)["result"]["serverInfo"]["name"], "fake-mcp");
}

TEST(Stateless, ARebuildThatChangesTheEraIsSaidInSoManyWords) {
  TemporaryDirectory directory;
  const std::string era = directory.write("era", "modern");
  ScriptedClient client(
      {.command = {"sh", "-c",
                   "exec " + fake_in_shell("--strict --era \"$(cat '" + era + "')\"")}});
  client.speak_stateless();
  client.text_of_call("echo", {{"text", "up"}});
  client.text_of_call("sitter_kill", {{"scope", "child"}});
  directory.write("era", "legacy");
  client.call(1, "echo", {{"text", "hello"}});
  EXPECT_THAT(text_of(client.answer(1)["result"]),
              AllOf(HasSubstr("opens with initialize"), HasSubstr("reconnect")));
}

TEST(Stateless, ARebuiltServerThatSaysNothingIsTakenDownWithTheReason) {
  TemporaryDirectory directory;
  const std::string flags = directory.write("flags", "--era modern");
  ScriptedClient client(
      {.options = {"--startup-timeout", "0.2", "--kill-grace", "20"},
       .command = {"sh", "-c", "exec " + fake_in_shell("$(cat '" + flags + "')")}});
  client.speak_stateless();
  client.text_of_call("echo", {{"text", "up"}});
  client.text_of_call("sitter_kill", {{"scope", "child"}});
  directory.write("flags",
                  "--never-answer tools/list --never-answer prompts/list "
                  "--never-answer resources/list --never-answer tools/call");
  client.call(1, "echo", {{"text", "hello"}});
  EXPECT_THAT(
      text_of(client.answer(1)["result"]),
      AllOf(HasSubstr("said nothing"), HasSubstr("--startup-timeout"), HasSubstr("reconnect")));
}

TEST(Stateless, ABatchIsAnsweredInOneArray) {
  ScriptedClient client({.command = fake({"--protocol", "2025-03-26"})});
  client.open("2025-03-26");
  client.program().write(
      R"json([{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"tools/call",)json"
      R"json("params":{"name":"echo","arguments":{"text":"hello"}}}])json"
      "\n");
  const Json answers = Json::parse(client.program().read_line().value_or(""), nullptr, false);
  ASSERT_EQ(answers.size(), 2u) << answers.dump();
  EXPECT_EQ(answers[0]["id"], 1);
  EXPECT_EQ(text_of(answers[1]["result"]), "hello");
}

}  // namespace
}  // namespace sitter::testing
