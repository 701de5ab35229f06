#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>

#include "support/proc_status.hpp"
#include "support/scripted_client.hpp"

namespace sitter::testing {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// This test plays the debugger.
bool attach(long pid) { return ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) == 0; }

TEST(Debugger, AReloadWaitsUntilItIsDetached) {
  ScriptedClient client;
  client.open();
  const long pid = client.child_pid();
  if (!attach(pid)) GTEST_SKIP() << "no process may be traced here";
  client.program().signal(SIGHUP);
  ASSERT_TRUE(
      client.program().shows_error("(pid " + std::to_string(getpid()) + "). So the server"));
  EXPECT_EQ(client.child_pid(), pid);
  EXPECT_THAT(client.echo("a"), HasSubstr("A debugger is attached to the server"));
  // Only a stopped process can be detached, and only by its tracer (ptrace(2)).
  ptrace(PTRACE_INTERRUPT, pid, nullptr, nullptr);
  waitpid(static_cast<pid_t>(pid), nullptr, __WALL);
  ptrace(PTRACE_DETACH, pid, nullptr, nullptr);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (client.child_pid() == pid && std::chrono::steady_clock::now() < until) continue;
  EXPECT_NE(client.child_pid(), pid);
}

TEST(Debugger, AKillEndsAServerThatTheDebuggerHasNotReaped) {
  ScriptedClient client({.options = {"--kill-grace", "50"}, .command = fake({"--ignore-eof"})});
  client.open();
  const long pid = client.child_pid();
  if (!attach(pid)) GTEST_SKIP() << "no process may be traced here";
  const std::string report = client.text_of_call("sitter_kill");
  EXPECT_THAT(report, AllOf(HasSubstr("SIGKILL"), Not(HasSubstr("may still be running"))));
  EXPECT_THAT(status_field(pid, "State"), StartsWith("Z"));
  EXPECT_THAT(client.echo("a"), HasSubstr("previous: killed by sitter_kill"));
  waitpid(static_cast<pid_t>(pid), nullptr, __WALL);
}

TEST(Debugger, AStoppedStartRunsAfterASignal) {
  ScriptedClient client({.options = {"--debug-wait", "--answer-within", "0.05"}});
  client.open();
  const long pid = client.child_pid();
  EXPECT_THAT(status_field(pid, "State"), StartsWith("T"));
  EXPECT_THAT(client.status()["summary"].get<std::string>(),
              HasSubstr("gdb -p " + std::to_string(pid)));
  EXPECT_TRUE(client.program().shows_error("kill -CONT " + std::to_string(pid)));
  kill(static_cast<pid_t>(pid), SIGCONT);
  EXPECT_THAT(client.echo("a"), EndsWith("\na"));
}

TEST(Debugger, AStoppedStartThatFailsSaysWhy) {
  ScriptedClient client({.options = {"--debug-wait"}, .command = {"/dev/null"}});
  client.begin_opening();
  EXPECT_THAT(client.answer(0).dump(), HasSubstr("could not be started"));
}

}  // namespace
}  // namespace sitter::testing
