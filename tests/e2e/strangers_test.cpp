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

namespace fs = std::filesystem;

using ::testing::HasSubstr;
using ::testing::Not;

/// Files that sitter_kill may look for. All of them are copies, even the shells, so that nobody
/// else on this machine runs them. No server here may run a shell of the system, because a wrong
/// kill would end every process that runs it.
class Strangers : public ::testing::Test {
 protected:
  /// Waits until a process that the bridge did not start can be found.
  static bool runs(const Program& stranger, const std::string& program) {
    return eventually([&] { return command_line_of(stranger.pid()).starts_with(program + " "); });
  }

  Json kill(ScriptedClient& client, const Json& arguments = Json::object()) {
    return Json::parse(client.text_of_call("sitter_kill", arguments), nullptr, false);
  }

  static bool names(const Json& report, long pid) {
    for (const Json& killed : report.value("killed", Json::array())) {
      if (killed["pid"] == pid && killed["relation"] == "same-path") return true;
    }
    return false;
  }

  TemporaryDirectory directory_;
  const std::string server_ = directory_.copy_program("server", fake_mcp());
};

/// Programs that count as interpreters because of their names. macOS runs no copies of its own
/// programs, and a kill of a shell in use would end too much.
class StrangersOfAnInterpreter : public Strangers {
 protected:
  void SetUp() override {
    if (!kIsLinux) GTEST_SKIP() << "no interpreter can be copied";
    shell_ = directory_.copy_program("sh", "/bin/sh");
  }
  std::string shell_;
};

TEST_F(Strangers, OthersThatRunTheSameFileAreTakenDown) {
  Program stranger({.command = {server_, "--ignore-eof"}});
  Program stubborn({.command = {server_, "--ignore-eof", "--ignore-term"}});
  ASSERT_TRUE(runs(stranger, server_) && runs(stubborn, server_));
  ScriptedClient client({.command = {server_}});
  client.open();
  const Json report = kill(client);
  EXPECT_EQ(report["count"], 3) << report.dump();
  EXPECT_TRUE(names(report, stranger.pid()));
  EXPECT_TRUE(names(report, stubborn.pid()));
  EXPECT_EQ(report["path"], server_);
  EXPECT_EQ(stranger.wait(), 128 + SIGTERM);
  EXPECT_EQ(stubborn.wait(), 128 + SIGKILL);
}

TEST_F(Strangers, AreTakenDownAlsoBeforeTheFirstStart) {
  Program stranger({.command = {server_, "--ignore-eof"}});
  ASSERT_TRUE(runs(stranger, server_));
  ScriptedClient client({.command = {server_}});
  const Json report = kill(client);
  EXPECT_EQ(report["count"], 1) << report.dump();
  EXPECT_TRUE(names(report, stranger.pid()));
  EXPECT_EQ(stranger.wait(), 128 + SIGTERM);
}

TEST_F(Strangers, AreSparedWithTheScopeChild) {
  Program stranger({.command = {server_, "--ignore-eof"}});
  ASSERT_TRUE(runs(stranger, server_));
  ScriptedClient client({.command = {server_}});
  client.open();
  EXPECT_EQ(kill(client, {{"scope", "child"}})["count"], 1);
  EXPECT_TRUE(is_alive(stranger.pid()));
}

TEST_F(Strangers, AreFoundThroughLinksAndPath) {
  const std::string hard = directory_ / "hard";
  const std::string soft = directory_ / "soft";
  fs::create_hard_link(server_, hard);
  fs::create_symlink(server_, soft);
  for (const std::string& command : {hard, soft, std::string("soft")}) {
    Program by_hard_link({.command = {hard, "--ignore-eof"}});
    Program by_its_name({.command = {server_, "--ignore-eof"}});
    ASSERT_TRUE(runs(by_hard_link, hard) && runs(by_its_name, server_));
    ScriptedClient client(
        {.options = {"--env", "PATH=" + directory_.path()}, .command = {command}});
    client.open();
    EXPECT_EQ(kill(client)["count"], 3) << command;
    EXPECT_EQ(by_hard_link.wait(), 128 + SIGTERM);
    EXPECT_EQ(by_its_name.wait(), 128 + SIGTERM);
  }
}

TEST_F(Strangers, AreFoundWhenTheFileWasReplaced) {
  Program old({.command = {server_, "--ignore-eof"}});
  ASSERT_TRUE(runs(old, server_));
  ScriptedClient client({.command = {server_}});
  client.open();
  directory_.copy_program("new", fake_mcp());
  fs::rename(directory_ / "new", server_);
  EXPECT_EQ(client.status()["binaryStale"], true);
  EXPECT_TRUE(names(kill(client), old.pid()));
  EXPECT_EQ(old.wait(), 128 + SIGTERM);
  EXPECT_THAT(client.text_of_call("echo", {{"text", "new"}}), HasSubstr("new"));
  EXPECT_EQ(client.status()["binaryStale"], false);
}

TEST_F(Strangers, AreFoundWhenTheFileWasDeleted) {
  Program old({.command = {server_, "--ignore-eof"}});
  ASSERT_TRUE(runs(old, server_));
  ScriptedClient client({.command = {server_}});
  client.open();
  fs::remove(server_);
  EXPECT_TRUE(names(kill(client), old.pid()));
  EXPECT_EQ(old.wait(), 128 + SIGTERM);
}

TEST_F(Strangers, WithANameThatDiffersOnlyInCaseSurvive) {
  if (fs::exists(directory_ / "SERVER")) GTEST_SKIP() << "here, both names are one file";
  const std::string other = directory_.copy_program("SERVER", fake_mcp());
  Program stranger({.command = {other, "--ignore-eof"}});
  ASSERT_TRUE(runs(stranger, other));
  ScriptedClient client({.command = {server_}});
  client.open();
  EXPECT_EQ(kill(client)["count"], 1);
  EXPECT_TRUE(is_alive(stranger.pid()));
}

TEST_F(StrangersOfAnInterpreter, Survive) {
  const std::string node = directory_.copy_program("node", "/bin/sh");
  const std::string script = directory_.write("server.js", fake_in_shell() + "\nexit 1\n");
  for (const std::string& interpreter : {shell_, node}) {
    Program stranger({.command = {interpreter, "-c", "read line; exit 0"}});
    ASSERT_TRUE(runs(stranger, interpreter));
    ScriptedClient other({.command = {interpreter, script}});
    other.open();
    const long others_child = other.child_pid();
    ScriptedClient client({.command = {interpreter, script}});
    client.open();
    // The kill ends the interpreter and the server below it.
    EXPECT_EQ(kill(client)["count"], 2);
    EXPECT_TRUE(is_alive(stranger.pid()));
    EXPECT_EQ(other.child_pid(), others_child);
    EXPECT_EQ(client.status()["binaryPath"], script);
  }
}

TEST_F(StrangersOfAnInterpreter, AreNamedAndEndOnlyWhereTheUserHasAllowedIt) {
  const std::string inner = directory_.write("inner.js", fake_in_shell() + "\nexit 1\n");
  const std::string script = directory_.write("server.js", shell_ + " " + inner + "\nexit 1\n");
  Program stranger({.command = {shell_, "-c", "read line; exit 0"}});
  ASSERT_TRUE(runs(stranger, shell_));
  const Json same = {{"scope", "same-executable"}};
  ScriptedClient client({.command = {shell_, script}});
  for (const bool is_running : {false, true}) {
    if (is_running) client.open();
    const Json refusal = client.result_of("sitter_kill", same);
    EXPECT_TRUE(refusal.value("isError", false));
    EXPECT_THAT(text_of(refusal), HasSubstr("every process that runs " + shell_ + ", which other"));
    EXPECT_THAT(text_of(refusal), HasSubstr(std::to_string(stranger.pid()) + " " + shell_));
    EXPECT_THAT(text_of(refusal), Not(HasSubstr(inner)));
    EXPECT_EQ(client.status()["childAlive"], is_running);
  }
  EXPECT_EQ(client.end(), 0);
  EXPECT_TRUE(is_alive(stranger.pid()));

  ScriptedClient allowed({.options = {"--allow-wide-kill"}, .command = {shell_, script}});
  allowed.open();
  EXPECT_TRUE(names(kill(allowed, same), stranger.pid()));
  EXPECT_EQ(stranger.wait(), 128 + SIGTERM);
}

TEST_F(StrangersOfAnInterpreter, DoNotEndBehindAShellButStrangersOfTheProgramDo) {
  for (const std::vector<std::string>& options :
       {std::vector<std::string>(), {"--allow-wide-kill"}}) {
    Program of_shell({.command = {shell_, "-c", "read line; exit 0"}});
    Program of_server({.command = {server_, "--ignore-eof"}});
    ASSERT_TRUE(runs(of_shell, shell_) && runs(of_server, server_));
    ScriptedClient client({.options = options, .command = {shell_, "-c", server_ + "; true"}});
    client.open();
    const Json report = kill(client, {{"scope", "same-executable"}});
    EXPECT_EQ(report["count"], 3) << report.dump();
    EXPECT_TRUE(names(report, of_server.pid()));
    EXPECT_EQ(report["path"], server_);
    EXPECT_EQ(of_server.wait(), 128 + SIGTERM);
    EXPECT_TRUE(is_alive(of_shell.pid()));
  }
}

TEST_F(Strangers, ABridgeIsNeverItsOwnTarget) {
  // A bridge stands behind another bridge of the same file. The client talks to the outer bridge.
  const std::string bridge = directory_.copy_program("mcp-sitter", sitter_program());
  ScriptedClient client({.command = {bridge, "--", bridge, "--", fake_mcp()}});
  client.open();
  client.request(1, "tools/list");
  client.answer(1);
  const Json report = Json::parse(client.text_of_call("outer_sitter_kill"));
  // The kill ends the inner bridge, its keeper and the server.
  EXPECT_EQ(report["count"], 3) << report.dump();
  EXPECT_THAT(client.text_of_call("echo", {{"text", "up"}}), HasSubstr("up"));
  EXPECT_EQ(Json::parse(client.text_of_call("outer_outer_sitter_status"))["spawnCount"], 1);
}

TEST_F(Strangers, KillLeavesTheFileFreeToBeWritten) {
  ScriptedClient client({.command = {server_, "--ignore-eof"}});
  client.open();
  kill(client);
  // A file can't be opened for writing while a process runs it.
  std::ofstream file(server_, std::ios::app);
  EXPECT_TRUE(file.is_open());
}

}  // namespace
}  // namespace sitter::testing
