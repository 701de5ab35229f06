#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <string>

#include "support/processes.hpp"
#include "support/scripted_client.hpp"

namespace sitter::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// A shell starts the server anew on the same pipes when it is killed, as a watcher does.
ScriptedClient::Setup watched(const std::string& flags) {
  return {
      .command = {"sh", "-c",
                  "until " + fake_in_shell(flags) + "; do echo \"Restarting 'fake-mcp'\"; done"}};
}

long pid_of_server(ScriptedClient& client) { return client.child_state()["pid"].get<long>(); }

/// What the server was sent before its end may be lost.
void kill_server(long pid) {
  ::kill(static_cast<pid_t>(pid), SIGKILL);
  ASSERT_TRUE(ends(pid));
}

TEST(OwnRestart, AServerThatInsistsOnItsOpeningIsOpenedAgain) {
  ScriptedClient client(
      {.command = {"sh", "-c", "until " + fake_in_shell("--strict") + "; do :; done"}});
  client.open();
  const long watcher = client.child_pid();
  const long before = pid_of_server(client);
  client.call(1, "hang");
  client.text_of_call("echo", {{"text", "a"}});
  kill_server(before);

  EXPECT_THAT(client.text_of_call("echo", {{"text", "b"}}),
              AllOf(HasSubstr("server restarted (spawn #2"),
                    HasSubstr("previous: restarted itself after"), HasSubstr("\nb")));
  EXPECT_THAT(text_of(client.answer(1)["result"]), HasSubstr("the server restarted itself after"));
  EXPECT_EQ(client.child_pid(), watcher);
  EXPECT_NE(pid_of_server(client), before);
  EXPECT_EQ(client.end(), 0);
}

TEST(OwnRestart, TheWordsOfAWatcherAreEnough) {
  ScriptedClient client(watched(""));
  client.open();
  const long before = pid_of_server(client);
  client.call(1, "hang");
  client.text_of_call("echo", {{"text", "a"}});
  kill_server(before);

  EXPECT_THAT(text_of(client.answer(1)["result"]), HasSubstr("the server restarted itself after"));
  EXPECT_THAT(client.text_of_call("echo", {{"text", "b"}}),
              AllOf(HasSubstr("previous: restarted itself after"), Not(HasSubstr("stdout:"))));
  EXPECT_THAT(client.child_state()["initializeParams"].dump(), HasSubstr("protocolVersion"));
  EXPECT_EQ(client.end(), 0);
}

TEST(OwnRestart, AKillEndsTheWatcherAndItsNewServer) {
  ScriptedClient client(watched("--strict"));
  client.open();
  kill_server(pid_of_server(client));
  client.text_of_call("echo", {{"text", "a"}});
  const long watcher = client.child_pid();
  const long server = pid_of_server(client);

  EXPECT_THAT(client.text_of_call("sitter_kill"),
              AllOf(HasSubstr(std::to_string(watcher)), HasSubstr(std::to_string(server))));
  EXPECT_THAT(client.text_of_call("echo", {{"text", "b"}}), HasSubstr("killed by sitter_kill"));
  EXPECT_EQ(client.end(), 0);
}

}  // namespace
}  // namespace sitter::testing
