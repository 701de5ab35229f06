#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "support/scripted_client.hpp"
#include "support/temporary_directory.hpp"

namespace sitter::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr std::size_t kMegabyte = 1'000'000;
constexpr std::size_t kMebibyte = 1024 * 1024;

/// A sanitizer needs memory of its own, so memory is not measured with it.
bool counts_memory() { return std::string_view(SITTER_SANITIZER).empty(); }

/// Measures the memory of a bridge from now on.
class MemoryWatch {
 public:
  explicit MemoryWatch(ScriptedClient& client)
      : pid_(client.program().pid()), idle_(resident_bytes(pid_)) {}

  void expect_bounded(std::size_t largest_message) const {
    if (!counts_memory()) return;
    ASSERT_GT(idle_, 0);
    const std::size_t most = resident_bytes_max(pid_);
    ASSERT_GT(most, 0) << "there is nothing to look at";
    EXPECT_LE(most, idle_ + 6 * largest_message + 16 * kMebibyte);
  }

  void expect_given_back() const {
    if (!counts_memory()) return;
    ASSERT_GT(idle_, 0);
    const auto is_given_back = [this] {
      const std::size_t now = resident_bytes(pid_);
      return now > 0 && now <= idle_ + 4 * kMebibyte;
    };
    EXPECT_TRUE(eventually(is_given_back))
        << resident_bytes(pid_) << " bytes are resident, idle " << idle_;
  }

 private:
  long pid_;
  std::size_t idle_;
};

/// Limits what the bridge may allocate from now on.
void limit_memory(ScriptedClient& client, std::size_t bytes) {
  const pid_t pid = client.program().pid();
  const auto taken = static_cast<std::size_t>(std::stoull(status_field(pid, "VmSize"))) * 1024;
  const rlimit limit{taken + bytes, RLIM_INFINITY};
  ASSERT_EQ(prlimit(pid, RLIMIT_AS, &limit, nullptr), 0);
}

TEST(Flood, ALineForWhichThereIsNoMemoryIsAnsweredAndTheSessionGoesOn) {
  if (!counts_memory()) GTEST_SKIP() << "a sanitizer needs most of the address space";
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
    const Json refused = client.answer(1)["error"];
    EXPECT_EQ(refused["code"], -32600);
    EXPECT_THAT(refused["message"].get<std::string>(), HasSubstr("no memory for a line of 100000"));
    const Json failed = client.result_of("big", {{"bytes", text.size()}});
    EXPECT_EQ(failed["isError"], true);
    EXPECT_THAT(text_of(failed), HasSubstr("no memory for a line of 100000"));
    EXPECT_EQ(client.text_of_call("echo", {{"text", "a"}}), "a");
    const std::string larger(kMebibyte, 'y');
    EXPECT_EQ(client.text_of_call("echo", {{"text", larger}}), larger);
    EXPECT_EQ(client.end(), 0);
  }
}

TEST(Flood, ALineThatCannotBeParsedForWantOfMemoryIsNotCalledBroken) {
  if (!counts_memory()) GTEST_SKIP() << "a sanitizer needs most of the address space";
  ScriptedClient client;
  client.open();
  // For such a small line, the bridge does not ask for room before it parses the line.
  const std::string text(1000000, 'x');
  limit_memory(client, 4 * kMebibyte);
  client.call(1, "echo", {{"text", text}});
  const Json refused = client.answer(1)["error"];
  EXPECT_EQ(refused["code"], -32600);
  EXPECT_THAT(refused["message"].get<std::string>(), HasSubstr("no memory for a line of 1000"));
  const Json failed = client.result_of("big", {{"bytes", text.size()}});
  EXPECT_EQ(failed["isError"], true);
  EXPECT_THAT(text_of(failed), HasSubstr("no memory for a line of 1000"));
  EXPECT_EQ(client.end(), 0);
}

TEST(Flood, ChildThatStopsReadingBlocksNobodyElse) {
  ScriptedClient client({.options = {"--kill-grace", "20"}});
  client.open();
  const MemoryWatch memory(client);
  const long child = client.child_pid();
  client.text_of_call("stop_reading");
  const std::string text(kMebibyte, 'x');
  for (int id = 1; id <= 24; ++id) client.call(id, "echo", {{"text", text}});
  EXPECT_EQ(client.status()["childState"], "ready");

  client.call(30, "echo");
  client.request(31, "prompts/get");
  for (const int id : {30, 31}) {
    const Json error = client.answer(id)["error"];
    EXPECT_EQ(error["code"], -32603);
    EXPECT_THAT(error["message"], HasSubstr("the server has stopped reading"));
  }

  client.text_of_call("sitter_kill");
  EXPECT_FALSE(is_alive(child));
  for (int id = 1; id <= 24; ++id) {
    const Json answer = client.answer(id);
    if (answer.contains("error")) continue;
    EXPECT_EQ(answer["result"]["isError"], true);
  }
  EXPECT_THAT(client.text_of_call("echo", {{"text", "next"}}), HasSubstr("next"));
  memory.expect_bounded(kMebibyte);
}

TEST(Flood, DeafChildIsTakenDownAtTheEnd) {
  ScriptedClient client({.options = {"--kill-grace", "20"}, .command = fake({"--ignore-term"})});
  client.open();
  client.text_of_call("stop_reading");
  EXPECT_EQ(client.end(), 0);
}

TEST(Flood, ClientThatStopsReadingSlowsTheChildDown) {
  ScriptedClient client;
  client.open();
  const MemoryWatch memory(client);
  const long child = client.child_pid();
  const std::size_t size = 2 * kMegabyte;
  for (int id = 1; id <= 60; ++id) client.call(id, "big", {{"bytes", size}});
  ASSERT_TRUE(come_to_rest({client.program().pid(), child}));
  const auto written = bytes_moved(child).written;
  EXPECT_GT(written, 0);
  EXPECT_LT(written, 60 * size);
  for (int id = 1; id <= 60; ++id) {
    EXPECT_EQ(text_of(client.answer(id)["result"]).size(), size);
  }
  memory.expect_bounded(size);
  memory.expect_given_back();
  EXPECT_EQ(client.child_pid(), child);
}

TEST(Flood, ClientThatStopsReadingAnswersOfTheBridgeIsNotReadEither) {
  ScriptedClient client({.options = {"--log-level", "off"}});
  client.open();
  const MemoryWatch memory(client);
  // Enough lines to fill the queue of answers, besides what is read at once.
  constexpr int kLines = 200'000;
  std::string lines;
  for (int line = 0; line < kLines; ++line) lines += std::string(31, 'x') + "\n";
  client.program().write(lines);
  ASSERT_TRUE(come_to_rest({client.program().pid()}, [&] { client.program().offer(); }));
  EXPECT_GT(client.program().offer(), 0);
  for (int line = 0; line < kLines; ++line) {
    ASSERT_THAT(client.program().read_line().value_or(""), HasSubstr("-32700"));
  }
  memory.expect_bounded(kMebibyte);
  memory.expect_given_back();
}

TEST(Flood, EndIsNoticedWhileTheClientTakesNothing) {
  ScriptedClient client({.options = {"--log-level", "off"}});
  client.open();
  std::string lines;
  for (int line = 0; line < 200'000; ++line) lines += "x\n";
  client.program().write(lines);
  ASSERT_TRUE(come_to_rest({client.program().pid()}));
  client.program().close_input();
  EXPECT_TRUE(eventually([&] { return !is_alive(client.program().pid()); }));
}

TEST(Flood, LineOf300MegabytesOfTheChildEndsItIfItShowsNoId) {
  ScriptedClient client({.command = fake({"--endless-line", "314572800"})});
  client.open();
  const MemoryWatch memory(client);
  EXPECT_THAT(client.text_of_call("echo"), HasSubstr("314572800 bytes"));
  EXPECT_THAT(client.text_of_call("echo", {{"text", "next"}}), HasSubstr("next"));
  memory.expect_bounded(256 * kMebibyte);
  memory.expect_given_back();
}

TEST(Flood, LineOf300MegabytesOfTheClientIsRefusedWithItsId) {
  ScriptedClient client;
  client.open();
  const MemoryWatch memory(client);
  client.owe(7);
  client.program().write(R"json({"jsonrpc":"2.0","id":7,"method":"x","params":{"text":")json");
  const std::string piece(kMebibyte, 'x');
  for (int count = 0; count < 300; ++count) {
    client.program().write(piece);
    ASSERT_TRUE(client.program().flush());
  }
  client.send("\"}}");
  EXPECT_EQ(client.answer(7)["error"]["code"], -32600);
  EXPECT_EQ(client.child_state()["badLines"], 0);
  memory.expect_bounded(256 * kMebibyte);
  memory.expect_given_back();
}

TEST(Flood, StderrThatTheClientNeverReadsBlocksNobody) {
  ScriptedClient client({.command = fake({"--flood-stderr", "200000"}), .reads_stderr = false});
  client.open();
  client.text_of_call("stderr", {{"text", std::string(100, 'y')}, {"lines", 20000}});
  EXPECT_EQ(client.text_of_call("echo", {{"text", "through"}}), "through");
  EXPECT_EQ(client.status()["childAlive"], true);
  client.text_of_call("sitter_kill");
  EXPECT_THAT(client.text_of_call("echo", {{"text", "again"}}), HasSubstr("again"));
  EXPECT_EQ(client.end(), 0);
}

TEST(Flood, StderrOf130MegabytesPasses) {
  ScriptedClient client({.command = fake({"--flood-stderr", "130000000", "--stderr", "first"})});
  // Before its first answer, the process may still be a copy of this test, with the memory of
  // earlier tests.
  client.request(1, "ping");
  client.answer(1);
  const MemoryWatch memory(client);
  client.open();
  EXPECT_EQ(client.text_of_call("echo", {{"text", "through"}}), "through");
  EXPECT_EQ(lines_of(client.text_of_call("sitter_child_stderr", {{"lines", 50}})).size(), 50);
  memory.expect_bounded(0);
}

TEST(Flood, LongStderrLineIsCut) {
  ScriptedClient client;
  client.open();
  const std::size_t size = 20 * kMegabyte;
  const MemoryWatch memory(client);
  client.text_of_call("stderr", {{"text", std::string(size, 'z')}});
  const std::string text = client.text_of_call("sitter_child_stderr");
  EXPECT_LT(text.size(), 10'000);
  EXPECT_THAT(text, HasSubstr("zzzz"));
  memory.expect_bounded(size);
  memory.expect_given_back();
}

TEST(Flood, MemoryOfALargeMessageIsGivenBack) {
  ScriptedClient client;
  client.open();
  const MemoryWatch memory(client);
  std::string accents;
  while (accents.size() < 20 * kMegabyte) accents += "é";
  for (const std::string& text : {std::string(20 * kMegabyte, 'x'), accents}) {
    EXPECT_EQ(client.text_of_call("echo", {{"text", text}}), text);
    memory.expect_bounded(20 * kMegabyte);
    memory.expect_given_back();
  }
}

TEST(Flood, FullDiskOfTheLogIsToldOnStderr) {
  ScriptedClient client({.options = {"--log-file", "/dev/full", "--log-level", "debug"}});
  client.open();
  EXPECT_EQ(client.text_of_call("echo", {{"text", "through"}}), "through");
  EXPECT_TRUE(client.program().shows_error("the log file can't be written"));
  EXPECT_EQ(client.end(), 0);
}

}  // namespace
}  // namespace sitter::testing
