#include "support/keeper.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <optional>

namespace sitter::testing {
namespace {

TEST(Keeper, IsStartedAgainWhenItWasKilled) {
  ScriptedClient client(
      {.command = {"sh", "-c", fake_in_shell("--ignore-eof --ignore-term") + "; exit 1"}});
  client.open();
  std::optional<long> first;
  ASSERT_TRUE(eventually([&] { return (first = keeper_of(client)).has_value(); }));
  kill(static_cast<pid_t>(*first), SIGKILL);
  ASSERT_TRUE(client.program().shows_error("another one was started"));
  EXPECT_TRUE(eventually([&] { return keeper_of(client, *first).has_value(); }));
  // The new keeper knows the server that was started before it.
  client.program().signal(SIGKILL);
  EXPECT_EQ(client.program().wait(), 128 + SIGKILL);
  EXPECT_TRUE(client.leaves_nothing());
}

TEST(Keeper, IsNotStartedMoreThanTenTimes) {
  ScriptedClient client;
  client.open();
  long last = 0;
  for (int count = 1; count <= 10; ++count) {
    std::optional<long> next;
    ASSERT_TRUE(eventually([&] { return (next = keeper_of(client, last)).has_value(); })) << count;
    last = *next;
    kill(static_cast<pid_t>(last), SIGKILL);
  }
  EXPECT_TRUE(client.program().shows_error("there is no keeper"));
  client.text_of_call("echo");
  EXPECT_FALSE(keeper_of(client, last));
}

}  // namespace
}  // namespace sitter::testing
