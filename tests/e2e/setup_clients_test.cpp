#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "support/setup.hpp"

namespace sitter::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// A settings file with servers, as the client or a person has written it.
struct Settings {
  std::string client;
  std::string file;
  bool is_in_project = false;
  std::string text;
  Words servers;

  friend void PrintTo(const Settings& settings, std::ostream* out) { *out << settings.client; }
};

Words joined(Words front, const Words& behind) {
  front.insert(front.end(), behind.begin(), behind.end());
  return front;
}

class SetupOf : public SetupTest, public ::testing::WithParamInterface<Settings> {
 protected:
  void SetUp() override {
    const std::size_t at = text_.find("PROJECT");
    if (at != text_.npos) text_.replace(at, 7, project_.path());
    settings_ = (GetParam().is_in_project ? project_ : home_).write(GetParam().file, text_, 0640);
    project_.write("src/main.rs", "");
    project_.write("Cargo.toml", "");
  }

  void with_each_server(const std::string& option) const {
    for (const std::string& server : GetParam().servers) {
      expect_done({GetParam().client, option, server});
    }
  }

  std::string text_ = GetParam().text;
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

TEST_P(SetupOf, UndoGivesEachByteBackAlsoAfterOptionsHaveChanged) {
  const std::string before = everything();
  expect_done({GetParam().client, "new", "--", "./target/debug/notes"});
  with_each_server("--wrap");
  for (const Words& options : {Words{"--build", "a b", "--watch", "x", "--watch", "y"},
                               Words{"--no-build"}, Words{"--no-watch"}}) {
    expect_done(joined({GetParam().client, "--wrap", "new"}, options));
    for (const std::string& server : GetParam().servers) {
      if (server != "web") expect_done(joined({GetParam().client, "--wrap", server}, options));
    }
  }
  with_each_server("--undo");
  expect_done({GetParam().client, "--undo", "new"});
  EXPECT_EQ(everything(), before);
}

TEST_P(SetupOf, UndoInAnyOrderGivesEachByteBack) {
  const std::string before = everything();
  with_each_server("--wrap");
  with_each_server("--undo");
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
    EXPECT_THAT(
        expect_done({GetParam().client, "--wrap", server, "--dry-run"}),
        AllOf(HasSubstr("--- " + settings_), HasSubstr("\n+++ " + settings_), HasSubstr("\n@@ -"),
              HasSubstr("nothing was written"), Not(HasSubstr("s3cret"))));
  }
  EXPECT_EQ(everything(), before);
}

TEST_P(SetupOf, UndoKeepsLaterChanges) {
  with_each_server("--wrap");
  const std::string added = settings_.ends_with(".toml") ? "\n# later\n" : " /* later */";
  std::ofstream(settings_, std::ios::binary | std::ios::app) << added;
  with_each_server("--undo");
  EXPECT_EQ(contents_of(settings_), text_ + added);
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
url = "http://127.0.0.1:9/mcp?key=s3cret"
startup_timeout_sec = 20

[mcp_servers.web.http_headers]
X-Token = "s3cret")toml",
                 {"notes", "quoted.name", "inline", "dotted", "web"}},
        Settings{
            "gemini",
            ".gemini/settings.json",
            true,
            "{\r\n\t// c\r\n\t\"mcpServers\": {\r\n\t\t\"notes\": {\r\n\t\t\t\"command\": "
            "\"a\",\r\n\t\t\t\"env\": { \"A\": \"s3cret\" },\r\n\t\t},\r\n\t\t\"web\": "
            "{ \"httpUrl\": \"http://127.0.0.1:9/?key=s3cret\", \"headers\": {\"A\": \"s3cret\"} "
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
      "url": "http://127.0.0.1:9/mcp?key=s3cret",
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
        "url": "http://127.0.0.1:9/mcp?key=s3cret",
        "headers": { "A": "s3cret" }
      }
    }
  }
}
)json",
                 {"notes", "flat", "web"}}),
    [](const auto& tested) { return tested.param.client; });

}  // namespace
}  // namespace sitter::testing
