#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <random>
#include <string>
#include <vector>

#include "support/memory_watch.hpp"
#include "support/scripted_client.hpp"
#include "support/temporary_directory.hpp"

namespace sitter::testing {
namespace {

/// Each command writes the number of its call, and some leave a process behind.
constexpr const char* kTools = R"json([
  {"name": "tell", "parameters": {"properties": {"n": {"type": "integer"}}},
   "cli_command": ["-c", "printf '[%s' $0; test $0 != ${0%77} && sleep 1000 & printf ']'", "{n}"]}])json";

TEST(CliKilledRuns, NoneOfTenThousandCallsIsLostAndNothingIsLeft) {
  constexpr int kCalls = 10'000;
  constexpr int kAtOnce = 32;
  const TemporaryDirectory directory;
  directory.write("tools.json", kTools);
  ScriptedClient client({.options = {"--cli", "sh", "--schema-file", "tools.json"},
                         .command = {},
                         .cwd = directory.path()});
  client.open();
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  int killed = 0;
  for (int n = 0; n < kCalls + kAtOnce; ++n) {
    if (n < kCalls) client.call(n + 1, "tell", {{"n", n}});
    if (random() % 8 == 0) {
      const std::vector<long> runs = children_of(client.program().pid());
      if (!runs.empty()) ::kill(static_cast<pid_t>(runs[random() % runs.size()]), SIGKILL);
    }
    if (n < kAtOnce) continue;
    // The client fails at an answer that it does not expect.
    const int answered = n - kAtOnce;
    const Json answer = client.answer(answered + 1);
    ASSERT_TRUE(answer.contains("result")) << answer;
    const Json result = answer["result"];
    const std::string text = text_of(result);
    if (result.contains("isError")) {
      ++killed;
      ASSERT_THAT(text, ::testing::HasSubstr("has failed: SIGKILL"));
    } else {
      ASSERT_EQ(text, "[" + std::to_string(answered) + "]") << answer;
    }
  }
  EXPECT_GT(killed, 0);
  EXPECT_LT(killed, kCalls / 2);
  EXPECT_EQ(client.end(), 0);
  EXPECT_TRUE(client.leaves_nothing());
}

// The memory is that of both ends of the output, however much there is between them.
TEST(Flood, TheOutputOfRunsTakesLittleMemory) {
  const TemporaryDirectory directory;
  directory.write("tools.json", R"json([{"name": "flood", "parameters": {},
      "cli_command": ["-c", "head -c 20000000 /dev/zero | tr '\\0' x"]}])json");
  ScriptedClient client({.options = {"--cli", "sh", "--schema-file", "tools.json"},
                         .command = {},
                         .cwd = directory.path()});
  client.open();
  const MemoryWatch memory(client);
  for (int id = 1; id <= 4; ++id) client.call(id, "flood");
  for (int id = 1; id <= 4; ++id) {
    EXPECT_THAT(text_of(client.answer(id)["result"]), ::testing::HasSubstr("bytes"));
  }
  memory.expect_bounded(4 * kMebibyte);
}

}  // namespace
}  // namespace sitter::testing
