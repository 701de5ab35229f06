#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>

#include <string>

#include "support/scripted_client.hpp"

namespace sitter::testing {
namespace {

/// Both ends of a pseudo-terminal.
struct Terminal {
  Terminal() {
    int ends[2];
    if (openpty(&ends[0], &ends[1], nullptr, nullptr, nullptr) != 0) {
      throw std::runtime_error("there is no pseudo-terminal");
    }
    person = OwnDescriptor(ends[0]);
    program = OwnDescriptor(ends[1]);
  }
  OwnDescriptor person, program;
};

TEST(Terminal, AsTheInputIsToldAndServedAllTheSame) {
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

TEST(Terminal, IsNotMentionedToAClient) {
  Program program({.command = {sitter_program(), "--", fake_mcp()}});
  program.close_input();
  EXPECT_EQ(program.wait(), 0);
  EXPECT_EQ(program.error_text(), "");
}

}  // namespace
}  // namespace sitter::testing
