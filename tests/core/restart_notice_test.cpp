#include "core/report/restart_notice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace sitter {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::string_view kBare =
    "[mcp-sitter] server restarted (spawn #3, pid 12345, startup 1.8s).";

RestartNotice bare() {
  RestartNotice notice;
  notice.spawn = 3;
  notice.pid = 12345;
  notice.startup = milliseconds(1800);
  return notice;
}

/// The text after the first line of a notice without parts.
std::string further(const RestartNotice& notice) {
  const std::string text = notice_text(notice);
  EXPECT_THAT(text, StartsWith(std::string(kBare) + "\n"));
  return text.substr(kBare.size() + 1);
}

CatalogDiff many_changes(int count) {
  CatalogDiff diff;
  for (int i = 0; i < count; ++i) {
    diff.changed.push_back({"tool_" + std::to_string(i), {"path now required"}, false});
  }
  return diff;
}

TEST(RestartNoticeTest, AProcessThatIsNotKnownIsNotNamed) {
  RestartNotice notice = bare();
  notice.pid = 0;
  EXPECT_EQ(notice_text(notice), "[mcp-sitter] server restarted (spawn #3, startup 1.8s).");
}

TEST(RestartNoticeTest, KeepsTheEstablishedFirstLine) {
  RestartNotice notice = bare();
  notice.path = "/abs/path/server";
  notice.version = "1.2.3";
  notice.build_age = minutes(2);
  notice.previous = ChildEnd{EndReason::exited, {0, ""}, seconds(45)};
  notice.tools.added = {"search_index"};
  notice.tools.removed = {"find"};
  notice.tools.changed = {
      {"read_file", {"+limit (integer, optional)", "path now required"}, false}};
  notice.tools.signatures = {"search_index: query (string, required)"};
  EXPECT_EQ(
      notice_text(notice),
      "[mcp-sitter] server restarted (spawn #3, pid 12345, startup 1.8s). path: "
      "/abs/path/server. binary v1.2.3 built 2 min ago. previous: exit 0 after 45s. tools: +1 "
      "added (search_index), -1 removed (find), 1 schema changed (read_file).\n"
      "read_file: +limit (integer, optional), path now required\n"
      "search_index: query (string, required)");
}

TEST(RestartNoticeTest, TheFirstServerThatServesIsNotCalledRestarted) {
  RestartNotice notice = bare();
  notice.is_first = true;
  EXPECT_THAT(notice_text(notice), StartsWith("[mcp-sitter] server started (spawn #3, "));
}

TEST(RestartNoticeTest, ChangedToolsSayHowMuchTheirDefinitionsGrew) {
  RestartNotice notice = bare();
  notice.tool_bytes_before = 100;
  notice.tool_bytes = 350;
  EXPECT_EQ(notice_text(notice), kBare);
  notice.tools.added = {"a"};
  EXPECT_THAT(notice_text(notice),
              EndsWith("\nthe definitions of the tools grew by 250 bytes to 350"));
  notice.tool_bytes_before = 0;
  EXPECT_THAT(notice_text(notice), ::testing::Not(::testing::HasSubstr("the definitions")));
  notice.tool_bytes_before = 100;
  notice.tool_bytes = 60;
  EXPECT_THAT(notice_text(notice),
              EndsWith("\nthe definitions of the tools shrank by 40 bytes to 60"));
}

TEST(RestartNoticeTest, AtMostThreeLastLinesOfStderrAreShown) {
  RestartNotice notice = bare();
  notice.last_words = "a\n  b\nc\nd\n";
  EXPECT_EQ(further(notice),
            "its last words on stderr (sitter_child_stderr shows more):\n|   b\n| c\n| d");
  notice.last_words = "a";
  EXPECT_EQ(further(notice), "its last words on stderr (sitter_child_stderr shows more):\n| a");
}

TEST(RestartNoticeTest, APartWithNothingToSayIsLeftOut) {
  EXPECT_EQ(notice_text(bare()), kBare);
  RestartNotice notice = bare();
  notice.version = "v2";
  EXPECT_THAT(notice_text(notice), EndsWith("1.8s). binary v2."));
  notice.version = "";
  notice.build_age = seconds(0);
  EXPECT_THAT(notice_text(notice), EndsWith("1.8s). binary built just now."));
  notice.is_script = true;
  EXPECT_THAT(notice_text(notice), EndsWith("1.8s). binary changed just now."));
}

TEST(RestartNoticeTest, ACrashIsMarked) {
  RestartNotice notice = bare();
  notice.previous = ChildEnd{EndReason::crashed, {3, ""}, milliseconds(2100)};
  EXPECT_THAT(notice_text(notice), EndsWith(". previous: ⚠ crashed (exit 3) after 2.1s."));
}

TEST(RestartNoticeTest, AChangedOpeningIsTold) {
  RestartNotice notice = bare();
  notice.protocol_version = {"2025-06-18", "2025-03-26"};
  notice.server_info = {"demo 1.0", "demo 1.1"};
  notice.capabilities_added = {"prompts"};
  notice.capabilities_removed = {"logging", "completions"};
  notice.instructions_changed = true;
  EXPECT_EQ(further(notice),
            "protocol version: 2025-06-18 -> 2025-03-26\n"
            "server: demo 1.0 -> demo 1.1\n"
            "capabilities: +prompts, -logging, -completions (seen by the client when it "
            "reconnects)\n"
            "instructions changed (seen by the client when it reconnects)");
}

TEST(RestartNoticeTest, FailedStartsAreCountedWithTheLastReason) {
  RestartNotice notice = bare();
  notice.failed_starts = 1;
  EXPECT_EQ(further(notice), "1 start failed before this one");
  notice.failed_starts = 2;
  notice.last_failure = ChildEnd{EndReason::not_executed, {}, {}, "no such file"};
  EXPECT_EQ(further(notice),
            "2 starts failed before this one, the last: the server could not be started: no such "
            "file");
}

TEST(RestartNoticeTest, MergedRestartsAreCounted) {
  RestartNotice notice = bare();
  notice.restarts = 3;
  EXPECT_EQ(further(notice), "3 restarts since the last notice");
}

TEST(RestartNoticeTest, OtherListsAreTold) {
  RestartNotice notice = bare();
  notice.prompts.added = {"greet"};
  notice.prompts.signatures = {"greet: name (required)"};
  notice.resources.removed = {"file:///a"};
  notice.not_compared = {CatalogKind::tools, CatalogKind::resources};
  notice.subscriptions_lost = {"file:///b", "file:///c"};
  EXPECT_EQ(further(notice),
            "prompt greet: name (required)\n"
            "prompts: +1 added (greet)\n"
            "resources: -1 removed (file:///a)\n"
            "not compared, because the server listed too many of them, or too late, or not at all: "
            "tools, resources\n"
            "resource subscriptions refused by the server: file:///b, file:///c");
}

TEST(RestartNoticeTest, WhatTheServerNamesStaysOnItsLine) {
  RestartNotice notice = bare();
  notice.path = "/a\n[mcp-sitter] b";
  notice.version = "1\r2";
  notice.tools.changed = {{"t\nx", {"\x1b[31m+a\nb"}, false}};
  notice.subscriptions_lost = {"a\nb\xFF"};
  EXPECT_EQ(notice_text(notice),
            "[mcp-sitter] server restarted (spawn #3, pid 12345, startup 1.8s). path: /a "
            "[mcp-sitter] b. binary v1 2. tools: 1 schema changed (t x).\n"
            "t x: +a b\n"
            "resource subscriptions refused by the server: a b\uFFFD");
}

TEST(RestartNoticeTest, WhatDoesNotFitIsCounted) {
  RestartNotice notice = bare();
  notice.tools = many_changes(300);
  notice.instructions_changed = true;
  const std::string text = notice_text(notice);
  EXPECT_LE(text.size(), 4096u);
  EXPECT_GE(text.size(), 3900u);
  EXPECT_THAT(text, HasSubstr(" more)"));
  EXPECT_THAT(text, HasSubstr("\ninstructions changed"));
  EXPECT_THAT(text, EndsWith(" more lines left out: sitter_status shows all"));
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  const std::string left_out = std::to_string(300 + 1 - (lines - 1));
  EXPECT_THAT(text, HasSubstr("\n" + left_out + " more lines left out"));
}

TEST(RestartNoticeTest, TheBoundHoldsWhateverIsSaid) {
  RestartNotice notice = bare();
  notice.path = std::string(5000, 'p');
  notice.version = std::string(5000, 'v');
  notice.previous = ChildEnd{EndReason::given_up, {}, {}, std::string(5000, 'w')};
  notice.tools = many_changes(3);
  for (int i = 0; i < 300; ++i) {
    notice.tools.added.push_back(std::string(300, 'a') + std::to_string(i));
    notice.tools.removed.push_back(std::string(300, 'r') + std::to_string(i));
    notice.tools.signatures.push_back(std::string(3000, 's'));
  }
  notice.subscriptions_lost = {std::string(100'000, 'o')};
  notice.status_tool = std::string(300, 't');
  for (const std::size_t bytes_max : {512u, 700u, 4096u, 5000u}) {
    const std::string text = notice_text(notice, bytes_max);
    EXPECT_LE(text.size(), bytes_max);
    EXPECT_THAT(text, StartsWith("[mcp-sitter] "));
  }
}

TEST(RestartNoticeTest, OmitsTheCountWhenEverythingFits) {
  RestartNotice notice = bare();
  notice.tools = many_changes(10);
  EXPECT_THAT(notice_text(notice),
              AllOf(HasSubstr("tool_9: path now required"), Not(HasSubstr("left out"))));
}

}  // namespace
}  // namespace sitter
