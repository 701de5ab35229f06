#include "support/setup.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <memory>
#include <regex>
#include <string>
#include <vector>

namespace sitter::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Setup : public SetupTest {};

TEST_F(Setup, TheTableShowsWhatIsWrapped) {
  EXPECT_THAT(setup({}).output, AllOf(HasSubstr("no client was found"), HasSubstr("opencode, qwen"),
                                      HasSubstr("setup CLIENT NAME -- COMMAND")));
  project_.write(".mcp.json", R"({"mcpServers": {"a": {"command": "x"}, "b": {"type": "sse",)"
                              R"("url": "http://127.0.0.1:9/"}, "c": {"command": "npx", "args":)"
                              R"( ["-y", "mcp-sitter-native@1", "--", "x"]}}})");
  home_.write(".codex/config.toml", "x = ");
  home_.write(".gemini/settings.json", "{}");
  const std::string table = setup({}).output;
  EXPECT_THAT(table, ::testing::ContainsRegex("claude +project +a +not wrapped"));
  EXPECT_THAT(table, ::testing::ContainsRegex("claude +project +b +cannot be wrapped"));
  EXPECT_THAT(table, ::testing::ContainsRegex("claude +project +c +wrapped"));
  EXPECT_THAT(table, ::testing::ContainsRegex("codex +user .*not valid TOML at line 1"));
  EXPECT_THAT(table, ::testing::ContainsRegex("gemini +- +- +no servers"));
  EXPECT_THAT(table, Not(HasSubstr("cursor")));
}

TEST_F(Setup, WhatWasGuessedIsShownAndWritten) {
  project_.write("src/main.rs", "");
  project_.write("Cargo.toml", "");
  const std::string file = project_.write(
      ".mcp.json", R"({"mcpServers": {"a": {"command": "./target/debug/a", "args": ["x"]}}})");
  EXPECT_THAT(setup({"claude", "--wrap", "a"}).output,
              HasSubstr("guessed from Cargo.toml: --build \"cargo build\" --watch src --watch "
                        "Cargo.toml\n"));
  EXPECT_EQ(entry_in(file)["args"], Json({"--build", "cargo build", "--watch", "src", "--watch",
                                          "Cargo.toml", "--", "./target/debug/a", "x"}));
  expect_done({"claude", "--undo", "a"});
  expect_done({"claude", "--wrap", "a", "--build", "make", "--watch", "a.c", "--watch", "b.c"});
  EXPECT_EQ(entry_in(file)["args"], Json({"--build", "make", "--watch", "a.c", "--watch", "b.c",
                                          "--", "./target/debug/a", "x"}));
  expect_done({"claude", "--undo", "a"});
  expect_done({"claude", "--wrap", "a", "--no-build", "--no-watch"});
  EXPECT_EQ(entry_in(file)["args"], Json({"--", "./target/debug/a", "x"}));
}

TEST_F(Setup, AnOptionOfAWrappedServerIsChanged) {
  const std::string file =
      project_.write(".mcp.json", R"({"mcpServers": {"a": {"command": "./a", "args": ["x"]}}})");
  expect_done({"claude", "--wrap", "a", "--watch", "*.c"});
  project_.write(
      ".mcp.json",
      std::regex_replace(contents_of(file), std::regex(R"("--watch")"),
                         R"("--build-cwd", "/", "--build", "x", "--name", "dev", "--watch")"));
  const std::string output = expect_done({"claude", "--wrap", "a", "--build", "make"});
  EXPECT_EQ(entry_in(file)["args"],
            Json({"--build", "make", "--name", "dev", "--watch", "*.c", "--", "./a", "x"}));
  EXPECT_THAT(output, Not(HasSubstr("guessed")));
  expect_done({"claude", "--wrap", "a", "--no-build", "--watch", "src", "--watch", "lib"});
  EXPECT_EQ(entry_in(file)["args"],
            Json({"--watch", "src", "--watch", "lib", "--name", "dev", "--", "./a", "x"}));
  const std::string before = everything();
  EXPECT_THAT(refusal({"claude", "--wrap", "a"}), HasSubstr("is wrapped already"));
  EXPECT_THAT(refusal({"claude", "--wrap", "a", "--watch", "!x"}, 2), HasSubstr("only excludes"));
  EXPECT_EQ(everything(), before);
}

TEST_F(Setup, TheSameOptionsAgainChangeNothing) {
  project_.write("Makefile", "");
  project_.write(".mcp.json", R"({"mcpServers": {"a": {"command": "./a"}}})");
  expect_done({"claude", "--wrap", "a", "--watch", "src", "--watch", "lib"});
  const std::string before = everything();
  for (const Words& more : {Words{}, Words{"--build", "make"}, Words{"--dry-run"}}) {
    Words words = {"claude", "--wrap", "a", "--watch", "src", "--watch", "lib"};
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_THAT(expect_done(words), StartsWith("nothing to change"));
  }
  EXPECT_EQ(everything(), before);
}

TEST_F(Setup, ToolsAreAlwaysLoadedIfTheUserSaysSo) {
  const std::string text =
      R"({"mcpServers": {"a": {"command": "x", "args": []}, "w": {"type": "http", "url":)"
      R"( "http://127.0.0.1:9/", "alwaysLoad": false}}})";
  const std::string file = project_.write(".mcp.json", text);
  EXPECT_THAT(expect_done({"claude", "--wrap", "a"}), HasSubstr("with --always-load"));
  EXPECT_FALSE(entry_in(file).contains("alwaysLoad"));
  EXPECT_THAT(expect_done({"claude", "--wrap", "a", "--always-load"}),
              Not(HasSubstr("with --always-load")));
  EXPECT_EQ(entry_in(file)["alwaysLoad"], true);
  EXPECT_THAT(expect_done({"claude", "--wrap", "a", "--always-load"}),
              StartsWith("nothing to change: 'a' in " + file));
  expect_done({"claude", "--wrap", "w", "--always-load"});
  expect_done({"claude", "n", "--scope", "project", "--always-load", "--", "x"});
  const Json servers = Json::parse(contents_of(file))["mcpServers"];
  EXPECT_EQ(servers["w"]["alwaysLoad"], true);
  EXPECT_EQ(servers["n"]["alwaysLoad"], true);
  for (const std::string name : {"n", "w", "a"}) expect_done({"claude", "--undo", name});
  EXPECT_EQ(contents_of(file), text);
  expect_done({"claude", "--wrap", "a", "--always-load"});
  expect_done({"claude", "--undo", "a"});
  EXPECT_EQ(contents_of(file), text);
  EXPECT_THAT(refusal({"codex", "n", "--always-load", "--", "x"}, 2), HasSubstr("Claude Code"));
}

TEST_F(Setup, WithoutACopyTheCommandIsUnwrapped) {
  const std::string file = project_.write(
      ".cursor/mcp.json",
      R"({"mcpServers": {"a": {"command": "/x/mcp-sitter", "args": ["--build", "make", "--", "a", "b"]},)"
      R"( "b": {"command": "npx", "args": ["-y", "mcp-sitter-native", "c", "d"]},)"
      R"( "c": {"command": "mcp-sitter", "args": ["--http", "http://127.0.0.1:9/"]}}})");
  expect_done({"cursor", "--undo", "a"});
  expect_done({"cursor", "--undo", "b"});
  EXPECT_EQ(contents_of(file),
            R"({"mcpServers": {"a": {"command": "a", "args": ["b"]},)"
            R"( "b": {"command": "c", "args": ["d"]},)"
            R"( "c": {"command": "mcp-sitter", "args": ["--http", "http://127.0.0.1:9/"]}}})");
  EXPECT_THAT(refusal({"cursor", "--undo", "c"}), HasSubstr("by hand"));
}

TEST_F(Setup, AChangeOfTheEntryItselfStays) {
  const std::string file = project_.write(
      ".cursor/mcp.json", R"({"mcpServers": {"a": {"command": "x", "args": [ "y" ]}}})");
  expect_done({"cursor", "--wrap", "a"});
  std::string text = contents_of(file);
  text.insert(text.rfind("}}}"), R"(, "env": {"A": "b"})");
  project_.write(".cursor/mcp.json", text);
  expect_done({"cursor", "--undo", "a"});
  EXPECT_EQ(contents_of(file),
            R"({"mcpServers": {"a": {"command": "x", "args": [ "y" ], "env": {"A": "b"}}}})");
}

TEST_F(Setup, AChangeOfTheCommandItselfStays) {
  const std::string file = project_.write(
      ".cursor/mcp.json", R"({"mcpServers": {"a": {"command": "x", "args": ["old"]}}})");
  expect_done({"cursor", "--wrap", "a"});
  std::string text = contents_of(file);
  project_.write(".cursor/mcp.json", text.replace(text.find("old"), 3, "new"));
  expect_done({"cursor", "--undo", "a"});
  EXPECT_EQ(contents_of(file), R"({"mcpServers": {"a": {"command": "x", "args": ["new"]}}})");
}

TEST_F(Setup, UndoKeepsTheServerIfItsCopyIsEmpty) {
  const std::string file =
      project_.write(".cursor/mcp.json", R"({"mcpServers": {"a": {"command": "x"}}})");
  for (const char* const copy : {"", "{}", R"({"mcpServers": {"a": 5}})"}) {
    expect_done({"cursor", "--wrap", "a"});
    project_.write(".cursor/mcp.json.before-mcp-sitter-a", copy);
    expect_done({"cursor", "--undo", "a"});
    EXPECT_EQ(entry_in(file)["command"], "x") << copy;
  }
}

TEST_F(Setup, AnAddressInTomlComesBackWithEachByte) {
  const std::string text =
      "[mcp_servers.k]\nenabled = true\nurl = 'http://127.0.0.1:1/m'  # prod\n"
      "  http_headers = { A-b = \"one\", A_b = \"two\" }\n\n[mcp_servers.k.env]\nA = \"1\"\n";
  home_.write(".codex/config.toml", text);
  const std::string before = everything();
  expect_done({"codex", "--wrap", "k"});
  EXPECT_THAT(contents_of(home_ / ".codex/config.toml"),
              AllOf(HasSubstr("\"one\""), HasSubstr("\"two\"")));
  expect_done({"codex", "--undo", "k"});
  EXPECT_EQ(everything(), before);
}

TEST_F(Setup, TheFirstServerOfAllIsTakenAwayWithEachByte) {
  for (const std::string text : {"", "model = \"x\"\n", "[mcp_servers]\n"}) {
    home_.write(".codex/config.toml", text);
    const std::string before = everything();
    for (const std::string name : {"one", "two"}) expect_done({"codex", name, "--", "./x"});
    for (const std::string name : {"one", "two"}) expect_done({"codex", "--undo", name});
    EXPECT_EQ(everything(), before) << text;
  }
  fs::remove(home_ / ".codex/config.toml");
  const std::string before = everything();
  expect_done({"codex", "one", "--", "./x"});
  expect_done({"codex", "--undo", "one"});
  EXPECT_EQ(everything(), before);
}

TEST_F(Setup, RunsAtOnceLoseNothing) {
  constexpr int kServers = 8;
  Json servers;
  for (int i = 0; i < kServers; ++i) servers["s" + std::to_string(i)] = {{"command", "x"}};
  const std::string file =
      project_.write(".cursor/mcp.json", Json({{"mcpServers", servers}}).dump(2));
  std::vector<std::unique_ptr<Program>> programs;
  for (const auto& [name, server] : servers.items()) {
    programs.push_back(std::make_unique<Program>(
        Program::Start{.command = {sitter_program(), "setup", "cursor", "--wrap", name},
                       .cwd = project_.path(),
                       .environment = {"HOME=" + home_.path()}}));
  }
  for (const auto& program : programs) {
    program->close_input();
    EXPECT_EQ(program->wait(), 0) << program->error_text();
  }
  const Json after = Json::parse(contents_of(file))["mcpServers"];
  for (const auto& [name, server] : after.items()) {
    EXPECT_EQ(server["command"], sitter_program()) << name;
  }
}

TEST_F(Setup, ProjectsOfOneFileAreKeptApart) {
  const auto entry = [](const std::string& project) {
    return "\"" + project + R"(": {"mcpServers": {"a": {"command": "x"}}})";
  };
  home_.write(".claude.json",
              "{\"projects\": {" + entry(project_.path()) + ", " + entry("/other") + "}}");
  expect_done({"claude", "--wrap", "a"});
  const Json projects = Json::parse(contents_of(home_ / ".claude.json"))["projects"];
  EXPECT_EQ(projects[project_.path()]["mcpServers"]["a"]["command"], sitter_program());
  EXPECT_EQ(projects["/other"]["mcpServers"]["a"]["command"], "x");
}

TEST_F(Setup, AWorktreeBelongsToItsRepository) {
  project_.write(".git", "gitdir: /repository/.git/worktrees/tree\n");
  home_.write(".claude.json",
              R"({"projects": {"/repository": {"mcpServers": {"a": {"command": "x"}}}}})");
  expect_done({"claude", "--wrap", "a"});
  const Json projects = Json::parse(contents_of(home_ / ".claude.json"))["projects"];
  EXPECT_EQ(projects["/repository"]["mcpServers"]["a"]["command"], sitter_program());
}

TEST_F(Setup, TheLinkOfAWorktreeMayBeRelative) {
  project_.write("tree/.git", "gitdir: ../main/.git/worktrees/tree\n");
  const ShortRun run = setup_in(project_ / "tree", {"claude", "a", "--", "x"});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_TRUE(
      Json::parse(contents_of(home_ / ".claude.json"))["projects"].contains(project_ / "main"));
}

TEST_F(Setup, AServerForAllProjectsStartsInThisOne) {
  project_.write("Makefile", "");
  project_.write_script("srv", "exit 0");
  const std::string output = expect_done({"cursor", "a", "--scope", "user", "--", "./srv"});
  EXPECT_EQ(
      entry_in(home_ / ".cursor/mcp.json")["args"],
      Json({"--cwd", project_.path(), "--build", "make", "--watch", "Makefile", "--", "./srv"}));
  EXPECT_THAT(output, HasSubstr("try it: mcp-sitter doctor --cwd " + project_.path()));
  EXPECT_THAT(output, Not(HasSubstr("warning")));
}

TEST_F(Setup, ANewServerMayBeAWholeCommandLineOfMcpSitter) {
  expect_done({"cursor", "a", "--", "mcp-sitter", "--cli", "./notes.sh", "--name", "dev"});
  EXPECT_EQ(entry_in(project_ / ".cursor/mcp.json")["args"],
            Json({"--cli", "./notes.sh", "--name", "dev"}));
}

TEST_F(Setup, OptionsOfMcpSitterMayStandForTheCommand) {
  const auto written = [&](const Words& behind) {
    Words words = {"cursor", "a", "--"};
    words.insert(words.end(), behind.begin(), behind.end());
    expect_done(words);
    const Json entry = entry_in(project_ / ".cursor/mcp.json");
    EXPECT_EQ(entry["command"], sitter_program());
    EXPECT_EQ(entry["args"], Json(behind));
    expect_done({"cursor", "--undo", "a"});
  };
  written({"--http", "http://127.0.0.1:1/mcp"});
  written({"--http", "http://127.0.0.1:1/mcp", "--", "./daemon", "x"});
  written({"--name", "dev", "--cli", "./tool"});
}

TEST_F(Setup, AnOptionOfSetupBehindTheDashesIsPointedOut) {
  const ShortRun run = setup({"cursor", "a", "--", "x", "--dry-run", "--watch", "--scope=secret"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.error,
            "note: --dry-run comes after --, so it belongs to the command, not to setup\n"
            "note: --scope comes after --, so it belongs to the command, not to setup\n");
}

TEST_F(Setup, ACommandThatIsMissingAndAGuessThatFailsAreSaid) {
  const std::string output = setup({"cursor", "a", "--", "./nothing"}).output;
  EXPECT_THAT(output, HasSubstr("warning: there is no " + project_ / "nothing" + " yet"));
  EXPECT_THAT(output, HasSubstr("guessed neither --build nor --watch"));
  EXPECT_THAT(setup({"cursor", "--undo", "a"}).output, HasSubstr("which was not there before"));
  project_.write(".cursor/mcp.json", R"({"mcpServers": {"a": {"command": "uvx"}}})");
  EXPECT_THAT(setup({"cursor", "--wrap", "a"}).output,
              HasSubstr("guessed neither --build nor --watch: the command names no file"));
}

TEST_F(Setup, AnAddressIsShownWithoutItsSecrets) {
  project_.write(".cursor/mcp.json",
                 R"({"mcpServers": {"a": {"url": "https://h.example/mcp?key=hidden7"},
                     "b": {"url": "https://me:hidden7@h.example/mcp"}, "c": {"command": "x"},
                     "d": {"command": "x", "args": ["http:\/\/h.example\/#hidden7"]},
                     "e": {"command": "mcp-sitter", "args": ["--http", "http\u003a//h/?hidden7",
                       "--header", "A=hidden7", "--header=B=hidden7", "--", "./daemon"]}}})");
  for (const Words& words :
       {Words{"cursor"}, Words{"cursor", "--wrap", "c", "--dry-run"},
        Words{"cursor", "--wrap", "d", "--dry-run"}, Words{"cursor", "--wrap", "d"},
        Words{"cursor", "--wrap", "e", "--watch", "src", "--dry-run"}}) {
    EXPECT_THAT(expect_done(words), Not(HasSubstr("hidden7")));
  }
}

TEST_F(Setup, CommentsInTheArgumentsStay) {
  const std::string text =
      "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"args\": [ // each\n\"y\", // first\n]}}}";
  const std::string file = project_.write(".cursor/mcp.json", text);
  expect_done({"cursor", "--wrap", "a", "--no-build", "--no-watch"});
  EXPECT_THAT(contents_of(file), HasSubstr("[ // each\n\"--\",\n\"x\",\n\"y\", // first\n]"));
  fs::remove(file + ".before-mcp-sitter-a");
  expect_done({"cursor", "--undo", "a"});
  EXPECT_EQ(contents_of(file), text);
}

TEST_F(Setup, AnAddressWithAQueryIsInNoArgument) {
  const std::string text =
      R"({"mcpServers": {"a": {"type": "http", "url": "http://127.0.0.1:9/?key=hidden7",)"
      R"( "env": {"MCP_SITTER_URL": "mine"}, "headers": {"K": "v"}}}})";
  const std::string file = project_.write(".mcp.json", text);
  const std::string output = expect_done({"claude", "--wrap", "a"});
  EXPECT_THAT(output, AllOf(HasSubstr("in variables: MCP_SITTER_URL_, MCP_SITTER_HEADER_K\n"),
                            HasSubstr("--http-env MCP_SITTER_URL_"), Not(HasSubstr("hidden7"))));
  EXPECT_EQ(entry_in(file)["args"],
            Json({"--http-env", "MCP_SITTER_URL_", "--header-env", "K=MCP_SITTER_HEADER_K"}));
  EXPECT_EQ(entry_in(file)["env"], Json({{"MCP_SITTER_URL", "mine"},
                                         {"MCP_SITTER_URL_", "http://127.0.0.1:9/?key=hidden7"},
                                         {"MCP_SITTER_HEADER_K", "v"}}));
  expect_done({"claude", "--wrap", "a", "--always-load"});
  EXPECT_EQ(entry_in(file)["alwaysLoad"], true);
  expect_done({"claude", "--undo", "a"});
  EXPECT_EQ(contents_of(file), text);

  for (const Words& address : {Words{"--http", "http://127.0.0.1:9/?key=hidden7"},
                               {"--http=http://127.0.0.1:9/#hidden7"}}) {
    Words words = {"claude", "b", "--scope", "project", "--", "mcp-sitter", "--log-level", "debug"};
    words.insert(words.end(), address.begin(), address.end());
    EXPECT_THAT(expect_done(words),
                HasSubstr("has what may be secret in a variable: MCP_SITTER_URL\n"));
    const Json entry = entry_in(file, "b");
    EXPECT_EQ(entry["args"], Json({"--log-level", "debug", "--http-env", "MCP_SITTER_URL"}));
    EXPECT_THAT(entry["env"]["MCP_SITTER_URL"], HasSubstr("hidden7"));
    expect_done({"claude", "--undo", "b"});
  }
  // The program of the client would have it in its arguments.
  home_.write_script("bin/claude", "exit 1");
  expect_done({"claude", "c", "--", "mcp-sitter", "--http", "http://127.0.0.1:9/", "--header",
               "Authorization=Bearer hidden7"});
  const Json entry = Json::parse(
      contents_of(home_ / ".claude.json"))["projects"][project_.path()]["mcpServers"]["c"];
  EXPECT_EQ(entry["args"], Json({"--http", "http://127.0.0.1:9/", "--header-env",
                                 "Authorization=MCP_SITTER_HEADER_AUTHORIZATION"}));
  EXPECT_EQ(entry["env"]["MCP_SITTER_HEADER_AUTHORIZATION"], "Bearer hidden7");
}

TEST_F(Setup, HeadersOfEveryKindAreTakenOrRefusedAtOnce) {
  const std::string file = project_.write(
      ".mcp.json",
      R"({"mcpServers": {"a": {"type": "http", "url": "http://127.0.0.1:9/", "headers": {"K": ""}},)"
      R"( "b": {"type": "http", "url": "http://127.0.0.1:9/", "headers": {"K": "hidden\n7"}}}})");
  expect_done({"claude", "--wrap", "a"});
  EXPECT_EQ(entry_in(file)["args"], Json({"--http", "http://127.0.0.1:9/", "--header", "K="}));
  EXPECT_THAT(refusal({"claude", "--wrap", "b"}, 2),
              AllOf(HasSubstr("'b' in " + file), HasSubstr("the value of 'K' has characters"),
                    Not(HasSubstr("hidden"))));
}

TEST_F(Setup, AnAddressThatWasEditedSinceIsNotGivenBack) {
  const std::string text =
      R"({"mcpServers": {"a": {"type": "http", "url": "http://127.0.0.1:9/?key=first"}}})";
  const std::string file = project_.write(".mcp.json", text);
  expect_done({"claude", "--wrap", "a"});
  std::string edited = contents_of(file);
  edited.replace(edited.find("first"), 5, "other");
  project_.write(".mcp.json", edited);
  EXPECT_THAT(refusal({"claude", "--undo", "a"}), HasSubstr("the server was edited since"));
  EXPECT_EQ(contents_of(file), edited);
}

TEST_F(Setup, AClientThatLeavesAProcessBehindIsNotWaitedFor) {
  home_.write_script("bin/claude",
                     "sleep 1000 &\necho $! >'" + home_ / "left" + "'; echo no such scope; exit 1");
  Program program({.command = {"/usr/bin/env", "-i", "HOME=" + home_.path(),
                               "PATH=" + home_ / "bin" + ":/usr/bin:/bin", sitter_program(),
                               "setup", "claude", "a", "--", "x"},
                   .cwd = project_.path()});
  program.close_input();
  EXPECT_EQ(program.wait(), 1);
  EXPECT_THAT(program.error_text(), HasSubstr("no such scope"));
  const long left = number_in(home_ / "left");
  EXPECT_TRUE(is_alive(left));
  kill(static_cast<pid_t>(left), SIGKILL);
}

TEST_F(Setup, ALinkStaysALinkAndReadOnlyFilesStay) {
  const std::string text = R"({"mcpServers": {"a": {"command": "x"}}})";
  home_.write("dotfiles/mcp.json", text);
  fs::create_directory(project_ / ".cursor");
  fs::create_symlink(home_ / "dotfiles/mcp.json", project_ / ".cursor/mcp.json");
  const std::string before = everything();
  expect_done({"cursor", "--wrap", "a"});
  EXPECT_TRUE(fs::is_symlink(project_ / ".cursor/mcp.json"));
  EXPECT_NE(contents_of(home_ / "dotfiles/mcp.json"), text);
  expect_done({"cursor", "--undo", "a"});
  EXPECT_EQ(everything(), before);
  chmod((home_ / "dotfiles/mcp.json").c_str(), 0444);
  const std::string read_only = everything();
  EXPECT_THAT(refusal({"cursor", "--wrap", "a"}), HasSubstr("read-only"));
  EXPECT_EQ(everything(), read_only);
}

TEST_F(Setup, AGuessIsToldOnOneLineAndWritesNothingInADryRun) {
  EXPECT_THAT(expect_done({"claude", "a", "--scope", "project", "--dry-run", "--", "python3",
                           "./x\x1b[31m\ny.py"}),
              HasSubstr("guessed from the folder of x y.py: --watch \"*.py\"\n"));
  project_.write("CMakeLists.txt", "");
  project_.write("build/CMakeCache.txt", "");
  const std::string before = everything();
  EXPECT_THAT(expect_done({"claude", "a", "--scope", "project", "--dry-run", "--", "./build/a"}),
              HasSubstr("\nnote: cmake is asked only without --dry-run"));
  EXPECT_EQ(everything(), before);
}

TEST_F(Setup, HelpNamesEachOption) {
  const std::string help = expect_done({"--help"});
  for (const char* const word :
       {"--wrap", "--undo", "--scope", "--build", "--no-build", "--watch", "--no-watch",
        "--always-load", "--dry-run", "-- --http URL", "-- --cli TOOL",
        "claude, codex, gemini, cursor, vscode, opencode, qwen, cline"}) {
    EXPECT_THAT(help, HasSubstr(word));
  }
}

}  // namespace
}  // namespace sitter::testing
