#include "support/strangers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace sitter::testing {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(Strangers, EndIfTheyRunTheSameCommandAndAreNamedOtherwise) {
  Program leftover({.command = {server_, "--ignore-eof"}});
  Program other({.command = {server_, "--ignore-eof", "--ignore-term"}});
  ASSERT_TRUE(runs(leftover, server_) && runs(other, server_));
  ScriptedClient client({.options = {"--kill-grace", "50"}, .command = {server_, "--ignore-eof"}});
  client.open();
  const Json report = kill(client);
  EXPECT_EQ(report["count"], 2) << report.dump();
  EXPECT_TRUE(names(report, leftover.pid()));
  EXPECT_EQ(report["path"], server_);
  EXPECT_EQ(leftover.wait(), 128 + SIGTERM);
  ASSERT_EQ(report.value("leftAlone", Json()).size(), 1) << report.dump();
  EXPECT_EQ(report["leftAlone"][0]["pid"], other.pid());
  EXPECT_TRUE(is_alive(other.pid()));
  EXPECT_TRUE(names(kill(client, {{"scope", "same-executable"}}), other.pid()));
  EXPECT_EQ(other.wait(), 128 + SIGKILL);
}

TEST_F(Strangers, TheServerOfAnotherSessionEndsOnlyOnRequestAndItsClientReadsWhy) {
  const TemporaryDirectory runtime;
  const ScriptedClient::Setup setup = {.options = {"--kill-grace", "50"},
                                       .command = {server_, "--ignore-eof"},
                                       .environment = {"XDG_RUNTIME_DIR=" + runtime.path()}};
  ScriptedClient other(setup);
  other.open();
  const long others_child = other.child_pid();
  other.call(1, "hang");
  ScriptedClient client(setup);
  client.open();
  const Json spared = kill(client);
  EXPECT_EQ(spared["count"], 1) << spared.dump();
  EXPECT_THAT(spared.dump(), HasSubstr(std::to_string(other.program().pid())));
  EXPECT_TRUE(is_alive(others_child));

  EXPECT_TRUE(names(kill(client, {{"scope", "same-executable"}}), others_child));
  EXPECT_THAT(text_of(other.answer(1)["result"]),
              HasSubstr("killed by sitter_kill of another mcp-sitter (pid " +
                        std::to_string(client.program().pid()) + ")"));
}

TEST_F(Strangers, ThatWereStartedSinceTheFirstSignalAreSpared) {
  Program stubborn({.command = {server_, "--ignore-eof", "--ignore-term"}});
  Program meek({.command = {server_, "--ignore-eof"}});
  ASSERT_TRUE(runs(stubborn, server_) && runs(meek, server_));
  ScriptedClient client({.options = {"--kill-grace", "1000"}, .command = {server_}});
  client.open();
  client.call(1, "sitter_kill", {{"scope", "same-executable"}});
  EXPECT_EQ(meek.wait(), 128 + SIGTERM);
  Program later({.command = {server_, "--ignore-eof"}});
  ASSERT_TRUE(runs(later, server_));
  const Json report = Json::parse(text_of(client.answer(1)["result"]), nullptr, false);
  EXPECT_TRUE(names(report, stubborn.pid()));
  EXPECT_EQ(stubborn.wait(), 128 + SIGKILL);
  EXPECT_FALSE(names(report, later.pid())) << report.dump();
  EXPECT_TRUE(is_alive(later.pid()));
}

TEST_F(Strangers, AreTakenDownAlsoBeforeTheFirstStart) {
  Program stranger({.command = {server_, "--ignore-eof"}});
  ASSERT_TRUE(runs(stranger, server_));
  ScriptedClient client({.command = {server_, "--ignore-eof"}});
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
    ScriptedClient client({.options = {"--kill-grace", "50", "--env", "PATH=" + directory_.path()},
                           .command = {command, "--ignore-eof"}});
    client.open();
    EXPECT_EQ(kill(client)["count"], 3) << command;
    EXPECT_EQ(by_hard_link.wait(), 128 + SIGTERM);
    EXPECT_EQ(by_its_name.wait(), 128 + SIGTERM);
  }
}

TEST_F(Strangers, AreFoundWhenTheFileWasReplaced) {
  Program old({.command = {server_, "--ignore-eof"}});
  ASSERT_TRUE(runs(old, server_));
  ScriptedClient client({.options = {"--kill-grace", "50"}, .command = {server_, "--ignore-eof"}});
  client.open();
  directory_.copy_program("new", fake_mcp());
  fs::rename(directory_ / "new", server_);
  EXPECT_EQ(client.status()["binaryStale"], true);
  EXPECT_TRUE(names(kill(client), old.pid()));
  EXPECT_EQ(old.wait(), 128 + SIGTERM);
  EXPECT_THAT(client.text_of_call("echo", {{"text", "new"}}), HasSubstr("new"));
  EXPECT_EQ(client.status()["binaryStale"], false);
}

TEST_F(Strangers, OfTheNewFileAreFoundWhileTheServerRunsTheReplacedOne) {
  ScriptedClient client({.options = {"--kill-grace", "50"}, .command = {server_, "--ignore-eof"}});
  client.open();
  directory_.copy_program("new", fake_mcp());
  fs::rename(directory_ / "new", server_);
  Program same({.command = {server_, "--ignore-eof"}});
  Program other({.command = {server_, "--ignore-eof", "--ignore-term"}});
  ASSERT_TRUE(runs(same, server_) && runs(other, server_));
  const Json report = kill(client);
  EXPECT_TRUE(names(report, same.pid())) << report.dump();
  EXPECT_EQ(same.wait(), 128 + SIGTERM);
  ASSERT_EQ(report.value("leftAlone", Json()).size(), 1) << report.dump();
  EXPECT_EQ(report["leftAlone"][0]["pid"], other.pid());
}

TEST_F(Strangers, AreFoundWhenTheFileWasDeleted) {
  Program old({.command = {server_, "--ignore-eof"}});
  ASSERT_TRUE(runs(old, server_));
  ScriptedClient client({.options = {"--kill-grace", "50"}, .command = {server_, "--ignore-eof"}});
  client.open();
  fs::remove(server_);
  EXPECT_TRUE(names(kill(client), old.pid()));
  EXPECT_EQ(old.wait(), 128 + SIGTERM);
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
