#include "core/rebuild/build.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <variant>
#include <vector>

#include "core/child/child_lifecycle.hpp"
#include "core/rebuild/build_excerpt.hpp"

namespace sitter {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

using Outcome = BuildResult::Outcome;
using How = order::SignalUnit::How;

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

TEST_F(BuildTest, KeepsTheLastLinesAndTheFirstErrorsOfALongOutput) {
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

TEST_F(BuildTest, AProgressBarIsOneLine) {
  for (int i = 0; i < 100; ++i) build.add(fmt::format("{} %, error rate 0\r", i), 0);
  build.add("built", 0);
  ends({0, ""});
  EXPECT_EQ(build.excerpt(), "built");
  EXPECT_EQ(build.line_count(), 1);
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

TEST_F(BuildTest, SparesAProcessThatIsAboutToStartItsOwnSession) {
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

std::vector<BuildLine> numbered(const std::vector<std::string>& lines) {
  std::vector<BuildLine> numbered;
  for (const std::string& line : lines) {
    numbered.push_back({static_cast<std::int64_t>(numbered.size()) + 1, line});
  }
  return numbered;
}

std::string excerpt(const std::vector<std::string>& lines, std::size_t lines_max = 12) {
  return build_excerpt(numbered(lines), lines_max);
}
std::string failure(const std::vector<std::string>& lines,
                    std::size_t lines_max = limits::kBuildExcerptLinesMax) {
  return failure_excerpt(numbered(lines), lines_max);
}
std::string excerpt_as_shown(const std::vector<std::string>& lines) {
  return excerpt(lines, limits::kBuildExcerptLinesMax);
}

std::vector<std::string> noise(int count) {
  std::vector<std::string> lines;
  for (int i = 0; i < count; ++i) lines.push_back("compiling " + std::to_string(i));
  return lines;
}

TEST(BuildExcerptTest, ShortOutputIsShownWhole) {
  EXPECT_EQ(excerpt({}), "");
  EXPECT_EQ(excerpt({"a", "", "b"}), "a\n\nb");
}

TEST(BuildExcerptTest, TheLastLinesOfALongOutputAreShownAndTheRestIsCounted) {
  EXPECT_EQ(excerpt(noise(100), 2), "[... 98 lines left out]\ncompiling 98\ncompiling 99");
  EXPECT_EQ(excerpt(noise(3), 2), "[... 1 line left out]\ncompiling 1\ncompiling 2");
}

TEST(BuildExcerptTest, LinesThatWereNotKeptAreCountedToo) {
  EXPECT_EQ(build_excerpt({{3, "error: one"}, {4, "here"}, {1000, "the end"}}),
            "[... 2 lines left out]\nerror: one\nhere\n[... 995 lines left out]\nthe end");
}

TEST(BuildExcerptTest, ErrorsAreShownRatherThanNoise) {
  auto lines = noise(100);
  lines[10] = "main.cpp:3:5: error: 'x' was not declared";
  lines[11] = "    3 | x = 1;";
  EXPECT_THAT(excerpt(lines), AllOf(HasSubstr("[... 10 lines left out]\nmain.cpp:3:5: error"),
                                    HasSubstr("\n    3 | x = 1;\n"), EndsWith("compiling 99")));
}

TEST(BuildExcerptTest, TheFirstErrorsCountMost) {
  std::vector<std::string> lines;
  for (int i = 0; i < 100; ++i) lines.push_back("error " + std::to_string(i) + ".");
  EXPECT_THAT(excerpt(lines, 6),
              AllOf(StartsWith("error 0.\nerror 1."), HasSubstr("error 3.\n[..."),
                    EndsWith("error 98.\nerror 99.")));
}

TEST(BuildExcerptTest, AReportOfZeroErrorsIsNotAnError) {
  auto lines = noise(100);
  lines[10] = "0 errors, 2 warnings";
  EXPECT_THAT(excerpt(lines), Not(HasSubstr("0 errors")));
}

TEST(BuildExcerptTest, ARemarkAtALocationIsNotAnError) {
  auto lines = noise(100);
  lines[10] = "a.c:1:2: warning: unused";
  EXPECT_THAT(excerpt(lines), Not(HasSubstr("unused")));
}

TEST(BuildExcerptTest, LongErrorsLeaveRoomForTheLastLines) {
  std::vector<std::string> lines(100, "error: " + std::string(490, 'x'));
  lines.push_back("the end");
  EXPECT_THAT(excerpt_as_shown(lines), EndsWith("the end"));
}

TEST(BuildExcerptTest, ErrorsOfAllTools) {
  for (const std::string error :
       {"make: *** No rule to make target 'x'", "FAILED: a.o", "error[E0308]: mismatched types",
        "undefined reference to `f'", "Traceback (most recent call last):",
        "thread 'main' panicked", "src/a.ts(1,2): error TS2304: Cannot find name 'x'.",
        "./a.go:3:2: undefined: x", "error: unresolved import `crate::info`"}) {
    auto lines = noise(100);
    lines[10] = error;
    EXPECT_THAT(excerpt(lines), HasSubstr(error));
  }
}

TEST(BuildExcerptTest, ALongLineIsCut) {
  EXPECT_THAT(excerpt({std::string(10'000, 'x')}),
              AllOf(HasSubstr("[9500 bytes cut]"), Not(HasSubstr(std::string(501, 'x')))));
}

TEST(BuildExcerptTest, ItKeepsToItsBytes) {
  std::vector<std::string> lines(1000, std::string(400, 'x'));
  for (std::size_t i = 0; i < lines.size(); i += 2) lines[i] = "error";
  const std::string text = excerpt_as_shown(lines);
  EXPECT_LE(text.size(), limits::kBuildExcerptBytesMax);
  EXPECT_GE(text.size(), limits::kBuildExcerptBytesMax / 4);
}

TEST(BuildExcerptTest, ItKeepsToItsLines) {
  const auto lines = noise(1000);
  const std::string text = excerpt_as_shown(lines);
  const auto count = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  EXPECT_EQ(count, limits::kBuildExcerptLinesMax);
}

TEST(FailureExcerptTest, TheErrorsComeFirstAndTheNotesLast) {
  EXPECT_EQ(failure({"c++ -c a.cpp", "In file included from a.cpp:1:", "a.hpp:2:1: error: one",
                     "    2 | x", "      | ^", "a.hpp:9:1: note: declared here", "    9 | y",
                     "a.cpp:5:1: error: two", "make: *** [Makefile:3: all] Error 1"}),
            "2 errors:\n"
            "a.hpp:2:1: error: one\n"
            "    2 | x\n"
            "      | ^\n"
            "a.cpp:5:1: error: two\n"
            "Other lines:\n"
            "c++ -c a.cpp\n"
            "make: *** [Makefile:3: all] Error 1\n"
            "Notes and warnings:\n"
            "In file included from a.cpp:1:\n"
            "a.hpp:9:1: note: declared here\n"
            "    9 | y");
}

TEST(FailureExcerptTest, OneErrorIsSingularAndNeedsNoHeadingsBelowIt) {
  EXPECT_EQ(failure({"./a.go:3:2: undefined: x"}), "1 error:\n./a.go:3:2: undefined: x");
}

TEST(FailureExcerptTest, OutputWithoutErrorsShowsItsLastLinesWithoutACount) {
  EXPECT_EQ(failure(noise(100), 2), "[... 98 lines left out]\ncompiling 98\ncompiling 99");
  EXPECT_EQ(failure({}), "");
}

TEST(FailureExcerptTest, OutputWithoutErrorsShowsWhichStepFailed) {
  auto lines = noise(100);
  lines[10] = "FAILED: a.o";
  EXPECT_THAT(failure(lines, 12), AllOf(HasSubstr("FAILED: a.o"), EndsWith("compiling 99")));
}

TEST(FailureExcerptTest, TheErrorsLeaveRoomForTheLastLinesAndTheRestIsCounted) {
  std::vector<std::string> lines;
  for (int i = 0; i < 100; ++i) lines.push_back("a.c:" + std::to_string(i) + ":1: error: no");
  lines.push_back("make: *** [Makefile:3: all] Error 1");
  EXPECT_EQ(failure(lines, 6),
            "100 errors:\n"
            "a.c:0:1: error: no\n"
            "a.c:1:1: error: no\n"
            "a.c:2:1: error: no\n"
            "a.c:3:1: error: no\n"
            "a.c:4:1: error: no\n"
            "[... 95 errors left out]\n"
            "Other lines:\n"
            "[... 95 lines left out]\n"
            "make: *** [Makefile:3: all] Error 1");
}

TEST(FailureExcerptTest, LinesShownElsewhereAreNotCountedAsLeftOut) {
  std::vector<std::string> lines = noise(4);
  lines.push_back("a.c:1:1: error: no");
  lines.push_back("a.c:1:2: note: because");
  lines.push_back("stopped");
  EXPECT_EQ(failure(lines, 3),
            "1 error:\n"
            "a.c:1:1: error: no\n"
            "Other lines:\n"
            "[... 3 lines left out]\n"
            "compiling 3\n"
            "[... 1 line left out]\n"
            "stopped");
  EXPECT_EQ(failure({"a.c:1:1: error: no", "a.c:1:2: note: because"}, 1),
            "1 error:\na.c:1:1: error: no\n[... 1 line left out]");
}

TEST(FailureExcerptTest, NotesComeBeforeTheRestOfTheOutput) {
  std::vector<std::string> lines = {"a.c:1:1: error: no", "a.c:1:2: note: because"};
  const auto rest = noise(1000);
  lines.insert(lines.end(), rest.begin(), rest.end());
  EXPECT_THAT(failure(lines), EndsWith("\ncompiling 999\nNotes and warnings:\n"
                                       "a.c:1:2: note: because"));
}

TEST(FailureExcerptTest, ManyNotesLeaveTheErrorsAndTheLastLines) {
  std::vector<std::string> lines = {"a.c:1:1: error: one"};
  for (int i = 0; i < 1000; ++i) lines.push_back("a.hpp:1:2: note: candidate: f(int)");
  lines.push_back("a.c:2:1: error: two");
  lines.push_back("make: *** [Makefile:3: all] Error 1");
  EXPECT_THAT(failure(lines),
              AllOf(StartsWith("2 errors:\na.c:1:1: error: one\na.c:2:1: error: two\n"),
                    HasSubstr("lines left out]\nmake: *** [Makefile:3: all] Error 1\n"),
                    EndsWith("note: candidate: f(int)")));
}

TEST(FailureExcerptTest, ACountOfOutputThatWasNotKeptIsALowerBound) {
  EXPECT_EQ(failure_excerpt({{3, "a.c:1:1: error: no"}, {1000, "the end"}}),
            "at least 1 error:\na.c:1:1: error: no\nOther lines:\n[... 998 lines left out]\n"
            "the end");
}

TEST(FailureExcerptTest, ItKeepsToItsBytes) {
  for (const std::string& line :
       {"a.c:" + std::string(300, '1') + ":1: error: no", "a.c:1:1: note: " + std::string(99, 'x'),
        "a.c:1:1: error: " + std::string(484, 'x'), std::string(10'000, 'x'), std::string("x")}) {
    std::vector<std::string> lines(2000, line);
    for (std::size_t i = 0; i < lines.size(); i += 3) {
      lines[i] = "b.c:" + std::to_string(i) + ":1: error: " + std::string(i % 400, 'y');
    }
    const std::string text = failure(lines);
    EXPECT_LE(text.size(), limits::kBuildExcerptBytesMax);
    EXPECT_GE(text.size(), limits::kBuildExcerptBytesMax / 2);
  }
}

TEST(FailureExcerptTest, ItShowsAsMuchAsItsBytesAllow) {
  // 128 bytes are kept for headings, and 32 for a count of lines beside each row of lines.
  const std::string error = "a.c:1:1: error: no";
  const std::size_t room = limits::kBuildExcerptBytesMax - 128 - 3 * 32 - (error.size() + 1);
  std::vector<std::string> lines = {error};
  for (std::size_t left = room; left > 0; left -= std::min<std::size_t>(left, 100)) {
    lines.push_back(std::string(std::min<std::size_t>(left, 100) - 1, 'x'));
  }
  EXPECT_THAT(failure(lines), Not(HasSubstr("left out")));
  lines[1] += "x";
  EXPECT_THAT(failure(lines), HasSubstr("[... 1 line left out]"));
}

}  // namespace
}  // namespace sitter
