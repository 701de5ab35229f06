#include "core/report/status.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "core/report/restart_notice.hpp"

namespace sitter {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

WallTime at(int second) { return WallTime(seconds(second)); }

std::string summary(const StatusFacts& facts) {
  return nlohmann::json::parse(status_text(facts))["summary"];
}

TEST(StatusSummaryTest, SaysWhatTheServerDoesAndWhatToDo) {
  StatusFacts facts;
  EXPECT_EQ(summary(facts),
            "The server has not been started yet; the first request that needs it starts it.");
  facts.last_end = "the server crashed (exit 3) after 2s";
  facts.last_end_age = seconds(12);
  EXPECT_EQ(summary(facts),
            "No server is running; 12s ago, the server crashed (exit 3) after 2s; the next request "
            "starts it.");
  facts.starting = {4, milliseconds(400), "src/a.c changed"};
  EXPECT_EQ(summary(facts),
            "The server has been starting for 0.4s (spawn #4; reason: src/a.c changed): wait, and "
            "its tools appear by themselves.");
  facts.child_ready = true;
  facts.spawn_count = 4;
  facts.child_tool_count = 1;
  facts.binary_stale = true;
  facts.rebuild = "a build has been running for 3s (sitter_rebuild)";
  EXPECT_EQ(summary(facts),
            "The server runs (spawn #4, 1 tool), but its file has changed since its start; a build "
            "has been running for 3s (sitter_rebuild).");
}

TEST(StatusSummaryTest, SpeaksOfTheDescriptionOfATool) {
  StatusFacts facts;
  facts.is_tool = true;
  EXPECT_EQ(summary(facts),
            "The tool has not described itself yet; the first request reads its description.");
  facts.last_end = "the server was killed by sitter_kill after 2s";
  facts.last_end_age = seconds(12);
  EXPECT_EQ(summary(facts),
            "No description of the tool is in use; 12s ago, the server was killed by sitter_kill "
            "after 2s; the next request reads it.");
  facts.starting = {4, milliseconds(400), "notes.sh changed"};
  EXPECT_EQ(summary(facts),
            "The tool has been describing itself for 0.4s (description #4; reason: notes.sh "
            "changed): wait, and its tools appear by themselves.");
  facts.child_ready = true;
  facts.spawn_count = 4;
  facts.child_tool_count = 2;
  EXPECT_EQ(summary(facts), "The tool is ready (description #4, 2 tools).");
}

TEST(StatusTextTest, BeforeTheFirstStartOnlyTheKnownFieldsAreThere) {
  StatusFacts facts;
  facts.child_command = "./dîr ü/server";
  facts.child_args = {"--x", "a+b"};
  facts.child_state = "not-started";
  facts.sitter_uptime = milliseconds(1999);
  facts.sitter_version = "1.0.0";
  EXPECT_EQ(status_text(facts), R"json({
  "summary": "The server has not been started yet; the first request that needs it starts it.",
  "childCommand": "./dîr ü/server",
  "childArgs": [
    "--x",
    "a+b"
  ],
  "workingDirectory": null,
  "binaryPath": null,
  "binaryVersion": null,
  "childState": "not-started",
  "childAlive": false,
  "childReady": false,
  "childPid": null,
  "childToolCount": 0,
  "spawnCount": 0,
  "killCount": 0,
  "lastKillUtc": null,
  "lastKillReason": null,
  "lastStartupMs": null,
  "childUptimeSeconds": null,
  "previousExitCode": null,
  "previousLifetimeSeconds": null,
  "lastToolsDiff": null,
  "sitterUptimeSeconds": 1,
  "sitterVersion": "1.0.0"
})json");
}

TEST(StatusTextTest, InALongSessionEveryFieldIsFilled) {
  StatusFacts facts;
  facts.child_command = "node";
  facts.working_directory = "/w";
  facts.binary_path = "/w/server.js";
  facts.binary_version = "1.2.3";
  facts.child_state = "ready";
  facts.child_alive = true;
  facts.child_ready = true;
  facts.child_pid = 200;
  facts.child_tool_count = 5;
  facts.spawn_count = 2;
  facts.kill_count = 1;
  facts.last_kill = at(10);
  facts.last_kill_reason = "sitter_kill";
  facts.last_startup = milliseconds(1800);
  facts.child_uptime = milliseconds(2500);
  facts.previous_exit_code = 139;
  facts.previous_lifetime = seconds(45);
  facts.tools_diff =
      CatalogDiff{{"big"}, {"old"}, {{"t", {"path now required"}, false}}, {"big: no parameters"}};
  facts.sitter_uptime = seconds(100);
  facts.sitter_version = "1.0.0";
  facts.protocol_era = "legacy";
  facts.protocol_version = "2025-11-25";
  facts.server_info = R"json({"version":"2","name":"demo"})json";
  facts.binary_stale = false;
  facts.requests_in_flight = 3;
  facts.requests_waiting = 4;
  facts.last_failure =
      StatusFacts::Failure{"the server crashed", 139, "SIGSEGV", "boom\nend", seconds(7)};
  facts.history = {{1, 100, at(0), seconds(45), ChildEnd{EndReason::crashed, {139, "SIGSEGV"}}},
                   {2, 200, at(50), milliseconds(2500), std::nullopt}};
  facts.stdout_pollution = History::Noise{1, 7, "Listening"};
  facts.child_protocol_version = "2024-11-05";
  facts.build = StatusFacts::BuildFacts{
      "make", true,
      BuildResult{BuildResult::Outcome::failed, {2, ""}, milliseconds(3200), at(10), {}}};
  facts.watch = StatusFacts::WatchFacts{
      {"src", "*.cc"},  true, milliseconds(300), 7, "no", {"*.cc"}, {{{"/w/src/a.ts"}, 2, at(11)}},
      {"/w/src/gen.ts"}};
  facts.restart = {BridgeConfig::Restarts::on_crash, 2, 10};
  EXPECT_EQ(status_text(facts), R"json({
  "summary": "The server runs (spawn #2, 5 tools).",
  "childCommand": "node",
  "childArgs": [],
  "workingDirectory": "/w",
  "binaryPath": "/w/server.js",
  "binaryVersion": "1.2.3",
  "childState": "ready",
  "childAlive": true,
  "childReady": true,
  "childPid": 200,
  "childToolCount": 5,
  "spawnCount": 2,
  "killCount": 1,
  "lastKillUtc": "1970-01-01T00:00:10.0000000Z",
  "lastKillReason": "sitter_kill",
  "lastStartupMs": 1800,
  "childUptimeSeconds": 2,
  "previousExitCode": 139,
  "previousLifetimeSeconds": 45,
  "lastToolsDiff": "+1 added (big), -1 removed (old), 1 schema changed (t)",
  "sitterUptimeSeconds": 100,
  "sitterVersion": "1.0.0",
  "protocolEra": "legacy",
  "protocolVersion": "2025-11-25",
  "serverInfo": {
    "version": "2",
    "name": "demo"
  },
  "binaryStale": false,
  "requestsInFlight": 3,
  "requestsWaiting": 4,
  "lastFailure": {
    "what": "the server crashed",
    "exitCode": 139,
    "signal": "SIGSEGV",
    "stderrTail": "boom\nend",
    "ageSeconds": 7
  },
  "history": [
    {
      "number": 1,
      "pid": 100,
      "started": "1970-01-01T00:00:00.0000000Z",
      "lifetimeSeconds": 45,
      "exit": "SIGSEGV",
      "reason": "crashed"
    },
    {
      "number": 2,
      "pid": 200,
      "started": "1970-01-01T00:00:50.0000000Z",
      "lifetimeSeconds": 2
    }
  ],
  "toolsDiff": {
    "added": [
      "big"
    ],
    "removed": [
      "old"
    ],
    "changed": {
      "t": [
        "path now required"
      ]
    },
    "signatures": [
      "big: no parameters"
    ]
  },
  "stdoutPollution": {
    "generation": 1,
    "lines": 7,
    "first": "Listening"
  },
  "childProtocolVersion": "2024-11-05",
  "build": {
    "command": "make",
    "running": true,
    "lastResult": "failed",
    "exitCode": 2,
    "durationMs": 3200,
    "endedUtc": "1970-01-01T00:00:10.0000000Z"
  },
  "watch": {
    "patterns": [
      "src",
      "*.cc"
    ],
    "binary": true,
    "debounceMs": 300,
    "folders": 7,
    "problem": "no",
    "unmatched": [
      "*.cc"
    ],
    "lastTrigger": {
      "utc": "1970-01-01T00:00:11.0000000Z",
      "files": [
        "/w/src/a.ts"
      ],
      "count": 2
    },
    "writtenByReloads": [
      "/w/src/gen.ts"
    ]
  },
  "restart": {
    "policy": "on-crash",
    "inARow": 2,
    "max": 10
  }
})json");
}

TEST(StatusTextTest, ServerInfoThatIsTooDeepOrWrongIsShownAsText) {
  StatusFacts facts;
  for (const std::string& raw :
       {std::string(100'000, '[') + std::string(100'000, ']'), std::string("{\"a\":")}) {
    facts.server_info = raw;
    const std::string text = status_text(facts);
    EXPECT_NE(text.find(raw == "{\"a\":" ? R"json("serverInfo": "{\"a\":")json"
                                         : R"json("serverInfo": "[[[[)json"),
              std::string::npos);
  }
}

TEST(StatusTextTest, WhatIsNotUtf8IsReplaced) {
  StatusFacts facts;
  facts.child_command = "a\xFF";
  EXPECT_NE(status_text(facts).find("\"a\uFFFD\""), std::string::npos);
}

TEST(KillReasonWordsTest, NameTheKillOrTheExit) {
  ChildEnd killed{EndReason::killed_by_sitter, {137, "SIGKILL"}, {}, "sitter_kill"};
  EXPECT_EQ(kill_reason_words(killed), "sitter_kill");
  ChildEnd of_nothing{EndReason::killed_by_sitter, {}, {}, "sitter_kill"};
  of_nothing.had_no_child = true;
  EXPECT_EQ(kill_reason_words(of_nothing), "sitter_kill (nothing ran)");
  EXPECT_EQ(kill_reason_words({EndReason::exited, {0, ""}}), "exited by itself (exit 0)");
  EXPECT_EQ(kill_reason_words({EndReason::crashed, {3, ""}}), "crashed (exit 3)");
}

TEST(StatusTextTest, FindingsOfTheLintComeLast) {
  StatusFacts facts;
  facts.lint = {"tool \"a\": wrong", "b"};
  EXPECT_THAT(status_text(facts), ::testing::EndsWith(R"json(
  "lint": [
    "tool \"a\": wrong",
    "b"
  ]
})json"));
}

TEST(BinaryTextTest, AMissingFileIsSaidToBeMissing) {
  BinaryFacts facts;
  facts.path = "/w/server";
  EXPECT_EQ(binary_text(facts, at(0)), R"json({
  "path": "/w/server",
  "exists": false,
  "sizeBytes": null,
  "mtime": null,
  "mtimeHuman": null,
  "buildId": null,
  "loaded": null,
  "stale": null
})json");
}

TEST(BinaryTextTest, AFileThatSeemsOldIsOfUnknownAge) {
  BinaryFacts facts;
  facts.modified = at(0);
  EXPECT_THAT(binary_text(facts, at(0) + limits::kKnownAgeMax),
              ::testing::HasSubstr(R"json("mtimeHuman": "of unknown age")json"));
  EXPECT_THAT(binary_text(facts, at(0) + limits::kKnownAgeMax - milliseconds(1000)),
              ::testing::HasSubstr(R"json("mtimeHuman": "7299.9 days ago")json"));
}

TEST(BinaryTextTest, AProgramForWindowsShowsWhatItsVersionResourceSays) {
  BinaryFacts facts;
  facts.path = "C:/w/server.exe";
  facts.exists = true;
  facts.version =
      BinaryFacts::Version{"1.2.3.4", "1.2", "Notes", "Keeps notes", "", "(c) us", true};
  EXPECT_EQ(binary_text(facts, at(0)), R"json({
  "path": "C:/w/server.exe",
  "exists": true,
  "sizeBytes": null,
  "mtime": null,
  "mtimeHuman": null,
  "buildId": null,
  "fileVersion": "1.2.3.4",
  "productVersion": "1.2",
  "productName": "Notes",
  "fileDescription": "Keeps notes",
  "copyright": "(c) us",
  "isDebug": true,
  "loaded": null,
  "stale": null
})json");
}

TEST(BinaryTextTest, EverythingKnownIsShownInOrder) {
  BinaryFacts facts;
  facts.path = "/w/server.js";
  facts.exists = true;
  facts.size = 5'000'000'000;
  facts.modified = at(60);
  facts.interpreter = BinaryFacts::File{"/usr/bin/node", 90, at(0)};
  facts.build_id = "abc";
  facts.loaded = BinaryFacts::Loaded{at(30), 80, at(40)};
  facts.stale = true;
  EXPECT_EQ(binary_text(facts, at(60) + hours(3)), R"json({
  "path": "/w/server.js",
  "exists": true,
  "sizeBytes": 5000000000,
  "mtime": "1970-01-01T00:01:00.0000000Z",
  "mtimeHuman": "3.0 hours ago",
  "interpreter": {
    "path": "/usr/bin/node",
    "sizeBytes": 90,
    "mtime": "1970-01-01T00:00:00.0000000Z"
  },
  "buildId": "abc",
  "loaded": {
    "mtime": "1970-01-01T00:00:30.0000000Z",
    "sizeBytes": 80,
    "since": "1970-01-01T00:00:40.0000000Z"
  },
  "stale": true
})json");
}

}  // namespace
}  // namespace sitter
