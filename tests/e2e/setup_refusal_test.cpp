#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/setup.hpp"

namespace sitter::testing {
namespace {

using ::testing::HasSubstr;

class SetupRefusal : public SetupTest {};

TEST_F(SetupRefusal, RefusesToRemoveAnEntryThatItCannotEdit) {
  home_.write(".codex/config.toml", "model = \"x\"\n");
  expect_done({"codex", "n", "--", "node", "x.js"});
  const std::string text =
      contents_of(home_ / ".codex/config.toml") + "[[mcp_servers.n.things]]\nz = 1\n";
  home_.write(".codex/config.toml", text);
  EXPECT_THAT(refusal({"codex", "--undo", "n"}), HasSubstr("edit it by hand"));
  EXPECT_EQ(contents_of(home_ / ".codex/config.toml"), text);
}

TEST_F(SetupRefusal, SettingsThatNoClientWritesAreRefused) {
  std::string key = "a";
  for (int i = 0; i < 50'000; ++i) key += ".a";
  home_.write(".codex/config.toml", key + " = 1\n");
  EXPECT_THAT(refusal({"codex", "n", "--", "x"}), HasSubstr("a key of 50001 parts in line 1"));
  project_.write(".cursor/mcp.json", R"({"x": 1e400})");
  EXPECT_THAT(refusal({"cursor", "n", "--", "x"}), HasSubstr("a number that is too large"));
}

TEST_F(SetupRefusal, WhatCannotBeDoneIsOneSentenceAndChangesNothing) {
  home_.write(".gemini/settings.json", "{\n  \"mcpServers\": {\n");
  home_.write(".qwen/settings.json",
              R"({"mcpServers": {"sse": {"url": "http://127.0.0.1:9/"}, "none": {}, "bad": 3}})");
  home_.write(".codex/config.toml",
              "[mcp_servers.web]\nurl = \"http://127.0.0.1:9/\"\nbearer_token_env_var = \"T\"\n");
  const std::string before = everything();
  EXPECT_THAT(refusal({"gemini", "--wrap", "a"}), HasSubstr("not valid JSON at line 3"));
  EXPECT_THAT(refusal({"qwen", "--wrap", "a"}), HasSubstr("only bad, none, sse"));
  EXPECT_THAT(refusal({"qwen", "--wrap", "sse"}), HasSubstr("HTTP+SSE"));
  EXPECT_THAT(refusal({"qwen", "--wrap", "none"}), HasSubstr("neither a command nor a URL"));
  EXPECT_THAT(refusal({"qwen", "--wrap", "bad"}), HasSubstr("not an object"));
  EXPECT_THAT(refusal({"codex", "--wrap", "web"}), HasSubstr("bearer_token_env_var"));
  EXPECT_THAT(refusal({"cursor", "--wrap", "a"}), HasSubstr("register one with"));
  EXPECT_EQ(everything(), before);
}

TEST_F(SetupRefusal, AMemberOfAWrongKindIsNamed) {
  struct Entry {
    std::string client, member, text;
  };
  for (const Entry& each : {
           Entry{"cursor", "env", R"("url": "http://127.0.0.1:9/", "env": [])"},
           Entry{"cursor", "env", R"("command": "x", "env": "A=b")"},
           Entry{"cursor", "headers", R"("url": "http://127.0.0.1:9/", "headers": ["A"])"},
           Entry{"cursor", "url", R"("url": 9)"},
           Entry{"cursor", "httpUrl", R"("httpUrl": {})"},
           Entry{"cursor", "type", R"("url": "http://127.0.0.1:9/", "type": ["http"])"},
           Entry{"cursor", "command", R"("command": ["x"])"},
           Entry{"cursor", "args", R"("command": "x", "args": "y")"},
           Entry{"cursor", "args", R"("command": "x", "args": ["y", 5])"},
           Entry{"cursor", "args", R"("command": "mcp-sitter", "args": ["--", "y", null])"},
           Entry{"cursor", "cwd", R"("command": "x", "cwd": {})"},
           Entry{"opencode", "command", R"("command": "x")"},
           Entry{"opencode", "command", R"("command": ["x", true])"},
           Entry{"opencode", "environment", R"("command": ["x"], "environment": [])"},
           Entry{"cline", "transport", R"("transport": ["x"])"},
           Entry{"cline", "args", R"("transport": {"command": "x", "args": {}})"},
           Entry{"codex", "env", "url = 'http://127.0.0.1:9/'\nenv = []"},
           Entry{"codex", "env", "command = 'x'\nenv = 1979-05-27"},
           Entry{"codex", "args", "command = 'x'\nargs = [1979-05-27]"},
           Entry{"codex", "args", "command = 'x'\nargs = ['y', nan]"},
           Entry{"codex", "command", "command = 07:32:00"},
           Entry{"codex", "http_headers", "url = 'http://127.0.0.1:9/'\nhttp_headers = 'A'"},
       }) {
    const bool is_toml = each.client == "codex";
    const std::string key = each.client == "opencode" ? "mcp" : "mcpServers";
    const std::string file =
        home_.write(is_toml                     ? ".codex/config.toml"
                    : each.client == "opencode" ? ".config/opencode/opencode.json"
                    : each.client == "cline"    ? ".cline/data/settings/cline_mcp_settings.json"
                                                : ".cursor/mcp.json",
                    is_toml ? "[mcp_servers.a]\n" + each.text + "\n"
                            : "{\"" + key + "\": {\"a\": {" + each.text + "}}}");
    const std::string before = everything();
    for (const char* const option : {"--wrap", "--undo"}) {
      EXPECT_THAT(refusal({each.client, option, "a"}),
                  AllOf(HasSubstr("'a' in " + file), HasSubstr("its member " + each.member + " ")))
          << each.text;
    }
    EXPECT_EQ(setup({each.client}).exit_code, 0);
    EXPECT_EQ(everything(), before);
  }
}

TEST_F(SetupRefusal, AnEntryInSeveralScopesNeedsTheScope) {
  const std::string text = R"({"mcpServers": {"a": {"command": "x"}}})";
  const std::string user = home_.write(".cursor/mcp.json", text);
  const std::string project = project_.write(".cursor/mcp.json", text);
  EXPECT_THAT(refusal({"cursor", "--wrap", "a"}),
              AllOf(HasSubstr(user), HasSubstr(project), HasSubstr("--scope")));
  expect_done({"cursor", "--wrap", "a", "--scope", "user"});
  EXPECT_NE(contents_of(user), text);
  EXPECT_EQ(contents_of(project), text);
  EXPECT_THAT(refusal({"cursor", "--wrap", "a", "--scope", "x"}, 2),
              HasSubstr("only project, user"));
}

TEST_F(SetupRefusal, OutputThatIsLostIsAFailure) {
  const OwnDescriptor unwritable(open("/dev/null", O_RDONLY));
  Program program(
      {.command = {sitter_program(), "setup", "--help"}, .output = unwritable.number()});
  program.close_input();
  EXPECT_EQ(program.wait(), 1);
}

struct WrongWords {
  Words words;
  std::string named;

  friend void PrintTo(const WrongWords& wrong, std::ostream* out) { *out << wrong.named; }
};

class SetupMistake : public SetupTest, public ::testing::WithParamInterface<WrongWords> {};

TEST_P(SetupMistake, IsOneSentenceAndExit2) {
  EXPECT_THAT(refusal(GetParam().words, 2), HasSubstr(GetParam().named));
}

INSTANTIATE_TEST_SUITE_P(
    , SetupMistake,
    ::testing::Values(
        WrongWords{{"word"}, "there is no client 'word', only claude, codex,"},
        WrongWords{{"claude", "a"}, "the command of 'a' is missing"},
        WrongWords{{"claude", "--", "x"}, "only a new server has a command"},
        WrongWords{{"claude", "a", "--"}, "the command of 'a' is missing"},
        WrongWords{{"claude", "--wrap", "a", "--undo", "a"}, "exclude each other"},
        WrongWords{{"claude", "--wrap", ""}, "is empty"},
        WrongWords{{"claude", "--wrap", "a", "--build", "x", "--no-build"}, "--no-build"},
        WrongWords{{"claude", "--wrap", "a", "--watch", "x", "--no-watch"}, "--no-watch"},
        WrongWords{{"claude", "--undo", "a", "--build", "x"}, "are for --wrap"},
        WrongWords{{"claude", "--undo", "a", "--always-load"}, "are for --wrap"},
        WrongWords{{"claude", "--dry-run"}, "is missing"},
        WrongWords{{"cursor", "a\nb", "--", "x"}, "is not a name"},
        WrongWords{{"cursor", "a", "--", "\xFF"}, "is not UTF-8"},
        WrongWords{{"cursor", "a", "--watch", "!x", "--", "x"}, "only excludes files"},
        WrongWords{{"cursor", "a", "--build", "\xFF", "--", "x"}, "is not UTF-8"},
        WrongWords{{"cursor", "a", "--watch", "\xFF*", "--", "x"}, "is not UTF-8"},
        WrongWords{{"cursor", "a", "--", "npx", "mcp-sitter-native", "x"}, "write mcp-sitter"},
        WrongWords{{"cursor", "a", "--http", "http://127.0.0.1:1/"},
                   "put it after --, as in mcp-sitter setup CLIENT NAME -- --http ..."},
        WrongWords{{"cursor", "a", "--", "--dry-run", "x"}, "would not start"},
        WrongWords{{"--wrap", "a"}, "the client is missing"},
        WrongWords{{"--undo", "a", "--dry-run"}, "the client is missing"},
        WrongWords{{"cursor", "--frobnicate"}, "--frobnicate"}));

}  // namespace
}  // namespace sitter::testing
