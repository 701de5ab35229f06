// Only Linux refuses to start a file that is open for writing, as a linker holds its output until
// it is done.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "support/cli_tool.hpp"
#include "support/program.hpp"

namespace sitter::testing {
namespace {

using BusyTool = CliToolTest;

TEST_F(BusyTool, ADescriptionWaitsForAToolThatIsStillBeingWritten) {
  directory_.write("tools.json",
                   description(tool("show", R"json("cli_command":["tools.json"])json")));
  const std::string program = directory_.copy_program("tool", "/bin/cat");
  OwnDescriptor writer(::open(program.c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(writer.is_open());
  ScriptedClient client(setup({"--schema-args", "tools.json", "--log-level", "trace"}));
  client.begin_opening();
  ASSERT_TRUE(client.program().shows_error("text file busy"));
  writer.close();
  EXPECT_EQ(client.answer(0)["result"]["serverInfo"]["name"], "tool");
}

TEST_F(BusyTool, ACallWaitsForAToolThatIsStillBeingWritten) {
  directory_.write("tools.json", description(tool("show", R"json("cli_command":["{text}"])json")));
  const std::string program = directory_.copy_program("tool", "/bin/echo");
  ScriptedClient client(
      setup({"--schema-file", "tools.json", "--watch", "none", "--log-level", "trace"}));
  client.open();
  OwnDescriptor writer(::open(program.c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(writer.is_open());
  client.call(1, "show", {{"text", "hello"}});
  ASSERT_TRUE(client.program().shows_error("text file busy"));
  writer.close();
  EXPECT_EQ(text_of(client.answer(1)["result"]), "hello\n");
}

TEST(BusyServer, IsStartedWhenItIsThere) {
  const TemporaryDirectory directory;
  const std::string program = directory.copy_program("out/server", fake_mcp());
  OwnDescriptor writer(open(program.c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(writer.is_open());
  ScriptedClient client({.options = {"--log-level", "trace"}, .command = {program}});
  client.begin_opening();
  ASSERT_TRUE(client.program().shows_error("text file busy"));
  writer.close();
  EXPECT_EQ(client.answer(0)["result"]["serverInfo"]["name"], "fake-mcp");
}

}  // namespace
}  // namespace sitter::testing
