#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstddef>
#include <filesystem>
#include <string>

#include "support/cli_tool.hpp"
#include "support/processes.hpp"

namespace sitter::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using Cli = CliToolTest;

TEST_F(Cli, ACallRunsTheTool) {
  write(tool("add", R"json("cli_command":["add","{text}"])json"), "printf '[%s]' \"$@\"");
  ScriptedClient client(setup());
  EXPECT_EQ(client.open()["serverInfo"]["name"], "tool");
  client.request(1, "tools/list");
  const Json listed = client.answer(1)["result"]["tools"];
  EXPECT_EQ(listed[0]["name"], "add");
  EXPECT_FALSE(listed[0].contains("cli_command"));
  EXPECT_EQ(client.text_of_call("add", {{"text", "milk"}}), "[add][milk]");
  EXPECT_EQ(client.end(), 0);
}

TEST_F(Cli, TheStatelessRevisionIsServedToo) {
  write(tool("add", R"json("cli_command":["{text}"])json"), "printf '[%s]' \"$@\"");
  ScriptedClient client(setup());
  client.speak_stateless();
  client.request(1, "server/discover");
  EXPECT_EQ(client.answer(1)["result"]["supportedVersions"][0], "2026-07-28");
  client.request(2, "tools/list");
  EXPECT_EQ(client.answer(2)["result"]["tools"][0]["name"], "add");
  EXPECT_EQ(client.text_of_call("add", {{"text", "milk"}}), "[milk]");
}

TEST_F(Cli, AStatelessClientThatListensIsToldOfAnotherDescription) {
  write(tool("add", R"json("cli_command":["{text}"])json"), "");
  ScriptedClient client(setup());
  client.speak_stateless();
  client.request(1, "subscriptions/listen", {{"notifications", {{"toolsListChanged", true}}}});
  client.heard("notifications/subscriptions/acknowledged");
  write(tool("drop", R"json("cli_command":["{text}"])json"), "");
  const Json told = client.heard("notifications/tools/list_changed");
  EXPECT_EQ(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
}

TEST_F(Cli, WhatAnArgumentContainsIsNeverInterpreted) {
  write(tool("show", R"json("cli_command":["--","{text}"])json"), "shift; printf '%s' \"$1\"");
  ScriptedClient client(setup());
  client.open();
  for (const std::string text :
       {"-x", "--", "$(exit 3)", "`id`", "a\nb", "'\"\\", "*", "{text}", "\xc3\xbc"}) {
    EXPECT_EQ(client.text_of_call("show", {{"text", text}}), text);
  }
  EXPECT_THAT(client.text_of_call("show", {{"text", std::string("a\0b", 3)}}),
              HasSubstr("has a NUL character"));
  EXPECT_THAT(client.text_of_call("show", {{"text", std::string(200'000, 'x')}}),
              HasSubstr("makes a word of 200000 bytes"));
}

TEST_F(Cli, StdinMayBeLarge) {
  write(tool("count", R"json("cli_command":["count"],"stdin":"{text}")json"),
        "wc -c | tr -d ' \\n'");
  ScriptedClient client(setup());
  client.open();
  EXPECT_EQ(client.text_of_call("count", {{"text", std::string(1'000'000, 'x')}}), "1000000");
  EXPECT_EQ(client.text_of_call("count"), "0");
}

TEST_F(Cli, ACommandThatDoesNotReadItsStdinIsNoFailure) {
  write(tool("ignore", R"json("cli_command":["ignore"],"stdin":"{text}")json"),
        "exec <&-; printf done");
  ScriptedClient client(setup());
  client.open();
  EXPECT_EQ(client.text_of_call("ignore", {{"text", std::string(1'000'000, 'x')}}), "done");
}

TEST_F(Cli, TheEnvironmentAndTheDirectoryAreThoseOfTheTool) {
  directory_.write("sub/file", "");
  write(tool("where", R"json("cli_command":["where"],"env":{"NAME":"<{text}>"},"cwd":"sub")json"),
        "printf '%s %s' \"$NAME\" \"$(ls)\"");
  ScriptedClient client(setup());
  client.open();
  EXPECT_EQ(client.text_of_call("where", {{"text", "a b"}}), "<a b> file");
}

TEST_F(Cli, AFailureShowsTheEndOfTheStderr) {
  write(tool("fail", R"json("cli_command":["fail"])json"),
        "echo half; echo 'no such note' >&2; exit 4");
  ScriptedClient client(setup());
  client.open();
  const Json result = client.result_of("fail");
  EXPECT_EQ(result["isError"], true);
  EXPECT_EQ(text_of(result),
            "half\n\n[mcp-sitter] the command of `fail` has failed: exit 4; its "
            "stderr says:\nno such note");
  EXPECT_EQ(client.text_of_call("sitter_child_stderr"), "[fail] no such note");
}

TEST_F(Cli, AnEditOfTheDescriptionIsTold) {
  write(tool("add", R"json("cli_command":["{text}"])json"), "printf '[%s]' \"$@\"");
  ScriptedClient client(setup());
  client.open();
  client.request(1, "tools/list");
  client.answer(1);
  write(tool("add", R"json("cli_command":["{text}"])json") + "," +
            tool("drop", R"json("cli_command":["drop"])json"),
        "printf '<%s>' \"$@\"");
  client.heard("notifications/tools/list_changed");
  client.request(2, "tools/list");
  client.answer(2);
  EXPECT_THAT(client.text_of_call("drop"),
              AllOf(StartsWith("[mcp-sitter] tools read again (#2)."), HasSubstr("+1 added (drop)"),
                    HasSubstr("<drop>")));
  EXPECT_EQ(client.text_of_call("drop"), "<drop>");
}

TEST_F(Cli, ADescriptionDoesNotWaitForTheCallsOfTheOnesBefore) {
  std::string tools =
      R"json({"name":"hang","timeout":80,"cli_command":["-c","echo begun >&2; while ! test -e go; do sleep 0.01; done; printf done"]})json";
  directory_.write("tools.json", "[" + tools + "]");
  ScriptedClient client(
      {.options = {"--cli", "sh", "--schema-file", "tools.json", "--debounce", "0"},
       .command = {},
       .cwd = directory_.path()});
  client.open();
  client.call(1, "hang");
  ASSERT_TRUE(client.program().shows_error("begun"));
  for (const std::string name : {"one", "two", "three"}) {
    tools += "," + tool(name, R"json("cli_command":["-c","printf )json" + name + "\"]");
    std::filesystem::rename(directory_.write("new.json", "[" + tools + "]"),
                            directory_ / "tools.json");
    client.heard("notifications/tools/list_changed");
    EXPECT_THAT(client.text_of_call(name), HasSubstr(name));
  }
  directory_.write("go", "");
  EXPECT_EQ(text_of(client.answer(1)["result"]), "done");
}

TEST_F(Cli, ADescriptionThatCannotBeReadLeavesTheLastOne) {
  write(tool("add", R"json("cli_command":["{text}"])json"), "printf '[%s]' \"$@\"");
  ScriptedClient client(setup());
  client.open();
  write(tool("add", R"json("cli_command":["{txt}"])json"), "printf '[%s]' \"$@\"");
  ASSERT_TRUE(client.program().shows_error("cli_command has {txt}"));
  EXPECT_THAT(client.text_of_call("add", {{"text", "milk"}}),
              AllOf(HasSubstr("tool `add`: cli_command has {txt}, and the parameters have text"),
                    HasSubstr("[milk]")));
  EXPECT_EQ(client.text_of_call("add", {{"text", "milk"}}), "[milk]");
}

TEST_F(Cli, ACallOfAnUnknownToolReadsTheDescriptionAgain) {
  write(tool("add", R"json("cli_command":["{text}"])json"), "printf '[%s]' \"$@\"");
  // The tool's own file is not watched then.
  ScriptedClient client(setup({"--watch", "sources"}));
  client.open();
  EXPECT_EQ(client.text_of_call("add", {{"text", "milk"}}), "[milk]");
  write(tool("new", R"json("cli_command":["new"])json"), "printf '[%s]' \"$@\"");
  EXPECT_THAT(client.text_of_call("new"), HasSubstr("[new]"));
  client.call(5, "never");
  EXPECT_EQ(client.answer(5)["error"]["code"], -32602);
}

TEST_F(Cli, TheSessionOpensWithoutADescription) {
  directory_.write_script("tool", "echo 'not yet' >&2; exit 1");
  ScriptedClient client(setup());
  EXPECT_THAT(client.open()["instructions"].get<std::string>(),
              AllOf(HasSubstr("schema --json has failed: exit 1"), HasSubstr("not yet")));
  EXPECT_THAT(client.status()["summary"].get<std::string>(), HasSubstr("exit 1"));
  write(tool("add", R"json("cli_command":["{text}"])json"), "printf '[%s]' \"$@\"");
  EXPECT_THAT(client.text_of_call("add", {{"text", "milk"}}), HasSubstr("[milk]"));
}

TEST_F(Cli, AToolThatDoesNotExistYetIsBuilt) {
  write(tool("add", R"json("cli_command":["{text}"])json"), "printf '[%s]' \"$@\"");
  ScriptedClient client({.options = {"--cli", "./built", "--build", "cp tool built"},
                         .command = {},
                         .cwd = directory_.path()});
  client.open();
  EXPECT_EQ(client.text_of_call("add", {{"text", "milk"}}), "[milk]");
}

/// A command that hangs, with a process of its own.
constexpr const char* kHangs = "sleep 1000 & sleep 1000 & echo begun >&2; wait";

TEST_F(Cli, AKillEndsTheRunningCalls) {
  write(tool("hang", R"json("cli_command":["hang"])json"), kHangs);
  ScriptedClient client(setup());
  client.open();
  const std::size_t before = client.living().size();
  client.call(1, "hang");
  ASSERT_TRUE(client.program().shows_error("begun"));
  const Json report = Json::parse(client.text_of_call("sitter_kill"));
  EXPECT_EQ(report["count"], 3);
  EXPECT_EQ(report["killed"][0]["how"], "SIGTERM");
  EXPECT_THAT(text_of(client.answer(1)["result"]), HasSubstr("killed by sitter_kill"));
  EXPECT_EQ(client.living().size(), before);
  const Json status = client.status();
  EXPECT_THAT(status["summary"].get<std::string>(),
              StartsWith("No description of the tool is in use; just now, the server was killed"));
  EXPECT_FALSE(status["history"][0].contains("exit"));
}

TEST_F(Cli, ACancelledCallEnds) {
  write(tool("hang", R"json("cli_command":["hang"])json") + "," +
            tool("add", R"json("cli_command":["add"])json"),
        std::string("test \"$1\" = hang || exit 0\n") + kHangs);
  ScriptedClient client(setup({"--max-calls", "1"}));
  client.open();
  client.send(R"json({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hang"}})json");
  ASSERT_TRUE(client.program().shows_error("begun"));
  client.notify("notifications/cancelled", {{"requestId", 1}});
  // The next call has its turn when the first one is over.
  EXPECT_EQ(client.text_of_call("add"), "");
}

TEST_F(Cli, AKillEndsTheDaemonsOfARunningCall) {
  write(tool("hang", R"json("cli_command":["hang"])json"),
        "setsid " + fake_in_shell("--ignore-eof") + "& (setsid " + fake_in_shell("--ignore-eof") +
            "&); echo begun >&2; wait");
  ScriptedClient client(setup());
  client.open();
  const std::size_t before = client.living().size();
  client.call(1, "hang");
  ASSERT_TRUE(client.program().shows_error("begun"));
  client.text_of_call("sitter_kill");
  client.answer(1);
  EXPECT_TRUE(eventually([&] { return client.living().size() == before; }));
}

TEST_F(Cli, TheToolIsFoundFromItsOwnDirectoryWithTheMemberCwd) {
  directory_.write("sub/file", "");
  write(tool("where", R"json("cli_command":["where"],"cwd":"{text}")json"), "ls");
  for (const char* const cli : {"./tool", "sh tool"}) {
    ScriptedClient client({.options = {"--cli", cli}, .command = {}, .cwd = directory_.path()});
    client.open();
    EXPECT_EQ(client.text_of_call("where", {{"text", "sub"}}), "file\n");
    EXPECT_THAT(client.text_of_call("where", {{"text", "no"}}),
                AllOf(HasSubstr("/no (the member cwd in the description) can't be used"),
                      HasSubstr("does not exist")));
  }
}

TEST_F(Cli, ACallOfAnUnknownToolIsAnsweredBehindTheEndOfTheInput) {
  directory_.write_script("tool", "while ! test -e go; do sleep 0.01; done; echo '[]'");
  ScriptedClient client(setup());
  client.begin_opening();
  client.notify("notifications/initialized");
  client.call(1, "never");
  client.program().close_input();
  directory_.write("go", "");
  EXPECT_EQ(client.answer(1)["error"]["message"], "Unknown tool: never");
  EXPECT_EQ(client.end(), 0);
}

TEST_F(Cli, ACallHasALimitOfTime) {
  write(tool("hang", R"json("cli_command":["hang"],"timeout":1)json"), kHangs);
  ScriptedClient client(setup());
  client.open();
  EXPECT_THAT(client.text_of_call("hang"),
              AllOf(HasSubstr("was ended, since it had not ended after 1 s"), HasSubstr("begun")));
}

TEST_F(Cli, AToolThatDoesNotDescribeItselfIsEndedByAKill) {
  directory_.write_script("tool", kHangs);
  ScriptedClient client(setup({"--answer-within", "0"}));
  client.open();
  ASSERT_TRUE(client.program().shows_error("begun"));
  EXPECT_EQ(Json::parse(client.text_of_call("sitter_kill"))["count"], 3);
  EXPECT_THAT(client.status()["lastKillReason"], "sitter_kill");
}

TEST_F(Cli, AToolThatDoesNotDescribeItselfIsEndedWithTheSession) {
  directory_.write_script("tool", kHangs);
  ScriptedClient client(setup({"--answer-within", "0"}));
  client.open();
  ASSERT_TRUE(client.program().shows_error("begun"));
  // Sooner than the limit of a description.
  EXPECT_EQ(client.end(), 0);
  EXPECT_TRUE(client.leaves_nothing());
  EXPECT_THAT(client.program().error_text(), Not(HasSubstr("schema --json has not ended within")));
}

TEST_F(Cli, TheEndOfTheSessionLeavesNoRun) {
  write(tool("hang", R"json("cli_command":["hang"])json"), kHangs);
  ScriptedClient client(setup());
  client.open();
  client.call(1, "hang");
  ASSERT_TRUE(client.program().shows_error("begun"));
  client.program().signal(SIGTERM);
  client.answer(1);
  EXPECT_TRUE(client.leaves_nothing());
}

TEST_F(Cli, AFileMayDescribeTheTool) {
  directory_.write("tools.json",
                   R"json({"tools":[{"name":"hello","cli_command":["-c","printf hello"]}]})json");
  ScriptedClient client({.options = {"--cli", "sh", "--schema-file", "tools.json"},
                         .command = {},
                         .cwd = directory_.path()});
  client.open();
  EXPECT_EQ(client.text_of_call("hello"), "hello");
}

TEST_F(Cli, TheToolMayHaveWordsOfItsOwn) {
  write(tool("add", R"json("cli_command":["{text}"])json"), "printf '[%s]' \"$@\"");
  ScriptedClient client(
      {.options = {"--cli", "sh './tool'"}, .command = {}, .cwd = directory_.path()});
  client.open();
  EXPECT_EQ(client.text_of_call("add", {{"text", "milk"}}), "[milk]");
}

}  // namespace
}  // namespace sitter::testing
