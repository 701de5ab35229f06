#include "core/child/child_lifecycle.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

#include "core/child/child_end.hpp"
#include "core/child/ending.hpp"
#include "core/child/restart_policy.hpp"
#include "support/lifecycle_script.hpp"

namespace sitter {
namespace {

using State = ChildLifecycle::State;

TEST_F(ChildLifecycleTest, FromStartingToUp) {
  EXPECT_EQ(life_.state(), State::starting);
  EXPECT_FALSE(life_.is_up());
  starts();
  EXPECT_EQ(life_.state(), State::up);
  EXPECT_EQ(life_.pid(), 100);
  EXPECT_FALSE(life_.deadline());
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(ChildLifecycleTest, FromStartingToOver) {
  life_.on_start_failed({1, "no such file"}, now_);
  EXPECT_TRUE(life_.is_over());
  EXPECT_THAT(done(), IsEmpty());
  EXPECT_EQ(reason(), EndReason::not_executed);
  EXPECT_EQ(life_.end(false).why, "no such file");
  EXPECT_FALSE(life_.end(false).is_command_missing);
}

TEST_F(ChildLifecycleTest, TheEndSaysWhetherTheCommandWasMissing) {
  life_.on_start_failed({.gen = 1, .reason = "no such file", .is_missing = true}, now_);
  EXPECT_TRUE(life_.end(false).is_command_missing);
}

TEST_F(ChildLifecycleTest, IgnoresASecondStart) {
  starts();
  life_.on_start_failed({1, "late"}, now_);
  life_.on_started({1, 200}, now_, out_);
  EXPECT_EQ(life_.state(), State::up);
  EXPECT_EQ(life_.pid(), 100);
}

TEST_F(ChildLifecycleTest, AnExitBeforeTheStartIsImpossibleAndIgnored) {
  exits(1);
  passes(seconds(100));
  EXPECT_EQ(life_.state(), State::starting);
}

TEST_F(ChildLifecycleTest, ClosesAChildThatStartsAfterItWasTakenDown) {
  take_down();
  EXPECT_EQ(life_.state(), State::starting);
  EXPECT_THAT(done(), IsEmpty());
  starts();
  EXPECT_EQ(life_.state(), State::closing);
  EXPECT_THAT(done(), ElementsAre("look", "close"));
}

TEST_F(ChildLifecycleTest, ATakedownClosesASlowStartAtOnce) {
  take_down();
  EXPECT_THAT(done(), IsEmpty());
  ChildLifecycle slow(1, now_);
  slow.expect_slow_start();
  slow.take_down(EndReason::killed_by_sitter, "", ladder_, now_, out_);
  slow.take_down(EndReason::shut_down, "", ladder_, now_, out_);
  EXPECT_THAT(done(), ElementsAre("close"));
  EXPECT_EQ(slow.state(), State::starting);
}

TEST_F(ChildLifecycleTest, AFailedStartAfterATakedownIsReportedAsNotExecuted) {
  take_down();
  life_.on_start_failed({1, "no"}, now_);
  EXPECT_EQ(reason(), EndReason::not_executed);
}

TEST_F(ChildLifecycleTest, FromUpToDrainingToOver) {
  starts();
  now_.steady += milliseconds(2100);
  exits(3);
  EXPECT_EQ(life_.state(), State::draining);
  EXPECT_THAT(done(), ElementsAre("terminate"));
  unit({});
  EXPECT_EQ(life_.state(), State::draining);
  life_.on_output_ended(ladder_, now_, out_);
  EXPECT_EQ(life_.state(), State::draining);
  life_.on_error_ended(out_);
  EXPECT_TRUE(life_.is_over());
  EXPECT_THAT(done(), ElementsAre("release"));
  EXPECT_EQ(life_.end(true), (ChildEnd{EndReason::crashed, {3, ""}, milliseconds(2100), ""}));
  EXPECT_EQ(reason(false), EndReason::ended_in_opening);
}

TEST_F(ChildLifecycleTest, TheOrderOfTheEndsDoesNotMatter) {
  for (int order = 0; order < 6; ++order) {
    ChildLifecycle life(1, now_);
    life.on_started({1, 100}, now_, out_);
    std::vector<int> parts = {0, 1, 2};
    for (int n = 0; n < order; ++n) std::next_permutation(parts.begin(), parts.end());
    for (const int part : parts) {
      EXPECT_FALSE(life.is_over());
      if (part == 0) life.on_exited({0, ""}, now_, out_);
      if (part == 1) life.on_output_ended(ladder_, now_, out_);
      if (part == 2) life.on_error_ended(out_);
    }
    life.on_unit_signalled({1, {}}, now_, out_);
    EXPECT_TRUE(life.is_over());
    EXPECT_EQ(life.end(true).reason, EndReason::exited);
  }
}

TEST_F(ChildLifecycleTest, TheEndOfStderrAloneIsNothing) {
  starts();
  life_.on_error_ended(out_);
  EXPECT_EQ(life_.state(), State::up);
}

TEST_F(ChildLifecycleTest, TheEndOfStdoutTakesItDown) {
  starts();
  life_.on_output_ended(ladder_, now_, out_);
  EXPECT_EQ(life_.state(), State::closing);
  EXPECT_EQ(life_.taken_down_for(), EndReason::closed_stdout);
  EXPECT_THAT(done(), ElementsAre("look", "close"));
}

TEST_F(ChildLifecycleTest, AnExitRightAfterTheEndOfStdoutIsReportedAsAnExit) {
  starts();
  closes_output();
  exits(0);
  unit({});
  EXPECT_EQ(reason(), EndReason::exited);
}

TEST_F(ChildLifecycleTest, AnExitBySigtermAfterTheEndOfStdoutIsReportedAsClosedStdout) {
  starts();
  closes_output();
  passes(milliseconds(500));
  exits(143, "SIGTERM");
  unit({});
  EXPECT_EQ(reason(), EndReason::closed_stdout);
}

TEST_F(ChildLifecycleTest, DrainingEndsWithItsTime) {
  starts();
  exits(0);
  done();
  passes(milliseconds(299));
  EXPECT_EQ(life_.state(), State::draining);
  passes(milliseconds(1));
  EXPECT_TRUE(life_.is_over());
  EXPECT_THAT(done(), ElementsAre("release"));
}

TEST_F(ChildLifecycleTest, DrainingLastsFromTheLastByte) {
  starts();
  exits(0);
  passes(milliseconds(200));
  life_.on_output_moved(now_);
  passes(milliseconds(299));
  EXPECT_EQ(life_.state(), State::draining);
  passes(milliseconds(1));
  EXPECT_TRUE(life_.is_over());
}

TEST_F(ChildLifecycleTest, AGrandchildThatWritesOnAndOnIsWaitedForTwoSeconds) {
  starts();
  exits(0);
  for (int i = 0; i < 19; ++i) {
    passes(milliseconds(100));
    life_.on_output_moved(now_);
  }
  passes(milliseconds(99));
  EXPECT_EQ(life_.state(), State::draining);
  passes(milliseconds(1));
  EXPECT_TRUE(life_.is_over());
}

TEST_F(ChildLifecycleTest, DrainingWaitsForTheRestOfTheUnit) {
  starts();
  exits(0);
  closes_output();
  unit({grandchild_});
  EXPECT_EQ(life_.state(), State::draining);
  done();
  life_.on_orphan_ended(out_);
  EXPECT_THAT(done(), ElementsAre("look"));
  unit({});
  EXPECT_TRUE(life_.is_over());
  life_.on_orphan_ended(out_);
  EXPECT_THAT(done(), ElementsAre("release"));
}

TEST_F(ChildLifecycleTest, TheEndOfAnOrphanIsIgnoredWhileTheChildRuns) {
  starts();
  life_.on_orphan_ended(out_);
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(ChildLifecycleTest, IgnoresATakedownWhileDraining) {
  starts();
  exits(3);
  done();
  take_down();
  EXPECT_THAT(done(), IsEmpty());
  EXPECT_FALSE(life_.taken_down_for());
  closes_output();
  unit({});
  EXPECT_EQ(reason(), EndReason::crashed);
}

TEST_F(ChildLifecycleTest, ASecondExitIsIgnored) {
  starts();
  exits(3);
  done();
  exits(0);
  EXPECT_THAT(done(), IsEmpty());
  closes_output();
  unit({});
  EXPECT_EQ(life_.end(true).status.code, 3);
}

TEST_F(ChildLifecycleTest, StaysOverOnceOver) {
  starts();
  exits(0);
  closes_output();
  unit({});
  done();
  starts();
  life_.on_start_failed({1, "no"}, now_);
  exits(1);
  closes_output();
  unit({leader_});
  life_.on_orphan_ended(out_);
  take_down();
  passes(seconds(10));
  EXPECT_TRUE(life_.is_over());
  EXPECT_FALSE(life_.deadline());
  EXPECT_THAT(done(), IsEmpty());
  EXPECT_EQ(reason(), EndReason::exited);
}

TEST(UnaskedEndTest, OnlyExitCodeZeroIsAnExit) {
  EXPECT_EQ(unasked_end({0, ""}), EndReason::exited);
  EXPECT_EQ(unasked_end({1, ""}), EndReason::crashed);
}

TEST(UnaskedEndTest, PoliteSignalsComeFromOutside) {
  for (const char* signal : {"SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"}) {
    EXPECT_EQ(unasked_end({143, signal}), EndReason::ended_from_outside) << signal;
  }
}

TEST(UnaskedEndTest, OtherSignalsAreCrashes) {
  for (const char* signal : {"SIGSEGV", "SIGABRT", "SIGKILL", "SIGPIPE"}) {
    EXPECT_EQ(unasked_end({139, signal}), EndReason::crashed) << signal;
  }
}

/// How a program ends on Windows.
ExitStatus windows_end(std::uint32_t number) { return {static_cast<int>(number), ""}; }

TEST(UnaskedEndTest, CtrlCComesFromOutsideAndOtherExceptionsAreCrashes) {
  EXPECT_EQ(unasked_end(windows_end(0xC000013A)), EndReason::ended_from_outside);
  for (const std::uint32_t number : {0xC0000005U, 0x80000003U, 0xE0434352U, 0xFFFFFFFFU}) {
    EXPECT_EQ(unasked_end(windows_end(number)), EndReason::crashed) << number;
  }
  EXPECT_EQ(unasked_end(kUnknownExit), EndReason::exited);
}

TEST(ExitStatusTest, OnlyANumberOfTheSeverityErrorIsAnException) {
  for (const std::uint32_t number : {0xC0000000U, 0xC0000005U, 0xC0000409U, 0xE06D7363U,
                                     0xFFFEFFFFU, 0x80000001U, 0x80000005U}) {
    EXPECT_TRUE(windows_end(number).by_exception()) << number;
  }
  // The last ones are results of functions, and exit codes below zero.
  for (const std::uint32_t number : {0U, 3U, 255U, 0x80000000U, 0x80000006U, 0xBFFFFFFFU,
                                     0xC000013AU, 0x80070005U, 0xFFFF0000U, 0xFFFFFFFFU}) {
    EXPECT_FALSE(windows_end(number).by_exception()) << number;
  }
  EXPECT_FALSE(kUnknownExit.by_exception());
}

TEST(StatusWordsTest, ExplainTheNumbersOfWindows) {
  const std::pair<std::uint32_t, const char*> ends[] = {
      {0xC0000005, "exit 0xC0000005, access violation"},
      {0xC00000FD, "exit 0xC00000FD, stack overflow"},
      {0xC0000374, "exit 0xC0000374, heap corruption"},
      {0xC0000409, "exit 0xC0000409, stack buffer overrun or abort"},
      {0xC0000135, "exit 0xC0000135, a DLL was not found"},
      {0xC000007B, "exit 0xC000007B, a DLL of another architecture"},
      {0xC0000139, "exit 0xC0000139, an entry point was not found in a DLL"},
      {0xC0000142, "exit 0xC0000142, a DLL could not be initialized"},
      {0xC000013A, "exit 0xC000013A, Ctrl-C"},
      {0x80000003, "exit 0x80000003, breakpoint"},
      {0xC000001D, "exit 0xC000001D, illegal instruction"},
      {0xC0000094, "exit 0xC0000094, division by zero"},
      {0xE0434352, "exit 0xE0434352, unhandled .NET exception"},
      {0xE06D7363, "exit 0xE06D7363, unhandled C++ exception"},
      {0xC0000022, "exit 0xC0000022"},
      {0x80070005, "exit 0x80070005"},
      {3, "exit 3"},
      {0xFFFFFFFF, "exit -1"},
      {0xFFFF0000, "exit -65536"},
  };
  for (const auto& [number, words] : ends) EXPECT_EQ(status_words(windows_end(number)), words);
  EXPECT_EQ(status_words(kUnknownExit), "exit code unknown");
}

TEST(ExitCodeTest, ANumberOfWindowsHasNoSign) {
  EXPECT_EQ(exit_code_of(windows_end(0xC0000005)), 3221225477);
  EXPECT_EQ(exit_code_of(windows_end(0xFFFFFFFF)), -1);
  EXPECT_EQ(exit_code_of({3, ""}), 3);
}

TEST(PreviousWordsTest, SayWhatIsKnown) {
  EXPECT_EQ(previous_words({EndReason::exited, {0, ""}, seconds(45), ""}), "exit 0 after 45s");
  EXPECT_EQ(previous_words({EndReason::crashed, {3, ""}, milliseconds(2100), ""}),
            "⚠ crashed (exit 3) after 2.1s");
  EXPECT_EQ(previous_words({EndReason::crashed, {139, "SIGSEGV"}, milliseconds(2100), ""}),
            "⚠ crashed (SIGSEGV) after 2.1s");
  EXPECT_EQ(previous_words({EndReason::crashed, {137, "SIGKILL"}, seconds(3), ""}),
            "⚠ crashed (SIGKILL, from outside or out of memory) after 3s");
  EXPECT_EQ(previous_words({EndReason::ended_from_outside, {143, "SIGTERM"}, seconds(3), ""}),
            "ended from outside (SIGTERM) after 3s");
}

TEST(PreviousWordsTest, ADeliberateKillIsNoCrashHoweverItEnded) {
  for (const ExitStatus& status : {ExitStatus{0, ""}, ExitStatus{1, ""}, ExitStatus{137, "SIGKILL"},
                                   ExitStatus{139, "SIGSEGV"}}) {
    const ChildEnd end{EndReason::killed_by_sitter, status, seconds(45), "sitter_kill"};
    EXPECT_EQ(previous_words(end), "killed by sitter_kill after 45s");
    EXPECT_EQ(end_clause(end), "the server was killed by sitter_kill after 45s");
    EXPECT_EQ(reason_words(end), "killed by sitter_kill");
  }
}

TEST(EndClauseTest, WithoutAChildNoLifetimeIsReported) {
  ChildEnd end{EndReason::shut_down, {}, {}, ""};
  EXPECT_EQ(end_clause(end), "the server was shut down with the session after 0s");
  end.had_no_child = true;
  EXPECT_EQ(end_clause(end), "the server was shut down with the session");
}

TEST(EndClauseTest, AKillOfNothingSaysThatNothingRan) {
  ChildEnd end{EndReason::killed_by_sitter, {}, {}, "sitter_kill"};
  end.had_no_child = true;
  EXPECT_EQ(end_clause(end), "sitter_kill was called while no server ran");
  EXPECT_EQ(previous_words(end), "sitter_kill was called before it ran");
  end.why = "ctl kill";
  EXPECT_EQ(end_clause(end), "ctl kill was called while no server ran");
}

TEST(EndClauseTest, AFailedStartNamesItsReason) {
  EXPECT_EQ(end_clause({EndReason::not_executed, {}, {}, "no such file"}),
            "the server could not be started: no such file");
  EXPECT_EQ(end_clause({EndReason::ended_in_opening, {7, ""}, milliseconds(200), ""}),
            "the server could not be started: it ended (exit 7) after 0.2s, before it had answered "
            "its opening");
  EXPECT_EQ(end_clause({EndReason::opening_timed_out, {}, seconds(50), ""}),
            "the server could not be started: it had not answered its opening after 50s and was "
            "taken down");
  EXPECT_EQ(end_clause({EndReason::said_nothing, {}, seconds(50), ""}),
            "the server had said nothing 50s after its start and was taken down");
}

TEST(EndClauseTest, WhatTheChildSaidStaysOnOneLine) {
  EXPECT_EQ(end_clause({EndReason::opening_refused, {}, {}, "it said\n\x1b[1mno\xFF"}),
            "the server could not be started: it said no\uFFFD");
}

bool comes_back(RestartPolicy::When when, EndReason reason) {
  RestartPolicy policy(when, 10);
  policy.on_end({reason, {}, seconds(1), ""}, {});
  return policy.due().has_value();
}

TEST(RestartPolicyTest, TheReasonOfTheEndDecidesOnAnAutomaticRestart) {
  using enum EndReason;
  using enum RestartPolicy::When;
  for (const EndReason crash :
       {crashed, closed_stdout, closed_stdin, ended_in_opening, opening_timed_out, said_nothing,
        connection_lost, session_lost, wrote_rubbish}) {
    EXPECT_TRUE(comes_back(on_crash, crash));
    EXPECT_TRUE(comes_back(eager, crash));
  }
  for (const EndReason other :
       {exited, ended_from_outside, not_executed, opening_refused, given_up}) {
    EXPECT_FALSE(comes_back(on_crash, other));
    EXPECT_TRUE(comes_back(eager, other));
  }
  for (const EndReason meant : {killed_by_sitter, replaced, restarted_itself, shut_down}) {
    EXPECT_FALSE(comes_back(eager, meant));
  }
  EXPECT_FALSE(comes_back(lazy, crashed));
}

TEST(EndingTest, NothingIsStartedAfterTheStopAndADeadlineFiresOnce) {
  Ending ending;
  ending.on_input_closed({});
  EXPECT_FALSE(ending.has_stopped());
  ending.stop();
  EXPECT_TRUE(ending.has_stopped());
  ending.abandon_at({});
  ending.on_timeout();
  EXPECT_EQ(ending.deadline(), std::nullopt);
  ending.end();
  EXPECT_TRUE(ending.has_stopped());
}

}  // namespace
}  // namespace sitter
