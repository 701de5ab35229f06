#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "setup/bridge_command.hpp"
#include "setup/server_entry.hpp"

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
        Words{"node", "/x/mcp-sitter-native/bin/mcp-sitter.mjs", "--", "a"}}) {
    EXPECT_TRUE(is_wrapped(words)) << words.front();
    EXPECT_THAT(words_behind(words), ElementsAre("a")) << words.front();
  }
  for (const Words& words :
       {Words{}, Words{"mcp-sitter-x"}, Words{"npx", "-y", "other", "mcp-sitter-native"},
        Words{"node", "server.mjs"}, Words{"pnpm", "mcp-sitter-native"}}) {
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

TEST(SetupEntryTest, AProgramInTheCacheOfNpxIsRunByNpx) {
  EXPECT_THAT(own_command("/home/me/.npm/_npx/1a/node_modules/x/bin/mcp-sitter"),
              ElementsAre("npx", "-y", "mcp-sitter-native"));
  EXPECT_THAT(own_command("/nowhere/mcp-sitter"), ElementsAre("/nowhere/mcp-sitter"));
}

}  // namespace
}  // namespace sitter::setup
