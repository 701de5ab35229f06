#include "support/terminal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "support/scripted_client.hpp"

namespace sitter::testing {
namespace {

TEST(TerminalInput, IsReportedButServed) {
  const Terminal terminal;
  Program program(
      {.command = {sitter_program(), "--", fake_mcp()}, .input = terminal.program.number()});
  EXPECT_TRUE(program.shows_error("stdin is a terminal, so there is no MCP client"));
  EXPECT_TRUE(program.shows_error("mcp-sitter setup"));
  EXPECT_TRUE(program.shows_error("mcp-sitter doctor COMMAND"));
  const std::string line =
      R"json({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}})json"
      "\n";
  ASSERT_EQ(write(terminal.person.number(), line.data(), line.size()),
            static_cast<ssize_t>(line.size()));
  EXPECT_THAT(program.read_line().value_or(""), ::testing::HasSubstr("fake-mcp"));
  // Ctrl-D
  ASSERT_EQ(write(terminal.person.number(), "\x04", 1), 1);
  EXPECT_EQ(program.wait(), 0);
}

TEST(TerminalInput, IsNotMentionedToAClient) {
  Program program({.command = {sitter_program(), "--", fake_mcp()}});
  program.close_input();
  EXPECT_EQ(program.wait(), 0);
  EXPECT_EQ(program.error_text(), "");
}

}  // namespace
}  // namespace sitter::testing
