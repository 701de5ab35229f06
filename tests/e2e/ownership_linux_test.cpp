// Only Linux keeps daemons that have left session, parents and environment among the descendants of
// the bridge.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstddef>
#include <string>

#include "support/keeper.hpp"
#include "support/scripted_client.hpp"
#include "support/temporary_directory.hpp"

namespace sitter::testing {
namespace {

/// Daemons that have left their session and their parents, and may have changed their environment.
class Ownership : public ::testing::TestWithParam<std::string> {
 protected:
  /// A shell command that starts a daemon and adds its pid to a file.
  std::string daemon() {
    return "(setsid " + GetParam() + "sleep 1000 > /dev/null 2>&1 & echo $! >> '" +
           (directory_ / "daemons") + "')";
  }

  /// The pid of the daemon that was started as number `count`.
  long daemon_number(std::size_t count) { return number_in(directory_ / "daemons", count); }

  TemporaryDirectory directory_;
};

TEST_P(Ownership, ASwapEndsTheDaemonOfTheOldServerAndNoOther) {
  ScriptedClient client({.options = {"--build", "true"},
                         .command = {"sh", "-c", daemon() + "; exec " + fake_in_shell()}});
  client.open();
  const long before = client.child_pid();
  const long of_the_old_one = daemon_number(1);
  EXPECT_TRUE(is_alive(of_the_old_one));
  client.text_of_call("sitter_rebuild");
  // Once the old server is over, nothing more is ended on its behalf.
  EXPECT_TRUE(eventually([&] { return client.status()["history"][0]["reason"].is_string(); }));
  EXPECT_FALSE(is_alive(before));
  EXPECT_FALSE(is_alive(of_the_old_one));
  const long of_the_new_one = daemon_number(2);
  EXPECT_TRUE(is_alive(of_the_new_one));
  EXPECT_EQ(client.end(), 0);
  EXPECT_TRUE(ends(of_the_new_one));
}

TEST_P(Ownership, ADaemonOfABuildBelongsToNoServer) {
  ScriptedClient client({.options = {"--build", daemon()}});
  client.open();
  client.text_of_call("sitter_rebuild");
  EXPECT_TRUE(eventually([&] { return client.status()["history"][0]["reason"].is_string(); }));
  const long daemon = daemon_number(1);
  EXPECT_TRUE(is_alive(daemon));
  client.text_of_call("sitter_kill");
  EXPECT_EQ(client.end(), 0);
  EXPECT_TRUE(is_alive(daemon));
  kill(static_cast<pid_t>(daemon), SIGKILL);
  EXPECT_TRUE(client.leaves_nothing());
}

TEST_P(Ownership, ASigkillOfTheBridgeEndsTheDaemonOfTheServer) {
  ScriptedClient client({.command = {"sh", "-c", daemon() + "; exec " + fake_in_shell()}});
  client.open();
  const long daemon = daemon_number(1);
  ASSERT_TRUE(is_alive(daemon));
  client.program().signal(SIGKILL);
  EXPECT_EQ(client.program().wait(), 128 + SIGKILL);
  EXPECT_TRUE(ends(daemon));
}

TEST_P(Ownership, ASigkillOfTheBridgeSparesTheDaemonOfABuild) {
  ScriptedClient client({.options = {"--build", daemon()}});
  client.open();
  client.text_of_call("sitter_rebuild");
  const long daemon = daemon_number(1);
  client.program().signal(SIGKILL);
  EXPECT_EQ(client.program().wait(), 128 + SIGKILL);
  EXPECT_TRUE(eventually([&] { return !keeper_of(client); }));
  EXPECT_TRUE(is_alive(daemon));
  kill(static_cast<pid_t>(daemon), SIGKILL);
  EXPECT_TRUE(client.leaves_nothing());
}

INSTANTIATE_TEST_SUITE_P(, Ownership, ::testing::Values("", "env -i "), [](const auto& one) {
  return one.param.empty() ? "WithItsEnvironment" : "WithoutEnvironment";
});

}  // namespace
}  // namespace sitter::testing
