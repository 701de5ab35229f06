#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "setup/bridge_command.hpp"
#include "setup/server_entry.hpp"
#include "setup/server_file.hpp"

namespace sitter::setup {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SetupEntryTest, EachWayToRunMcpSitterIsRecognised) {
  for (const Words& words :
       {Words{"mcp-sitter", "--", "a"}, Words{"/usr/bin/mcp-sitter", "--", "a"},
        Words{"npx", "-y", "mcp-sitter-native", "--", "a"},
        Words{"bunx", "mcp-sitter-native@0.1.0", "--", "a"},
        Words{"pnpm", "dlx", "mcp-sitter-native", "--", "a"},
        Words{"env", "A=1", "B=", "mcp-sitter", "--", "a"},
        Words{"node", "/x/mcp-sitter-native/bin/mcp-sitter.mjs", "--", "a"},
        Words{"C:/x/mcp-sitter.exe", "--", "a"}, Words{"C:/nodejs/node.exe", "mcp-sitter.mjs", "a"},
        Words{"cmd", "/c", "mcp-sitter", "--", "a"},
        Words{"C:/Windows/System32/cmd.exe", "/C", "npx.cmd", "-y", "mcp-sitter-native", "a"}}) {
    EXPECT_TRUE(is_wrapped(words)) << words.front();
    EXPECT_THAT(words_behind(words), ElementsAre("a")) << words.front();
  }
  for (const Words& words :
       {Words{}, Words{"mcp-sitter-x"}, Words{"npx", "-y", "other", "mcp-sitter-native"},
        Words{"node", "server.mjs"}, Words{"pnpm", "mcp-sitter-native"},
        Words{"cmd", "/c", "npx", "-y", "other"}, Words{"cmd", "mcp-sitter", "a"}}) {
    EXPECT_FALSE(is_wrapped(words));
  }
}

TEST(SetupEntryTest, OptionsOfMcpSitterAreNotTheCommand) {
  EXPECT_THAT(words_behind({"mcp-sitter", "--build", "make", "--", "a", "--", "b"}),
              ElementsAre("a", "--", "b"));
  EXPECT_THAT(words_behind({"mcp-sitter", "a", "-b"}), ElementsAre("a", "-b"));
  EXPECT_THAT(words_behind({"mcp-sitter", "--watch", "src", "node", "s.js", "--", "x"}),
              ElementsAre("node", "s.js", "--", "x"));
  EXPECT_THAT(words_behind({"mcp-sitter", "--http", "http://127.0.0.1:1/", "--", "a"}), IsEmpty());
  EXPECT_THAT(words_behind({"mcp-sitter", "--no-such-option", "--", "a"}), IsEmpty());
  EXPECT_THAT(words_behind({"mcp-sitter", "--http", "http://127.0.0.1:1/"}), IsEmpty());
}

TEST(SetupEntryTest, TheBridgeNeedsNoCmdBeforeTheServer) {
  EXPECT_THAT(without_cmd({"cmd", "/c", "npx", "-y", "notes"}), ElementsAre("npx", "-y", "notes"));
  EXPECT_THAT(without_cmd({"cmd.exe", "/C", "notes"}), ElementsAre("notes"));
  EXPECT_THAT(without_cmd({"npx", "/c", "notes"}), ElementsAre("npx", "/c", "notes"));
  EXPECT_THAT(without_cmd({"cmd", "/c"}), ElementsAre("cmd", "/c"));
}

TEST(SetupEntryTest, ACommandLineOfCmdStaysAsItIs) {
  EXPECT_THAT(without_cmd({"cmd", "/c", "set A=1 && notes"}),
              ElementsAre("cmd", "/c", "set A=1 && notes"));
}

TEST(SetupEntryTest, AnEntryThatWasWrappedWithoutCmdGetsItBack) {
  const Spelling spelling;
  const Json original = entry_of({"cmd", "/c", "npx", "-y", "notes"}, spelling);
  const Json wrapped = with_words(original, spelling, {"mcp-sitter", "--", "npx", "-y", "notes"});
  const auto again = wrapped_again(original, wrapped, spelling);
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, wrapped);
  EXPECT_EQ(restored(original, wrapped, spelling), original);
}

TEST(SetupEntryTest, AProgramIsKnownWithoutItsFolderAndTheEndingOfWindows) {
  EXPECT_EQ(program_name("/usr/bin/python3.11"), "python3.11");
  EXPECT_EQ(program_name("C:/nodejs/npx.cmd"), "npx");
  EXPECT_EQ(program_name("Server.EXE"), "Server");
  EXPECT_EQ(program_name("run.sh"), "run.sh");
}

TEST(SetupEntryTest, AProgramInTheCacheOfNpxIsRunByNpx) {
  EXPECT_THAT(own_command("/home/me/.npm/_npx/1a/node_modules/x/bin/mcp-sitter"),
              ElementsAre("npx", "-y", "mcp-sitter-native"));
  EXPECT_THAT(own_command("/nowhere/mcp-sitter"), ElementsAre("/nowhere/mcp-sitter"));
}

}  // namespace
}  // namespace sitter::setup
