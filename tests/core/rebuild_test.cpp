#include "core/build/rebuild.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace sitter {
namespace {

using Outcome = BuildResult::Outcome;
using Server = RebuildReport::Server;
using std::chrono::seconds;

RebuildReport report(Outcome outcome, Server server) {
  RebuildReport report;
  report.build = BuildResult{outcome, {outcome == Outcome::failed ? 2 : 0, ""}, seconds(3), {}, {}};
  report.server = server;
  report.output = "CC a.c";
  return report;
}

TEST(RebuildTextTest, ASuccessWithItsNotice) {
  RebuildReport good = report(Outcome::succeeded, Server::restarted);
  good.notice = "[mcp-sitter] server restarted (spawn #2, pid 7, startup 0.1s).";
  EXPECT_FALSE(is_failure(good));
  EXPECT_EQ(rebuild_text(good),
            "[mcp-sitter] the build succeeded after 3s.\n"
            "[mcp-sitter] server restarted (spawn #2, pid 7, startup 0.1s).\n"
            "Output of the build (sitter_build_log shows more):\nCC a.c");
}

TEST(RebuildTextTest, AFailedBuildLeavesTheServer) {
  const RebuildReport bad = report(Outcome::failed, Server::kept);
  EXPECT_TRUE(is_failure(bad));
  EXPECT_EQ(rebuild_text(bad),
            "[mcp-sitter] the build failed (exit 2) after 3s. The server that ran before was not "
            "touched and serves on.\n"
            "Output of the build (sitter_build_log shows more):\nCC a.c");
}

TEST(RebuildTextTest, AFailedBuildAfterAKill) {
  EXPECT_THAT(rebuild_text(report(Outcome::failed, Server::down)),
              ::testing::HasSubstr("No server is running; the next request starts it."));
}

TEST(RebuildTextTest, ANewServerThatDoesNotCome) {
  RebuildReport bad = report(Outcome::succeeded, Server::kept);
  bad.start_failure = ChildEnd{EndReason::ended_in_opening, {1, ""}, seconds(1), ""};
  bad.stderr_tail = "listen EADDRINUSE: port 80";
  bad.output.clear();
  EXPECT_TRUE(is_failure(bad));
  EXPECT_EQ(rebuild_text(bad),
            "[mcp-sitter] the build succeeded after 3s, but the server could not be started: it "
            "ended (exit 1) after 1s, before it had answered its opening. The server that ran "
            "before was not touched and serves on. The old server holds the address that the "
            "new one needs, so call sitter_rebuild with mode kill-first.\n"
            "Last words of the new server on stderr (sitter_child_stderr shows more):\n"
            "listen EADDRINUSE: port 80\n"
            "The build wrote nothing.");
  bad.server = Server::down;
  EXPECT_THAT(rebuild_text(bad), ::testing::Not(::testing::HasSubstr("kill-first")));
}

TEST(RebuildTextTest, WithoutABuildTheAdviceIsAKill) {
  RebuildReport bad = report(Outcome::succeeded, Server::kept);
  bad.build.reset();
  bad.cause = "a.py changed";
  bad.stderr_tail = "OSError: [Errno 98] Address already in use";
  bad.start_failure = ChildEnd{EndReason::ended_in_opening, {1, ""}, seconds(1), ""};
  EXPECT_THAT(
      rebuild_text(bad),
      ::testing::AllOf(
          ::testing::StartsWith("[mcp-sitter] a.py changed: the server could not be started"),
          ::testing::HasSubstr("call sitter_kill, and then call any tool of the server.")));
}

TEST(RebuildTextTest, WithoutTheToolForRebuildsTheAdviceIsAKillOrTheUser) {
  RebuildReport bad = report(Outcome::succeeded, Server::kept);
  bad.start_failure = ChildEnd{EndReason::ended_in_opening, {1, ""}, seconds(1), ""};
  bad.stderr_tail = "Address already in use";
  bad.rebuild_tool.clear();
  EXPECT_THAT(rebuild_text(bad),
              ::testing::HasSubstr("so call sitter_kill, and then call any tool of the server."));
  bad.kill_tool.clear();
  EXPECT_THAT(rebuild_text(bad),
              ::testing::HasSubstr("so ask the user to restart the server (mcp-sitter ctl kill), "
                                   "and then call any tool of the server."));
}

TEST(RebuildTextTest, AServerThatFailedForAnotherReasonGetsNoAdviceAboutAddresses) {
  RebuildReport bad = report(Outcome::succeeded, Server::kept);
  bad.start_failure = ChildEnd{EndReason::ended_in_opening, {1, ""}, seconds(1), ""};
  bad.stderr_tail = "ImportError: no module named x";
  EXPECT_THAT(rebuild_text(bad), ::testing::Not(::testing::HasSubstr("address")));
}

TEST(RebuildTextTest, WithoutABuildTheServerWasStartedAnew) {
  RebuildReport good = report(Outcome::succeeded, Server::restarted);
  good.build.reset();
  EXPECT_EQ(rebuild_text(good),
            "[mcp-sitter] no --build command is set; the server was started anew.");
}

TEST(RebuildTextTest, APersonIsToldOfCommandsAndNotOfTools) {
  RebuildReport bad = report(Outcome::succeeded, Server::kept);
  bad.start_failure = ChildEnd{EndReason::ended_in_opening, {1, ""}, seconds(1), ""};
  bad.stderr_tail = "Address already in use";
  EXPECT_THAT(
      rebuild_text(for_person(bad)),
      ::testing::AllOf(::testing::HasSubstr("so run mcp-sitter ctl reload --mode kill-first."),
                       ::testing::Not(::testing::HasSubstr("sitter_"))));
}

TEST(ProgressClauseTest, TellsABuildFromANewServer) {
  EXPECT_EQ(progress_clause("SIGHUP", seconds(12)), "a build has been running for 12s (SIGHUP)");
  EXPECT_EQ(progress_clause("SIGHUP", std::nullopt), "a new server is on its way (SIGHUP)");
}

}  // namespace
}  // namespace sitter
