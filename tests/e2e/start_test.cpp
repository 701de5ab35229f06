#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
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
using ::testing::StartsWith;

/// Checks what the client learns about a server that can't be started, in the opening and from the
/// built-in tools.
void expect_told_why(ScriptedClient& client, const std::string& why) {
  const Json opened = client.open();
  EXPECT_EQ(opened["serverInfo"]["name"], "mcp-sitter");
  EXPECT_EQ(opened["protocolVersion"], "2025-11-25");
  EXPECT_EQ(opened["capabilities"]["tools"]["listChanged"], true);
  EXPECT_THAT(opened.value("instructions", ""), HasSubstr(why));
  const Json result = client.result_of("echo");
  EXPECT_EQ(result["isError"], true);
  EXPECT_THAT(text_of(result), HasSubstr(why));
  EXPECT_THAT(client.status()["lastFailure"]["what"].get<std::string>(), HasSubstr(why));
  client.request(1, "tools/list");
  EXPECT_EQ(client.answer(1)["result"]["tools"].size(), 4);
  client.request(2, "prompts/get", {{"name", "greet"}});
  EXPECT_THAT(client.answer(2)["error"]["message"], HasSubstr(why));
}

TEST(Start, CommandThatIsMissing) {
  TemporaryDirectory directory;
  ScriptedClient client({.command = {directory / "server"}});
  expect_told_why(client, "no such file");
}

TEST(Start, CommandThatIsNotInPath) {
  ScriptedClient client({.options = {"--env", "PATH=/nowhere:/neither"}, .command = {"my-server"}});
  expect_told_why(client, "'my-server' was not found in PATH (/nowhere:/neither)");
}

TEST(Start, CommandThatIsNotExecutable) {
  TemporaryDirectory directory;
  ScriptedClient client({.command = {directory.write("server", "#!/bin/sh\n")}});
  expect_told_why(client, "not executable");
}

TEST(Start, WorkingDirectoryThatIsGone) {
  TemporaryDirectory directory;
  const auto setup = [&](std::vector<std::string> options) {
    const std::string folder = directory / "gone";
    std::filesystem::create_directory(folder);
    options.insert(options.end(), {"--watch", "src", "--watch-binary"});
    return ScriptedClient::Setup{.options = std::move(options), .cwd = folder, .cwd_is_gone = true};
  };
  ScriptedClient client(setup({}));
  expect_told_why(client, "the bridge's working directory is gone");
  EXPECT_THAT(client.status()["watch"]["problem"].get<std::string>(), HasSubstr("is gone"));
  EXPECT_EQ(client.end(), 0);

  ScriptedClient other(setup({"--cwd", directory.path()}));
  other.open();
  EXPECT_THAT(other.text_of_call("echo", {{"text", "a"}}), HasSubstr("a"));
  EXPECT_EQ(other.status()["watch"]["problem"], Json());
  EXPECT_EQ(other.end(), 0);
}

TEST(Start, CommandThatIsADirectory) {
  TemporaryDirectory directory;
  ScriptedClient client({.command = {directory.path()}});
  expect_told_why(client, "it is a directory");
}

TEST(Start, ScriptWithoutInterpreterLine) {
  TemporaryDirectory directory;
  ScriptedClient client({.command = {directory.write("server", "echo hello\n", 0755)}});
  expect_told_why(client, "without a #! line");
}

TEST(Start, WorkingDirectoryThatDoesNotExist) {
  ScriptedClient client({.options = {"--cwd", "/no/such/directory"}});
  expect_told_why(client, "/no/such/directory (--cwd)");
}

TEST(Start, WorkingDirectoryThatIsAFile) {
  TemporaryDirectory directory;
  ScriptedClient client({.options = {"--cwd", directory.write("file", "")}});
  expect_told_why(client, "(--cwd) is not a directory");
}

TEST(Start, EnvFileThatIsMissing) {
  ScriptedClient client({.options = {"--env-file", "/no/such/file.env"}});
  expect_told_why(client, "/no/such/file.env (--env-file)");
}

TEST(Start, ChildThatExitsAtOnce) {
  ScriptedClient client({.command = fake({"--stderr", "no database", "--exit-at-start", "3"})});
  expect_told_why(client, "exit 3");
  EXPECT_THAT(client.text_of_call("echo"), HasSubstr("no database"));
}

TEST(Start, ChildThatDiesOfASignalAtOnce) {
  ScriptedClient client({.command = fake({"--signal-at-start", "SEGV"})});
  expect_told_why(client, "SIGSEGV");
}

TEST(Start, ChildThatDiesInItsHandshake) {
  ScriptedClient client({.command = fake({"--exit-on", "initialize=7"})});
  expect_told_why(client, "exit 7");
}

TEST(Start, ChildThatRefusesItsOpening) {
  ScriptedClient client({.command = fake({"--error-on", "initialize=-32603:no license"})});
  expect_told_why(client, "no license");
}

TEST(Start, ChildThatNeverAnswersItsOpening) {
  ScriptedClient client(
      {.options = {"--startup-timeout", "0.2", "--answer-within", "0.05", "--kill-grace", "20"},
       .command = fake({"--never-answer", "initialize"})});
  EXPECT_EQ(client.open()["serverInfo"]["name"], "mcp-sitter");
  EXPECT_THAT(client.text_of_call("echo"), HasSubstr("--startup-timeout"));
  EXPECT_EQ(client.status()["childAlive"], false);
}

TEST(Start, RespawnedChildThatNeverAnswersItsOpening) {
  TemporaryDirectory directory;
  const std::string server = directory.write_script(
      "server", "test -e '" + directory / "second" + "' && exec " +
                    fake_in_shell("--never-answer initialize") + "\nexec " + fake_in_shell());
  ScriptedClient client(
      {.options = {"--startup-timeout", "2", "--kill-grace", "20"}, .command = {server}});
  client.open();
  client.text_of_call("sitter_kill");
  directory.write("second", "");
  EXPECT_THAT(client.text_of_call("echo"), HasSubstr("had not answered its opening"));
  EXPECT_EQ(client.status()["childAlive"], false);
  std::filesystem::remove(directory / "second");
  EXPECT_THAT(client.text_of_call("echo", {{"text", "back"}}),
              AllOf(HasSubstr("1 start failed before this one"), HasSubstr("\nback")));
}

TEST(Start, CommandThatComesBackServesTheNextCall) {
  TemporaryDirectory directory;
  const std::string server = directory / "server";
  ScriptedClient client({.command = {server}});
  client.open();
  client.result_of("echo");
  directory.copy_program("server", fake_mcp());
  client.call(1, "echo", {{"text", "hello"}});
  client.heard("notifications/tools/list_changed");
  client.request(2, "tools/list");
  EXPECT_GT(client.answer(2)["result"]["tools"].size(), 4);
  EXPECT_THAT(text_of(client.answer(1)["result"]), HasSubstr("hello"));
}

TEST(Start, SlowChildAnswersTheOpeningItself) {
  ScriptedClient client({.command = fake({"--slow-start", "100"})});
  EXPECT_EQ(client.open()["serverInfo"]["name"], "fake-mcp");
}

TEST(Start, BuiltInToolsAnswerWhileAChildStarts) {
  ScriptedClient client({.options = {"--answer-within", "0.05", "--kill-grace", "20"},
                         .command = fake({"--slow-start", "50000"})});
  EXPECT_THAT(client.open().value("instructions", ""), HasSubstr("still starting"));
  client.call(1, "echo");
  const Json status = client.status();
  EXPECT_EQ(status["childState"], "running");
  EXPECT_EQ(status["childReady"], false);
  EXPECT_EQ(status["requestsWaiting"], 1);
  client.text_of_call("sitter_binary_info");
  client.text_of_call("sitter_child_stderr");
  EXPECT_FALSE(client.has_heard("answer 1"));
}

TEST(Start, KillInterruptsASlowStart) {
  ScriptedClient client({.options = {"--answer-within", "0.05", "--kill-grace", "20"},
                         .command = fake({"--slow-start", "50000", "--ignore-term"})});
  client.open();
  client.call(1, "echo");
  const long pid = client.child_pid();
  const Json report = Json::parse(client.text_of_call("sitter_kill"));
  EXPECT_EQ(report["killed"][0]["pid"], pid);
  EXPECT_FALSE(is_alive(pid));
  EXPECT_THAT(text_of(client.answer(1)["result"]), HasSubstr("was not delivered"));
  EXPECT_EQ(client.status()["childState"], "down");
}

TEST(Start, KillDuringTheFirstOpeningAnswersIt) {
  ScriptedClient client(
      {.options = {"--kill-grace", "20"}, .command = fake({"--slow-start", "50000"})});
  client.request(0, "initialize", {{"protocolVersion", "2025-06-18"}});
  client.call(1, "sitter_kill");
  EXPECT_THAT(client.answer(0)["result"]["instructions"], HasSubstr("killed by sitter_kill"));
  client.answer(1);
}

TEST(Start, WaitingRequestsOfASlowRespawnGoOutInOrderAndCanBeCancelled) {
  TemporaryDirectory directory;
  const std::string go = directory / "go";
  const std::string server =
      directory.write_script("server", "test -e '" + directory / "second" + "' && until test -e '" +
                                           go + "'; do sleep 0.01; done\n:>'" +
                                           directory / "second" + "'\nexec " + fake_in_shell());
  ScriptedClient client({.command = {server}});
  client.open();
  client.text_of_call("sitter_kill");
  for (int id = 1; id <= 5; ++id) client.call(id, "echo", {{"text", "n" + std::to_string(id)}});
  client.notify("notifications/cancelled", {{"requestId", 3}});
  EXPECT_EQ(client.status()["requestsWaiting"], 4);
  directory.write("go", "");
  for (int id : {1, 2, 4, 5}) {
    EXPECT_THAT(text_of(client.answer(id)["result"]), HasSubstr("n" + std::to_string(id)));
  }
  EXPECT_EQ(client.child_state()["cancelled"], Json::array());
  EXPECT_FALSE(client.has_heard("answer 3"));
}

TEST(Start, ChangedFileIsTriedWithoutWaiting) {
  TemporaryDirectory directory;
  const std::string server = directory.write_script("server", "exit 1");
  ScriptedClient client({.command = {server}});
  client.open();
  for (int id = 1; id <= 10; ++id) client.result_of("echo");
  directory.write_script("server", "exec " + fake_in_shell());
  EXPECT_THAT(client.text_of_call("echo", {{"text", "mended"}}), HasSubstr("mended"));
}

TEST(Start, RelativeCommandIsLookedUpInTheWorkingDirectoryOfTheChild) {
  TemporaryDirectory directory;
  directory.copy_program("sub/server", fake_mcp());
  ScriptedClient client(
      {.options = {"--cwd", "sub"}, .command = {"./server"}, .cwd = directory.path()});
  client.open();
  EXPECT_EQ(client.child_state()["cwd"], directory / "sub");
  EXPECT_EQ(client.status()["binaryPath"], directory / "sub/server");
  EXPECT_EQ(client.status()["workingDirectory"], "sub");
}

TEST(Start, PathIsSearchedAndNotTheCurrentDirectory) {
  TemporaryDirectory directory;
  directory.write_script("bin/server", "exec " + fake_in_shell("--name right"));
  directory.write_script("here/server", "exec " + fake_in_shell("--name wrong"));
  directory.write("first/server", "not executable");
  ScriptedClient client(
      {.options = {"--env", "PATH=" + directory / "first" + ":" + directory / "bin" + ":/bin"},
       .command = {"server"},
       .cwd = directory / "here"});
  EXPECT_EQ(client.open()["serverInfo"]["name"], "right");
}

TEST(Start, EnvFileIsReadAnewAtEveryStart) {
  TemporaryDirectory directory;
  const std::string file = directory.write("server.env", "# first\nSITTER_A=one\nSITTER_B='b b'\n");
  ScriptedClient client({.options = {"--env-file", file, "--env", "SITTER_C=x=y"}});
  client.open();
  EXPECT_EQ(client.text_of_call("env", {{"name", "SITTER_A"}}), "one");
  EXPECT_EQ(client.text_of_call("env", {{"name", "SITTER_B"}}), "b b");
  EXPECT_EQ(client.text_of_call("env", {{"name", "SITTER_C"}}), "x=y");
  directory.write("server.env", "SITTER_A=two\n");
  client.text_of_call("sitter_kill");
  EXPECT_THAT(client.text_of_call("env", {{"name", "SITTER_A"}}), HasSubstr("two"));
  std::filesystem::remove(file);
  client.text_of_call("sitter_kill");
  EXPECT_THAT(client.text_of_call("echo"), HasSubstr("(--env-file) can't be read: no such file"));
}

TEST(Start, RespawnWithAnotherProtocolVersionIsTold) {
  TemporaryDirectory directory;
  const std::string server = directory.write_script(
      "server", "test -e '" + directory / "old" + "' && exec " +
                    fake_in_shell("--protocol 2024-11-05 --server-version 0.9") + "\nexec " +
                    fake_in_shell());
  ScriptedClient client({.command = {server}});
  client.open();
  client.text_of_call("sitter_kill");
  directory.write("old", "");
  EXPECT_THAT(client.text_of_call("echo"),
              AllOf(HasSubstr("protocol version: 2025-11-25 -> 2024-11-05"),
                    HasSubstr("server: fake-mcp 1.0.0 -> fake-mcp 0.9")));
}

TEST(Start, OtherProtocolVersionOfTheFirstChildIsPassedOn) {
  ScriptedClient client({.command = fake({"--protocol", "2024-11-05"})});
  EXPECT_EQ(client.open()["protocolVersion"], "2024-11-05");
}

TEST(Start, LateAnswerOfAnOpeningNeverReachesTheClient) {
  TemporaryDirectory directory;
  const std::string server = directory.write_script(
      "server", "test -e '" + directory / "second" + "' && exec " +
                    fake_in_shell("--slow-start 2200 --ignore-eof --ignore-term") + "\nexec " +
                    fake_in_shell());
  ScriptedClient client(
      {.options = {"--startup-timeout", "2", "--kill-grace", "400"}, .command = {server}});
  client.open();
  client.text_of_call("sitter_kill");
  directory.write("second", "");
  // The child answers while it is being taken down. The scripted client fails on an answer that
  // nobody asked for.
  EXPECT_THAT(client.text_of_call("echo"), HasSubstr("had not answered its opening"));
  client.request(1, "ping");
  client.answer(1);
}

TEST(Start, SignalsThatCameBeforeTheirHandlersAreKept) {
  ScriptedClient status({.pending_signal = SIGUSR1});
  EXPECT_TRUE(status.program().shows_error("childState"));
  ScriptedClient reload({.pending_signal = SIGHUP});
  reload.open();
  EXPECT_THAT(reload.text_of_call("echo", {{"text", "a"}}), HasSubstr("a"));
  EXPECT_EQ(reload.end(), 0);
}

}  // namespace
}  // namespace sitter::testing
