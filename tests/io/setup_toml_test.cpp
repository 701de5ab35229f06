#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "setup/document.hpp"
#include "setup/failure.hpp"
#include "setup/toml_document.hpp"

namespace sitter::setup {
namespace {

using ::testing::HasSubstr;

const Path kEntry = {"mcp_servers", "notes"};
const Json kWrapped = {{"command", "s"}, {"args", {"--", "a"}}};

std::string rewrite(const std::string& text, const Json& wanted = kWrapped,
                    const Path& path = kEntry) {
  return rewritten(Notation::toml, text, "config.toml", path, wanted);
}

TEST(SetupTomlTest, TheValuesOfATableAreReplaced) {
  EXPECT_EQ(rewrite("# x\n[mcp_servers.notes] # h\n  command = 'a' # c\n  args = [ # d\n    "
                    "\"b\",\n  ]\n[other]\nx = 1979-05-27\n"),
            "# x\n[mcp_servers.notes] # h\n  command = \"s\" # c\n  args = [\"--\", "
            "\"a\"]\n[other]\nx = 1979-05-27\n");
}

TEST(SetupTomlTest, AMissingMemberIsAddedInEverySpelling) {
  struct Spelling {
    std::string before, after;
  };
  for (const Spelling& each : {
           Spelling{"[mcp_servers.notes]\r\n  command = \"a\"\r\n\r\n[x]\r\n",
                    "[mcp_servers.notes]\r\n  command = \"s\"\r\n  args = [\"--\", "
                    "\"a\"]\r\n\r\n[x]\r\n"},
           Spelling{"[mcp_servers.\"notes\"]\ncommand = \"a\"",
                    "[mcp_servers.\"notes\"]\ncommand = \"s\"\nargs = [\"--\", \"a\"]\n"},
           Spelling{"[mcp_servers]\nnotes = { command = \"a\" } # c\n",
                    "[mcp_servers]\nnotes = { command = \"s\", args = [\"--\", \"a\"] } # c\n"},
           Spelling{"[mcp_servers]\nnotes.command = \"a\"\n",
                    "[mcp_servers]\nnotes.command = \"s\"\nnotes.args = [\"--\", \"a\"]\n"},
           Spelling{"mcp_servers.'notes'.command = \"a\"\nx = \"é\"\n",
                    "mcp_servers.'notes'.command = \"s\"\nmcp_servers.'notes'.args = [\"--\", "
                    "\"a\"]\nx = \"é\"\n"},
           Spelling{"mcp_servers = { notes = { command = \"a\" } }\n",
                    "mcp_servers = { notes = { command = \"s\", args = [\"--\", \"a\"] } }\n"},
           Spelling{"\xEF\xBB\xBFx = \"é\" # ü\n[mcp_servers.notes]\ncommand = \"a\" # é\n",
                    "\xEF\xBB\xBFx = \"é\" # ü\n[mcp_servers.notes]\ncommand = \"s\" # é\nargs = "
                    "[\"--\", \"a\"]\n"},
       }) {
    EXPECT_EQ(rewrite(each.before), each.after);
  }
}

TEST(SetupTomlTest, TablesInsideOfAnEntryStay) {
  const Json wanted = {{"command", "s"}, {"args", {"a"}}, {"env", {{"A", "b"}}}};
  EXPECT_EQ(rewrite("[mcp_servers.notes.env]\nA = \"b\"\n\n[mcp_servers.notes]\ncommand = \"a\"\n",
                    wanted),
            "[mcp_servers.notes.env]\nA = \"b\"\n\n[mcp_servers.notes]\ncommand = \"s\"\nargs = "
            "[\"a\"]\n");
}

TEST(SetupTomlTest, ANewEntryIsATableAtTheEnd) {
  const std::string entry = "[mcp_servers.notes]\ncommand = \"s\"\nargs = [\"--\", \"a\"]\n";
  EXPECT_EQ(rewrite(""), entry);
  EXPECT_EQ(rewrite("model = \"x\""), "model = \"x\"\n\n" + entry);
  EXPECT_EQ(rewrite("[mcp_servers.other]\nurl = \"u\"\n"),
            "[mcp_servers.other]\nurl = \"u\"\n\n" + entry);
  EXPECT_EQ(rewrite("mcp_servers = { other = { url = \"u\" } }\n"),
            "mcp_servers = { other = { url = \"u\" }, notes = { command = \"s\", args = [\"--\", "
            "\"a\"] } }\n");
  EXPECT_THAT(rewrite("", kWrapped, {"mcp_servers", "a.b"}), HasSubstr("[mcp_servers.\"a.b\"]\n"));
}

TEST(SetupTomlTest, TextsAreEscaped) {
  const Json wanted = {{"command", "a\"\\\n\x7F\x01é"}};
  const std::string text = rewrite("", wanted);
  EXPECT_EQ(text, "[mcp_servers.notes]\ncommand = \"a\\\"\\\\\\n\\u007f\\u0001é\"\n");
}

TEST(SetupTomlTest, ARemovedTableTakesItsHeadersAndLines) {
  const auto without = [](const std::string& text, const Path& path) {
    return read_toml(text, "config.toml")->without(path);
  };
  const std::string before = "[a]\nx = 1 # c\n";
  EXPECT_EQ(without(before + "\n[mcp_servers.notes]\ncommand = \"a\"\nargs = [\n  \"b\",\n]\n\n"
                             "[mcp_servers.notes.env]\nA = \"b\"\n",
                    kEntry),
            before);
  EXPECT_EQ(without("[mcp_servers]\nnotes.command = \"a\"\nother.command = \"b\"\n", kEntry),
            "[mcp_servers]\nother.command = \"b\"\n");
  EXPECT_EQ(without("mcp_servers = { a = { x = 1 }, notes = { x = 2 } }\n", kEntry),
            "mcp_servers = { a = { x = 1 } }\n");
  EXPECT_EQ(without("mcp_servers = { notes = { x = 2 }, a = { x = 1 } }\n", kEntry),
            "mcp_servers = { a = { x = 1 } }\n");
}

TEST(SetupTomlTest, AValueThatIsNoTableHoldsNoServers) {
  EXPECT_THROW(rewrite("mcp_servers = 3\n"), Failure);
}

TEST(SetupTomlTest, ABrokenFileIsRefusedWithItsPlace) {
  try {
    read_toml("[a]\nx = 1\n[a]\n", "config.toml");
    FAIL() << "read";
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.what, HasSubstr("config.toml is not valid TOML at line 3, column 1"));
  }
}

}  // namespace
}  // namespace sitter::setup
