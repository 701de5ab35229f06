#include "core/build/build.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <variant>
#include <vector>

namespace sitter {
namespace {

using Outcome = BuildResult::Outcome;
using How = order::SignalUnit::How;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class BuildTest : public ::testing::Test {
 protected:
  /// The build ends after three seconds.
  void ends(ExitStatus status) {
    build.life.on_started({-1, 77}, at(0), out);
    build.life.on_exited(std::move(status), at(3), out);
    build.life.on_unit_signalled({-1, {}}, at(3), out);
    build.life.on_output_ended({}, at(3), out);
    build.life.on_error_ended(out);
    build.finish(at(3));
  }
  std::vector<How> signals() {
    std::vector<How> hows;
    while (const auto order = out.poll()) {
      if (const auto* const signal = std::get_if<order::SignalUnit>(&*order)) {
        hows.push_back(signal->how);
      }
    }
    return hows;
  }
  static Now at(int second) { return {Instant() + seconds(second), WallTime() + seconds(second)}; }

  Orders out;
  Build build{-1, at(0)};
};

TEST_F(BuildTest, ItSucceedsWithCode0) {
  EXPECT_TRUE(build.is_running());
  ends({0, ""});
  EXPECT_FALSE(build.is_running());
  EXPECT_EQ(build.result()->outcome, Outcome::succeeded);
  EXPECT_EQ(build.result()->duration, seconds(3));
  EXPECT_EQ(build.result()->ended, at(3).wall);
  EXPECT_EQ(build_clause(*build.result()), "the build succeeded after 3s");
}

TEST_F(BuildTest, ABuildFailsWithAnyOtherExitCode) {
  ends({2, ""});
  EXPECT_EQ(build_clause(*build.result()), "the build failed (exit 2) after 3s");
}

TEST_F(BuildTest, ItFailsByASignal) {
  ends({139, "SIGSEGV"});
  EXPECT_EQ(build_clause(*build.result()), "the build failed (SIGSEGV) after 3s");
}

TEST_F(BuildTest, WhatWasStoppedHasNotFailed) {
  build.stop_for(Outcome::timed_out);
  build.stop_for(Outcome::stopped);
  ends({143, "SIGTERM"});
  EXPECT_EQ(build_clause(*build.result()),
            "the build had not ended after 3s and was stopped (timeout_seconds sets the limit)");
}

TEST_F(BuildTest, OfALongOutputTheLastLinesAreKeptAndTheFirstErrors) {
  build.add("compiling", 0);
  build.add("\x1b[31merror: no\x1b[0m", 0);
  for (std::size_t i = 0; i < limits::kBuildLogLinesMax; ++i) build.add("noise", 0);
  const auto lines = build.lines();
  ASSERT_EQ(lines.size(), limits::kBuildLogLinesMax + 1);
  EXPECT_EQ(lines[0].text, "error: no");
  EXPECT_EQ(lines[0].number, 2);
  EXPECT_EQ(lines[1].number, 3);
  EXPECT_EQ(lines.back().number, build.line_count());
}

TEST_F(BuildTest, TheNumberOfKeptErrorsIsBounded) {
  for (std::size_t i = 0; i < 2 * limits::kBuildErrorsKept; ++i) {
    build.add(std::string(1000, 'x') + " error", 0);
  }
  for (std::size_t i = 0; i < limits::kBuildLogLinesMax; ++i) build.add("noise", 0);
  EXPECT_EQ(build.lines().size(), limits::kBuildLogLinesMax + limits::kBuildErrorsKept);
}

TEST_F(BuildTest, TheExcerptOfAFailedBuildBeginsWithTheErrors) {
  build.add("compiling", 0);
  build.add("a.c:1:2: error: no", 0);
  ends({2, ""});
  EXPECT_EQ(build.excerpt(), "1 error:\na.c:1:2: error: no\nOther lines:\ncompiling");
  EXPECT_EQ(build.excerpt(1), "1 error:\na.c:1:2: error: no\n[... 1 line left out]");
}

TEST_F(BuildTest, TheExcerptOfASuccessfulBuildKeepsTheOrderOfTheOutput) {
  build.add("compiling", 0);
  build.add("test of a.c:1:2: error: passed", 0);
  ends({0, ""});
  EXPECT_EQ(build.excerpt(), "compiling\ntest of a.c:1:2: error: passed");
}

TEST_F(BuildTest, AShellThatIsNotThereIsNamed) {
  build.life.on_start_failed({-1, "can't start /bin/sh: no such file"}, at(0));
  build.finish(at(0));
  EXPECT_EQ(build_clause(*build.result()),
            "the build could not be started: can't start /bin/sh: no such file");
}

TEST_F(BuildTest, ItMayCloseItsOutputAndGoOn) {
  build.life.on_started({-1, 77}, at(0), out);
  build.life.on_output_ended({}, at(1), out);
  build.life.on_input_broken({}, at(1), out);
  EXPECT_TRUE(build.life.is_up());
}

TEST_F(BuildTest, TheLastProcessOfABuildHasAMomentToBeginItsOwnSession) {
  const auto after = [](Milliseconds time) { return Now{at(0).steady + time, at(0).wall}; };
  build.life.on_started({-1, 77}, at(0), out);
  build.life.on_exited({0, ""}, at(0), out);
  EXPECT_THAT(signals(), ElementsAre(How::look));
  build.life.on_unit_signalled({-1, {{78, false, "daemon", "", false}}}, at(0), out);
  build.life.on_timeout(after(limits::kBuildLeavesWait - Milliseconds(1)), out);
  EXPECT_THAT(signals(), IsEmpty());
  build.life.on_timeout(after(limits::kBuildLeavesWait), out);
  EXPECT_THAT(signals(), ElementsAre(How::terminate));
}

TEST_F(BuildTest, ABuildThatIsStoppedLeavesNothing) {
  build.life.on_started({-1, 77}, at(0), out);
  build.life.take_down(EndReason::shut_down, "", {}, at(0), out);
  signals();
  build.life.on_exited({143, "SIGTERM"}, at(0), out);
  EXPECT_THAT(signals(), ElementsAre(How::terminate));
}

}  // namespace
}  // namespace sitter
