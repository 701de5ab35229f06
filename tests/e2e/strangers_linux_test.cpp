#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <string>
#include <vector>

#include "support/strangers.hpp"

namespace sitter::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Programs that count as interpreters because of their names. macOS runs no copies of its own
/// programs, and a kill of a shell in use would end too much.
class StrangersOfAnInterpreter : public Strangers {
 protected:
  const std::string shell_ = directory_.copy_program("sh", "/bin/sh");
};

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

TEST_F(StrangersOfAnInterpreter, SurviveBehindAShellUnlikeStrangersOfTheProgram) {
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

// On macOS, both names are mostly one file.
TEST_F(Strangers, WithANameThatDiffersOnlyInCaseSurvive) {
  const std::string other = directory_.copy_program("SERVER", fake_mcp());
  Program stranger({.command = {other, "--ignore-eof"}});
  ASSERT_TRUE(runs(stranger, other));
  ScriptedClient client({.command = {server_}});
  client.open();
  EXPECT_EQ(kill(client)["count"], 1);
  EXPECT_TRUE(is_alive(stranger.pid()));
}

}  // namespace
}  // namespace sitter::testing
