#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "support/scripted_client.hpp"
#include "support/temporary_directory.hpp"

namespace sitter::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Words = std::vector<std::string>;

std::string contents_of(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// `mcp-sitter setup` with a HOME of its own, in a project with settings of the clients.
class Setup : public ::testing::Test {
 protected:
  struct Run {
    int exit_code = 0;
    std::string output, error;
  };

  Run setup(Words words) const { return setup_in(project_.path(), std::move(words)); }

  Run setup_in(const std::string& folder, Words words) const {
    words.insert(words.begin(), {"/usr/bin/env", "-i", "HOME=" + home_.path(), "PATH=/usr/bin:/bin",
                                 sitter_program(), "setup"});
    Program program({.command = std::move(words), .cwd = folder});
    program.close_input();
    Run run;
    for (const std::string& line : program.read_all()) run.output += line + "\n";
    run.exit_code = program.wait();
    run.error = program.error_text();
    return run;
  }

  std::string refusal(const Words& words, int exit_code = 1) const {
    const Run run = setup(words);
    EXPECT_EQ(run.exit_code, exit_code) << run.output << run.error;
    EXPECT_EQ(run.output, "");
    EXPECT_THAT(run.error, StartsWith("mcp-sitter setup: "));
    EXPECT_EQ(lines_of(run.error).size(), 1) << run.error;
    return run.error;
  }

  void expect_done(const Words& words) const {
    const Run run = setup(words);
    EXPECT_EQ(run.exit_code, 0) << run.error;
    EXPECT_EQ(run.error, "");
  }

  /// The names of all files in HOME and in the project with their bytes and modes.
  std::string everything() const {
    std::string all;
    for (const std::string& root : {home_.path(), project_.path()}) {
      Words files;
      for (const auto& entry : fs::recursive_directory_iterator(root)) {
        if (!entry.is_directory()) files.push_back(entry.path().native());
      }
      std::sort(files.begin(), files.end());
      for (const std::string& file : files) {
        struct stat found {};
        lstat(file.c_str(), &found);
        all += file + " " + std::to_string(found.st_mode) + "\n" + contents_of(file) + "\n";
      }
    }
    return all;
  }

  TemporaryDirectory home_, project_;
};

/// A settings file with servers, as the client or a person has written it.
struct Settings {
  std::string client;
  std::string file;
  bool is_in_project = false;
  std::string text;
  Words servers;

  friend void PrintTo(const Settings& settings, std::ostream* out) { *out << settings.client; }
};

class SetupOf : public Setup, public ::testing::WithParamInterface<Settings> {
 protected:
  void SetUp() override {
    std::string text = GetParam().text;
    const std::size_t at = text.find("PROJECT");
    if (at != text.npos) text.replace(at, 7, project_.path());
    settings_ = (GetParam().is_in_project ? project_ : home_).write(GetParam().file, text, 0640);
    project_.write("src/main.rs", "");
    project_.write("Cargo.toml", "");
  }

  std::string settings_;
};

TEST_P(SetupOf, UndoGivesEachByteBack) {
  const std::string before = everything();
  for (const std::string& server : GetParam().servers) {
    expect_done({GetParam().client, "--wrap", server});
    EXPECT_THAT(contents_of(settings_), HasSubstr(sitter_program()));
    EXPECT_NE(everything(), before);
    EXPECT_THAT(refusal({GetParam().client, "--wrap", server}), HasSubstr("is wrapped already"));
    expect_done({GetParam().client, "--undo", server});
    EXPECT_EQ(everything(), before);
    EXPECT_THAT(refusal({GetParam().client, "--undo", server}), HasSubstr("is not wrapped"));
  }
}

TEST_P(SetupOf, UndoInAnyOrderGivesEachByteBack) {
  const std::string before = everything();
  for (const std::string& server : GetParam().servers) {
    expect_done({GetParam().client, "--wrap", server});
  }
  for (const std::string& server : GetParam().servers) {
    expect_done({GetParam().client, "--undo", server});
  }
  EXPECT_EQ(everything(), before);
}

TEST_P(SetupOf, ANewServerIsTakenAwayWithEachByte) {
  const std::string before = everything();
  for (const std::string name : {"new", "other.new"}) {
    expect_done({GetParam().client, name, "--", "./target/debug/notes", "a b"});
    EXPECT_THAT(setup({GetParam().client}).output, HasSubstr(name));
    EXPECT_THAT(refusal({GetParam().client, name, "--", "x"}), HasSubstr("already"));
  }
  for (const std::string name : {"new", "other.new"}) {
    expect_done({GetParam().client, "--undo", name});
  }
  EXPECT_EQ(everything(), before);
}

TEST_P(SetupOf, ADryRunWritesNothingAndShowsNoSecret) {
  const std::string before = everything();
  for (const std::string& server : GetParam().servers) {
    const Run run = setup({GetParam().client, "--wrap", server, "--dry-run"});
    EXPECT_EQ(run.exit_code, 0) << run.error;
    EXPECT_THAT(run.output, AllOf(HasSubstr("--- " + settings_), HasSubstr("\n+++ " + settings_),
                                  HasSubstr("\n@@ -"), HasSubstr("nothing was written"),
                                  Not(HasSubstr("s3cret"))));
  }
  EXPECT_EQ(everything(), before);
}

TEST_P(SetupOf, WhatWasWrittenAfterwardsStays) {
  for (const std::string& server : GetParam().servers) {
    expect_done({GetParam().client, "--wrap", server});
  }
  const std::string added = settings_.ends_with(".toml") ? "\n# later\n" : " /* later */";
  std::ofstream(settings_, std::ios::binary | std::ios::app) << added;
  for (const std::string& server : GetParam().servers) {
    expect_done({GetParam().client, "--undo", server});
  }
  std::string expected = GetParam().text;
  const std::size_t at = expected.find("PROJECT");
  if (at != expected.npos) expected.replace(at, 7, project_.path());
  EXPECT_EQ(contents_of(settings_), expected + added);
}

INSTANTIATE_TEST_SUITE_P(
    , SetupOf,
    ::testing::Values(
        // As `claude mcp add` writes it.
        Settings{"claude",
                 ".claude.json",
                 false,
                 R"json({
  "firstStartTime": "2026-11-27T11:49:33.442Z",
  "projects": {
    "PROJECT": {
      "allowedTools": [],
      "mcpServers": {
        "notes": {
          "type": "stdio",
          "command": "./target/debug/notes",
          "args": [
            "--flag"
          ],
          "env": {
            "TOKEN": "s3cret"
          }
        },
        "web": {
          "type": "http",
          "url": "http://127.0.0.1:9/mcp",
          "headers": {
            "Authorization": "Bearer s3cret"
          }
        },
        "js": {
          "command": "a"
        }
      },
      "hasTrustDialogAccepted": false
    }
  },
  "primaryApiKey": "s3cret",
  "mcpServers": {
    "mine": {
      "type": "stdio",
      "command": "node",
      "args": [],
      "env": {}
    }
  }
})json",
                 {"notes", "web", "js", "mine"}},
        // As `codex mcp add` writes it, and with the other spellings of TOML.
        Settings{"codex",
                 ".codex/config.toml",
                 false,
                 R"toml(model = "s3cret" # é
mcp_servers.dotted.command = "a" # c
mcp_servers.dotted.env.A = "s3cret"
mcp_servers.inline = { command = "x", args = ["y"], env = { A = "s3cret" } }

[mcp_servers.notes]
command = "./target/debug/notes"
args = ["--flag"]

[mcp_servers.notes.env]
TOKEN = "s3cret"

[mcp_servers."quoted.name"]
  "command" = 'x'
  args = [ # each
    "a", # first
  ]

[mcp_servers.web]
url = "http://127.0.0.1:9/mcp"
startup_timeout_sec = 20

[mcp_servers.web.http_headers]
X-Token = "s3cret")toml",
                 {"notes", "quoted.name", "inline", "dotted", "web"}},
        Settings{"gemini",
                 ".gemini/settings.json",
                 true,
                 "{\r\n\t// c\r\n\t\"mcpServers\": {\r\n\t\t\"notes\": {\r\n\t\t\t\"command\": "
                 "\"a\",\r\n\t\t\t\"env\": { \"A\": \"s3cret\" },\r\n\t\t},\r\n\t\t\"web\": "
                 "{ \"httpUrl\": \"http://127.0.0.1:9/\", \"headers\": {\"A\": \"s3cret\"} "
                 "},\r\n\t},\r\n}\r\n",
                 {"notes", "web"}},
        Settings{"qwen",
                 ".qwen/settings.json",
                 false,
                 R"json({
  "mcpServers": {
    "notes": {
      "command": "./target/debug/notes",
      "args": []
    },
    "web": {
      "httpUrl": "http://127.0.0.1:9/mcp",
      "headers": {
        "A": "s3cret"
      }
    }
  },
  "$version": 4
})json",
                 {"notes", "web"}},
        Settings{
            "cursor",
            ".cursor/mcp.json",
            true,
            R"json({"mcpServers":{"notes":{"command":"a","args":["b"],"env":{"A":"s3cret"}},)json"
            R"json("web":{"url":"http://127.0.0.1:9/mcp","headers":{"A":"s3cret"}}}})json",
            {"notes", "web"}},
        Settings{"vscode",
                 ".vscode/mcp.json",
                 true,
                 "\xEF\xBB\xBF{\n  // servers\n  \"servers\": {\n    \"notes\": {\n      \"type\": "
                 "\"stdio\", /* local */\n      \"command\": "
                 "\"${workspaceFolder}/target/debug/notes\" // last\n    },\n    \"web\": { "
                 "\"type\": \"http\", \"url\": \"http://127.0.0.1:9/mcp\" }\n  },\n  \"inputs\": "
                 "[{ \"id\": \"s3cret\" },],\n}\n",
                 {"notes", "web"}},
        // As `opencode mcp add` writes it.
        Settings{"opencode",
                 ".config/opencode/opencode.jsonc",
                 false,
                 R"json({
  "$schema": "https://opencode.ai/config.json", // c
  "mcp": {
    "notes": {
      "type": "local",
      "command": [
        "./target/debug/notes",
        "--flag"
      ],
      "environment": {
        "A": "s3cret"
      }
    },
    "web": {
      "type": "remote",
      "url": "http://127.0.0.1:9/mcp",
      "headers": {
        "A": "s3cret"
      },
    },
    "short": { "type": "local", "command": ["a"] }
  }
})json",
                 {"notes", "web", "short"}},
        // The first entry as `cline mcp add` writes it, the second as its documentation shows it.
        Settings{"cline",
                 ".cline/data/settings/cline_mcp_settings.json",
                 false,
                 R"json({
  "mcpServers": {
    "notes": {
      "transport": {
        "type": "stdio",
        "command": "./target/debug/notes",
        "args": [
          "--flag"
        ]
      }
    },
    "flat": {
      "command": "node",
      "args": ["server.js"],
      "env": { "A": "s3cret" },
      "disabled": false
    },
    "web": {
      "transport": {
        "type": "streamableHttp",
        "url": "http://127.0.0.1:9/mcp",
        "headers": { "A": "s3cret" }
      }
    }
  }
}
)json",
                 {"notes", "flat", "web"}}),
    [](const auto& tested) { return tested.param.client; });

TEST_F(Setup, TheTableShowsWhatIsWrapped) {
  EXPECT_THAT(setup({}).output, HasSubstr("no client is found"));
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
  EXPECT_EQ(Json::parse(contents_of(file))["mcpServers"]["a"]["args"],
            Json({"--build", "cargo build", "--watch", "src", "--watch", "Cargo.toml", "--",
                  "./target/debug/a", "x"}));
  expect_done({"claude", "--undo", "a"});
  expect_done({"claude", "--wrap", "a", "--build", "make", "--watch", "a.c", "--watch", "b.c"});
  EXPECT_EQ(
      Json::parse(contents_of(file))["mcpServers"]["a"]["args"],
      Json({"--build", "make", "--watch", "a.c", "--watch", "b.c", "--", "./target/debug/a", "x"}));
  expect_done({"claude", "--undo", "a"});
  expect_done({"claude", "--wrap", "a", "--no-build", "--no-watch"});
  EXPECT_EQ(Json::parse(contents_of(file))["mcpServers"]["a"]["args"],
            Json({"--", "./target/debug/a", "x"}));
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

TEST_F(Setup, AnEntryInSeveralScopesNeedsTheScope) {
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

TEST_F(Setup, AChangeOfTheCommandItselfStays) {
  const std::string file = project_.write(
      ".cursor/mcp.json", R"({"mcpServers": {"a": {"command": "x", "args": ["old"]}}})");
  expect_done({"cursor", "--wrap", "a"});
  std::string text = contents_of(file);
  project_.write(".cursor/mcp.json", text.replace(text.find("old"), 3, "new"));
  expect_done({"cursor", "--undo", "a"});
  EXPECT_EQ(contents_of(file), R"({"mcpServers": {"a": {"command": "x", "args": ["new"]}}})");
}

TEST_F(Setup, ACopyThatWasEmptiedCostsNoServer) {
  const std::string file =
      project_.write(".cursor/mcp.json", R"({"mcpServers": {"a": {"command": "x"}}})");
  for (const char* const copy : {"", "{}", R"({"mcpServers": {"a": 5}})"}) {
    expect_done({"cursor", "--wrap", "a"});
    project_.write(".cursor/mcp.json.before-mcp-sitter-a", copy);
    expect_done({"cursor", "--undo", "a"});
    EXPECT_EQ(Json::parse(contents_of(file))["mcpServers"]["a"]["command"], "x") << copy;
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

TEST_F(Setup, WhatCannotBeTakenOutStays) {
  home_.write(".codex/config.toml", "model = \"x\"\n");
  expect_done({"codex", "n", "--", "node", "x.js"});
  const std::string text =
      contents_of(home_ / ".codex/config.toml") + "[[mcp_servers.n.things]]\nz = 1\n";
  home_.write(".codex/config.toml", text);
  EXPECT_THAT(refusal({"codex", "--undo", "n"}), HasSubstr("edit it by hand"));
  EXPECT_EQ(contents_of(home_ / ".codex/config.toml"), text);
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

TEST_F(Setup, SettingsThatNoClientWritesAreRefused) {
  std::string key = "a";
  for (int i = 0; i < 50'000; ++i) key += ".a";
  home_.write(".codex/config.toml", key + " = 1\n");
  EXPECT_THAT(refusal({"codex", "n", "--", "x"}), HasSubstr("a key of 50001 parts in line 1"));
  project_.write(".cursor/mcp.json", R"({"x": 1e400})");
  EXPECT_THAT(refusal({"cursor", "n", "--", "x"}), HasSubstr("cannot be read"));
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
  const Run run = setup_in(project_ / "tree", {"claude", "a", "--", "x"});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_TRUE(
      Json::parse(contents_of(home_ / ".claude.json"))["projects"].contains(project_ / "main"));
}

TEST_F(Setup, AServerForAllProjectsStartsInThisOne) {
  project_.write("Makefile", "");
  project_.write_script("srv", "exit 0");
  const Run run = setup({"cursor", "a", "--scope", "user", "--", "./srv"});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(
      Json::parse(contents_of(home_ / ".cursor/mcp.json"))["mcpServers"]["a"]["args"],
      Json({"--cwd", project_.path(), "--build", "make", "--watch", "Makefile", "--", "./srv"}));
  EXPECT_THAT(run.output, HasSubstr("try it: mcp-sitter doctor --cwd " + project_.path()));
  EXPECT_THAT(run.output, Not(HasSubstr("warning")));
}

TEST_F(Setup, ANewServerMayBeAWholeCommandLineOfMcpSitter) {
  expect_done({"cursor", "a", "--", "mcp-sitter", "--cli", "./notes.sh", "--name", "dev"});
  EXPECT_EQ(Json::parse(contents_of(project_ / ".cursor/mcp.json"))["mcpServers"]["a"]["args"],
            Json({"--cli", "./notes.sh", "--name", "dev"}));
}

TEST_F(Setup, ACommandThatIsMissingAndAGuessThatFailsAreSaid) {
  const std::string output = setup({"cursor", "a", "--", "./nothing"}).output;
  EXPECT_THAT(output, HasSubstr("warning: there is no " + project_ / "nothing" + " yet"));
  EXPECT_THAT(output, HasSubstr("guessed neither --build nor --watch"));
  EXPECT_THAT(setup({"cursor", "--undo", "a"}).output, HasSubstr("which was not there before"));
}

TEST_F(Setup, AnAddressIsShownWithoutItsSecrets) {
  project_.write(".cursor/mcp.json",
                 R"({"mcpServers": {"a": {"url": "https://h.example/mcp?key=hidden7"},
                     "b": {"url": "https://me:hidden7@h.example/mcp"}, "c": {"command": "x"}}})");
  for (const Words& words : {Words{"cursor"}, Words{"cursor", "--wrap", "c", "--dry-run"}}) {
    const Run run = setup(words);
    EXPECT_EQ(run.exit_code, 0) << run.error;
    EXPECT_THAT(run.output, Not(HasSubstr("hidden7")));
  }
}

TEST_F(Setup, AClientThatLeavesAProcessBehindIsNotWaitedFor) {
  home_.write_script("bin/claude", "sleep 30 &\necho no such scope; exit 1");
  Program program({.command = {"/usr/bin/env", "-i", "HOME=" + home_.path(),
                               "PATH=" + home_ / "bin" + ":/usr/bin:/bin", sitter_program(),
                               "setup", "claude", "a", "--", "x"},
                   .cwd = project_.path()});
  program.close_input();
  EXPECT_EQ(program.wait(), 1);
  EXPECT_THAT(program.error_text(), HasSubstr("no such scope"));
}

TEST_F(Setup, OutputThatIsLostIsAFailure) {
  const OwnDescriptor full(open("/dev/full", O_WRONLY));
  Program program({.command = {sitter_program(), "setup", "--help"}, .output = full.number()});
  program.close_input();
  EXPECT_EQ(program.wait(), 1);
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

TEST_F(Setup, WhatCannotBeDoneIsOneSentenceAndChangesNothing) {
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
  EXPECT_THAT(refusal({"qwen", "--wrap", "bad"}), HasSubstr("no object"));
  EXPECT_THAT(refusal({"codex", "--wrap", "web"}), HasSubstr("bearer_token_env_var"));
  EXPECT_THAT(refusal({"cursor", "--wrap", "a"}), HasSubstr("register one with"));
  EXPECT_EQ(everything(), before);
}

struct WrongWords {
  Words words;
  std::string named;

  friend void PrintTo(const WrongWords& wrong, std::ostream* out) { *out << wrong.named; }
};

class SetupMistake : public Setup, public ::testing::WithParamInterface<WrongWords> {};

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
        WrongWords{{"claude", "--dry-run"}, "is missing"},
        WrongWords{{"cursor", "a\nb", "--", "x"}, "is not a name"},
        WrongWords{{"cursor", "a", "--", "\xFF"}, "is not UTF-8"},
        WrongWords{{"cursor", "a", "--watch", "!x", "--", "x"}, "only excludes files"},
        WrongWords{{"cursor", "a", "--build", "\xFF", "--", "x"}, "is not UTF-8"},
        WrongWords{{"cursor", "a", "--watch", "\xFF*", "--", "x"}, "is not UTF-8"},
        WrongWords{{"cursor", "a", "--", "npx", "mcp-sitter-native", "x"}, "write mcp-sitter"},
        WrongWords{{"--wrap", "a"}, "the client is missing"},
        WrongWords{{"--undo", "a", "--dry-run"}, "the client is missing"},
        WrongWords{{"cursor", "--frobnicate"}, "--frobnicate"}));

TEST_F(Setup, HelpNamesEachOption) {
  const Run run = setup({"--help"});
  EXPECT_EQ(run.exit_code, 0);
  for (const char* const word :
       {"--wrap", "--undo", "--scope", "--build", "--no-build", "--watch", "--no-watch",
        "--dry-run", "claude, codex, gemini, cursor, vscode, opencode, qwen, cline"}) {
    EXPECT_THAT(run.output, HasSubstr(word));
  }
}

}  // namespace
}  // namespace sitter::testing
