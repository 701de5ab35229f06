#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "support/memory_watch.hpp"
#include "support/scripted_client.hpp"
#include "support/temporary_directory.hpp"

namespace sitter::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr std::size_t kMegabyte = 1'000'000;

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
  const std::string text = client.stderr_with("zzzz");
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

}  // namespace
}  // namespace sitter::testing
