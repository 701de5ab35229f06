#include "core/rebuild/rebuilder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <variant>
#include <vector>

#include "core/rebuild/rebuild.hpp"

namespace sitter {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

using State = Rebuilder::State;
using Next = Rebuilder::Next;
using Outcome = BuildResult::Outcome;

constexpr RequestHandle kFirst{1};
constexpr RequestHandle kSecond{2};

class RebuilderTest : public ::testing::Test {
 protected:
  Turn turn() { return {now_, out_, client_}; }

  void call(RequestHandle request, RebuildArguments arguments = {}) {
    rebuilder_.call({request, true, arguments.timeout}, arguments, turn());
  }
  void ctl_reloads(RequestHandle request) {
    rebuilder_.reload({"ctl reload"}, RebuildCaller{request, false, seconds(600)}, false, turn());
  }
  void file_is_saved(bool may_replace = false) {
    rebuilder_.reload({"a.c changed"}, std::nullopt, may_replace, turn());
  }

  /// The build ends. Returns what follows.
  Next build_ends(int code) {
    const Generation gen = rebuilder_.build()->life.gen();
    ChildLifecycle& life = *rebuilder_.life(gen);
    life.on_started({gen, 77}, now_, out_);
    life.on_exited({code, ""}, now_, out_);
    life.on_unit_signalled({gen, {}}, now_, out_);
    life.on_output_ended({}, now_, out_);
    life.on_error_ended(out_);
    EXPECT_TRUE(rebuilder_.is_build_over());
    return rebuilder_.on_build_over(false, turn());
  }
  std::vector<RequestHandle> time_passes(Milliseconds duration) {
    now_.steady += duration;
    std::vector<RequestHandle> left;
    for (const RebuildCaller& caller : rebuilder_.on_timeout(turn())) {
      left.push_back(caller.request);
    }
    return left;
  }
  std::vector<RequestHandle> callers() {
    std::vector<RequestHandle> requests;
    for (const RebuildCaller& caller : rebuilder_.rebuild().callers) {
      requests.push_back(caller.request);
    }
    return requests;
  }
  std::size_t builds_started() {
    std::size_t count = 0;
    while (const auto order = out_.poll())
      count += std::holds_alternative<order::StartBuild>(*order);
    return count;
  }

  Now now_{};
  Orders out_;
  ClientOutput client_;
  Rebuilder rebuilder_{{true, seconds(10), Milliseconds(500)}};
};

TEST_F(RebuilderTest, ASwapBuildsFirst) {
  EXPECT_FALSE(rebuilder_.is_on());
  call(kFirst);
  EXPECT_TRUE(rebuilder_.waits_for(State::build));
  EXPECT_EQ(builds_started(), 1u);
  EXPECT_EQ(build_ends(0), Next::goes_on);
  EXPECT_TRUE(rebuilder_.waits_for(State::room));
  rebuilder_.on_started(2);
  EXPECT_TRUE(rebuilder_.waits_for(State::new_child));
  EXPECT_TRUE(rebuilder_.is_new_child(2));
  rebuilder_.on_served();
  EXPECT_TRUE(rebuilder_.waits_for(State::look));
  EXPECT_EQ(rebuilder_.take().clients_call(), kFirst);
  EXPECT_FALSE(rebuilder_.is_on());
}

TEST_F(RebuilderTest, KillFirstWaitsForPendingCallsAndForTheChildrenToEnd) {
  call(kFirst, {RebuildMode::kill_first, seconds(600)});
  EXPECT_TRUE(rebuilder_.waits_for(State::quiet));
  EXPECT_EQ(rebuilder_.quiet_deadline(), now_.steady + seconds(10));
  rebuilder_.on_quiet();
  EXPECT_TRUE(rebuilder_.waits_for(State::no_children));
  EXPECT_EQ(builds_started(), 0u);
  rebuilder_.on_no_children(turn());
  EXPECT_TRUE(rebuilder_.waits_for(State::build));
}

TEST_F(RebuilderTest, WithoutABuildCommandItWaitsOnlyForRoom) {
  Rebuilder plain({false, seconds(10), Milliseconds(500)});
  plain.reload({"SIGHUP"}, std::nullopt, false, turn());
  EXPECT_TRUE(plain.waits_for(State::room));
  EXPECT_FALSE(plain.take_started());
}

TEST_F(RebuilderTest, RequestsWaitForTheNextChildIfTheChildThatServesMustMakeWay) {
  for (const bool is_exclusive : {false, true}) {
    Rebuilder plain({.is_exclusive = is_exclusive});
    plain.call({kFirst, true, {}}, {}, turn());
    ASSERT_TRUE(plain.waits_for(State::room));
    EXPECT_EQ(plain.holds_requests(), is_exclusive);
  }
}

TEST_F(RebuilderTest, ABuildThatFailsIsReported) {
  call(kFirst);
  EXPECT_EQ(build_ends(2), Next::has_failed);
  EXPECT_EQ(rebuilder_.last_result()->outcome, Outcome::failed);
}

TEST_F(RebuilderTest, ACallThatComesMeanwhileJoinsAndIsToldHowLongTheBuildHadRun) {
  call(kFirst);
  now_.steady += seconds(3);
  call(kSecond);
  EXPECT_EQ(builds_started(), 1u);
  build_ends(2);
  EXPECT_THAT(rebuilder_.take().callers,
              ElementsAre(Field(&RebuildCaller::joined_after, std::nullopt),
                          Field(&RebuildCaller::joined_after, Milliseconds(seconds(3)))));
}

TEST_F(RebuilderTest, EachCallHasItsOwnTimeoutAndTheBuildTheLatest) {
  call(kFirst, {RebuildMode::swap, seconds(2)});
  call(kSecond, {RebuildMode::swap, seconds(5)});
  EXPECT_THAT(time_passes(seconds(2) - Milliseconds(1)), IsEmpty());
  EXPECT_THAT(time_passes(Milliseconds(1)), ElementsAre(kFirst));
  EXPECT_THAT(time_passes(seconds(3)), IsEmpty());
  EXPECT_TRUE(rebuilder_.build()->is_stopped());
  build_ends(143);
  EXPECT_EQ(rebuilder_.last_result()->outcome, Outcome::timed_out);
}

TEST_F(RebuilderTest, RequestsDuringTheStopOfATimedOutBuildRunAfterIt) {
  call(kFirst, {RebuildMode::swap, seconds(2)});
  time_passes(seconds(2));
  call(kSecond);
  EXPECT_THAT(callers(), ElementsAre(kFirst));
  EXPECT_EQ(build_ends(143), Next::has_failed);
  const PendingRebuild before = rebuilder_.take();
  ASSERT_TRUE(before.next);
  builds_started();
  rebuilder_.follow(before, turn());
  EXPECT_THAT(callers(), ElementsAre(kSecond));
  EXPECT_EQ(builds_started(), 1u);
}

TEST_F(RebuilderTest, WhatIsSavedDuringABuildIsNotInIt) {
  call(kFirst);
  file_is_saved();
  file_is_saved();
  EXPECT_EQ(build_ends(0), Next::goes_on);
  const PendingRebuild before = rebuilder_.take();
  ASSERT_TRUE(before.next);
  EXPECT_TRUE(before.next->is_unattended);
  EXPECT_EQ(before.next->wanted.cause, "a.c changed");
}

TEST_F(RebuilderTest, ALaterSaveReplacesAServerThatNoRequestWaitsFor) {
  file_is_saved();
  build_ends(0);
  rebuilder_.on_started(2);
  builds_started();
  file_is_saved(true);
  EXPECT_TRUE(rebuilder_.waits_for(State::build));
  EXPECT_EQ(builds_started(), 1u);
  EXPECT_FALSE(rebuilder_.is_new_child(2));
}

TEST_F(RebuilderTest, StopsABuildThatIsNoLongerWanted) {
  call(kFirst);
  EXPECT_TRUE(rebuilder_.leave(kFirst));
  EXPECT_TRUE(rebuilder_.cancel_build(turn()));
  EXPECT_FALSE(rebuilder_.is_unwanted()) << "it is being given up";
  EXPECT_EQ(build_ends(143), Next::is_given_up);
  EXPECT_EQ(rebuilder_.last_result()->outcome, Outcome::stopped);
}

TEST_F(RebuilderTest, ACallThatComesWhileABuildIsGivenUpHasOneOfItsOwn) {
  call(kFirst);
  rebuilder_.leave(kFirst);
  rebuilder_.cancel_build(turn());
  call(kSecond);
  builds_started();
  EXPECT_EQ(build_ends(143), Next::goes_on);
  EXPECT_TRUE(rebuilder_.waits_for(State::build));
  EXPECT_EQ(builds_started(), 1u);
  EXPECT_THAT(callers(), ElementsAre(kSecond));
}

TEST_F(RebuilderTest, AKillDropsAllButTheCallsOfTheClient) {
  call(kFirst);
  ctl_reloads(kSecond);
  file_is_saved();
  EXPECT_THAT(rebuilder_.leave_to_client(), ElementsAre(Field(&RebuildCaller::request, kSecond)));
  EXPECT_FALSE(rebuilder_.is_unwanted());
  EXPECT_FALSE(rebuilder_.rebuild().next);
}

TEST_F(RebuilderTest, ABuildForRequestsIsWantedUntilTheyLeave) {
  rebuilder_.build_for_requests("the server is not built yet", turn());
  EXPECT_EQ(builds_started(), 1u);
  call(kFirst);
  EXPECT_FALSE(rebuilder_.leave(kFirst));
  EXPECT_FALSE(rebuilder_.is_unwanted());
  EXPECT_TRUE(rebuilder_.leave_requests());
  EXPECT_TRUE(rebuilder_.is_unwanted());
  EXPECT_FALSE(rebuilder_.leave_requests());
}

TEST_F(RebuilderTest, ABuildForRequestsThatACallHasJoinedGoesOnForTheCall) {
  rebuilder_.build_for_requests("the server is not built yet", turn());
  call(kFirst);
  EXPECT_FALSE(rebuilder_.leave_requests());
  EXPECT_TRUE(rebuilder_.leave(kFirst));
}

TEST_F(RebuilderTest, ABuildForRequestsIsStoppedAfterTenMinutes) {
  rebuilder_.build_for_requests("the server is not built yet", turn());
  time_passes(seconds(600) - Milliseconds(1));
  EXPECT_FALSE(rebuilder_.build()->is_stopped());
  time_passes(Milliseconds(1));
  EXPECT_TRUE(rebuilder_.build()->is_stopped());
}

TEST_F(RebuilderTest, AfterTenMinutesABuildForRequestsGoesOnOnlyForTheCallThatHasJoined) {
  rebuilder_.build_for_requests("the server is not built yet", turn());
  call(kFirst, {RebuildMode::swap, seconds(700)});
  time_passes(seconds(600));
  EXPECT_FALSE(rebuilder_.build()->is_stopped());
  EXPECT_TRUE(rebuilder_.leave(kFirst));
}

TEST_F(RebuilderTest, AKillLeavesNoBuildForRequests) {
  rebuilder_.build_for_requests("the server is not built yet", turn());
  rebuilder_.leave_to_client();
  EXPECT_TRUE(rebuilder_.is_unwanted());
}

TEST_F(RebuilderTest, ProgressIsToldOnceInAnInterval) {
  call(kFirst);
  const Generation gen = rebuilder_.build()->life.gen();
  EXPECT_FALSE(rebuilder_.take_progress(now_));
  rebuilder_.on_line({gen, "one"});
  EXPECT_EQ(rebuilder_.take_progress(now_)->line, "one");
  rebuilder_.on_line({gen, "two"});
  rebuilder_.on_line({gen, "three"});
  EXPECT_FALSE(rebuilder_.take_progress(now_));
  now_.steady += limits::kBuildProgressInterval;
  const auto progress = rebuilder_.take_progress(now_);
  EXPECT_EQ(progress->line, "three");
  EXPECT_EQ(progress->count, 3);
}

TEST_F(RebuilderTest, AnEndingSessionStopsTheBuild) {
  call(kFirst, {RebuildMode::swap, seconds(2)});
  rebuilder_.stop({}, turn());
  EXPECT_TRUE(rebuilder_.build()->is_stopped());
  EXPECT_THAT(time_passes(seconds(2)), IsEmpty());
  rebuilder_.abandon_build(out_);
  EXPECT_FALSE(rebuilder_.is_building());
}

using Server = RebuildReport::Server;

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
            "before was not touched and serves on. The old server holds what the "
            "new one needs, so call sitter_rebuild with mode kill-first.\n"
            "Last words of the new server on stderr (sitter_child_stderr shows more):\n"
            "listen EADDRINUSE: port 80\n"
            "The build wrote nothing.");
  for (const char* words :
       {"OSError: [Errno 98] Address already in use",
        "sqlite3.OperationalError: database is locked",
        "Error: Browser is already running for /profile",
        "The profile appears to be in use",
        "open /dev/ttyACM0: Device or resource busy",
        "could not acquire lock on store",
        "Error: Browser is already in use for /profile, use --isolated",
        "the address is in use",
        "Error: Lockfile is already held",
        "Error: Lock file is already being held",
        "IO error: While lock file: /x/LOCK: Resource temporarily unavailable",
        "BlockingIOError: [Errno 11] Resource temporarily unavailable",
        "LockException: lock /x/LOCK: already held by process",
        "Failed to create /profile/SingletonLock: File exists (17)",
        "FATAL:  lock file \"postmaster.pid\" already exists",
        "FileExistsError: [Errno 17] File exists: '/tmp/app.lock'",
        "The process cannot access the file because it is being used by another process.",
        "ETXTBSY: text file is busy",
        "sh: 1: ./app: Text file busy",
        "pidfile exists",
        "pid file /run/x.pid exists",
        "daemon is already started\nat main",
        "failed to lock database: timeout"}) {
    bad.stderr_tail = words;
    EXPECT_THAT(rebuild_text(bad), ::testing::HasSubstr("kill-first")) << words;
  }
  for (const char* words : {"no such file", "server already started listening", "unlocked the door",
                            "The feature flag \"busy\" is set", "block a already exists",
                            "fork: Resource temporarily "
                            "unavailable",
                            "using profile default", "the clock is held"}) {
    bad.stderr_tail = words;
    EXPECT_THAT(rebuild_text(bad), ::testing::Not(::testing::HasSubstr("kill-first"))) << words;
  }
  bad.start_failure->why = "it answered initialize with error -32000: the address is in use";
  EXPECT_THAT(rebuild_text(bad), ::testing::HasSubstr("kill-first"));
  bad.stderr_tail = "EADDRINUSE";
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
            "[mcp-sitter] no --build command is set; the server was started again.");
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
