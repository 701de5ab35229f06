// Only Linux limits the memory of a process that runs. A sanitizer needs most of the address space,
// so these tests are not built with it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstddef>
#include <string>

#include "support/memory_watch.hpp"
#include "support/proc_status.hpp"
#include "support/scripted_client.hpp"

namespace sitter::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kMegabyte = 1'000'000;

/// Limits what the bridge may allocate from now on.
void limit_memory(ScriptedClient& client, std::size_t bytes) {
  const pid_t pid = client.program().pid();
  const auto taken = static_cast<std::size_t>(std::stoull(status_field(pid, "VmSize"))) * 1024;
  const rlimit limit{taken + bytes, RLIM_INFINITY};
  ASSERT_EQ(prlimit(pid, RLIMIT_AS, &limit, nullptr), 0);
}

/// The call with the id 1 is refused with these words, and so is an answer of this size.
void expect_no_memory(ScriptedClient& client, std::size_t bytes, const std::string& words) {
  const Json refused = client.answer(1)["error"];
  EXPECT_EQ(refused["code"], -32600);
  EXPECT_THAT(refused["message"].get<std::string>(), HasSubstr(words));
  const Json failed = client.result_of("big", {{"bytes", bytes}});
  EXPECT_EQ(failed["isError"], true);
  EXPECT_THAT(text_of(failed), HasSubstr(words));
}

TEST(Flood, ALineForWhichThereIsNoMemoryIsAnsweredAndTheSessionGoesOn) {
  const std::string text(100 * kMegabyte, 'x');
  // The first limit leaves no room to read the line. The second leaves no room to work on it.
  for (const std::size_t limit : {std::size_t{100} * kMebibyte, std::size_t{400} * kMebibyte}) {
    ScriptedClient client;
    client.open();
    limit_memory(client, limit);
    client.owe(1);
    client.send(
        R"json({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":")json" +
        text + "\"}}}");
    expect_no_memory(client, text.size(), "no memory for a line of 100000");
    EXPECT_THAT(client.text_of_call("echo", {{"text", "a"}}), ::testing::EndsWith("a"));
    const std::string larger(kMebibyte, 'y');
    EXPECT_EQ(client.text_of_call("echo", {{"text", larger}}), larger);
    EXPECT_EQ(client.end(), 0);
  }
}

TEST(Flood, ALineThatCannotBeParsedForWantOfMemoryIsNotCalledBroken) {
  ScriptedClient client;
  client.open();
  // For such a small line, the bridge does not ask for room before it parses the line. Nothing but
  // backslashes cannot be parsed in pieces.
  limit_memory(client, 4 * kMebibyte);
  client.call(1, "echo", {{"text", std::string(500000, '\\')}});
  const Json refused = client.answer(1)["error"];
  EXPECT_EQ(refused["code"], -32600);
  EXPECT_THAT(refused["message"].get<std::string>(), HasSubstr("no memory for a line of 1000"));
  EXPECT_THAT(client.text_of_call("echo", {{"text", "a"}}), ::testing::EndsWith("a"));
  EXPECT_EQ(client.end(), 0);
}

}  // namespace
}  // namespace sitter::testing
