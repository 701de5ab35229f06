#include "core/child/child_end.hpp"

#include <gtest/gtest.h>

namespace sitter {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

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

}  // namespace
}  // namespace sitter
