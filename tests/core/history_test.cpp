#include "core/child/history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/child/child_lifecycle.hpp"
#include "core/child/stderr_ring.hpp"
#include "sitter/bridge_config.hpp"
#include "sitter/limits.hpp"

namespace sitter {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::StartsWith;

WallTime at(int second) { return WallTime(std::chrono::seconds(second)); }

History::Life life(Generation gen, EndReason reason) {
  return {gen, 100 + gen, at(0), Milliseconds(5), ChildEnd{reason, {}}};
}

TEST(HistoryTest, ALifeIsMadeFromTheChild) {
  Orders out;
  const Now start{Instant(std::chrono::seconds(7)), at(3)};
  ChildLifecycle child(2, start);
  child.on_started({2, 100}, start, out);

  History::Life life = History::Life::of(child, Milliseconds(5));
  EXPECT_EQ(life.gen, 2);
  EXPECT_EQ(life.pid, 100);
  EXPECT_EQ(life.started, at(3));
  EXPECT_EQ(life.lifetime, Milliseconds(5));
  EXPECT_FALSE(life.end);

  ChildEnd end{EndReason::crashed, {}};
  end.lifetime = Milliseconds(6);
  life = History::Life::over(child, end);
  EXPECT_EQ(life.pid, 100);
  EXPECT_EQ(life.lifetime, Milliseconds(6));
  EXPECT_EQ(life.end->reason, EndReason::crashed);
}

TEST(HistoryTest, TheNewestEndIsShownAlsoIfAnOlderChildEndsLater) {
  History history;
  EXPECT_FALSE(history.last_end());
  history.on_over(life(2, EndReason::crashed), "boom", false, at(1));
  history.on_over(life(1, EndReason::replaced), "", false, at(2));
  EXPECT_EQ(history.last_end()->reason, EndReason::crashed);
  EXPECT_EQ(history.last_end_at(), at(1));
  ASSERT_EQ(history.lives().size(), 2u);
  EXPECT_EQ(history.lives().front().gen, 1);
}

TEST(HistoryTest, ACandidateIsNotTheLastThatEnded) {
  History history;
  history.on_over(life(1, EndReason::ended_in_opening), "boom", true, at(1));
  EXPECT_FALSE(history.last_end());
  EXPECT_EQ(history.last_failure()->stderr_tail, "boom");
  EXPECT_EQ(history.lives().size(), 1u);
}

TEST(HistoryTest, ANoticeTellsOfAKillAlsoIfTheChildDidNotServe) {
  History history;
  history.on_over(life(1, EndReason::crashed), "boom", false, at(1));
  history.on_served_over(1, {EndReason::crashed, {}}, "boom");
  history.on_over(life(2, EndReason::ended_in_opening), "", false, at(2));
  EXPECT_EQ(history.last_told()->reason, EndReason::crashed);
  EXPECT_EQ(history.last_words(), "boom");
  history.on_over(life(3, EndReason::killed_by_sitter), "", false, at(3));
  EXPECT_EQ(history.last_told()->reason, EndReason::killed_by_sitter);
  EXPECT_EQ(history.last_words(), "");
  EXPECT_EQ(history.last_served()->reason, EndReason::crashed);
}

TEST(HistoryTest, TheEndOfALaterChildIsToldAlsoIfAnEarlierChildIsOverLast) {
  History history;
  history.on_over(life(2, EndReason::killed_by_sitter), "", true, at(1));
  history.on_over(life(1, EndReason::crashed), "boom", false, at(2));
  history.on_served_over(1, {EndReason::crashed, {}}, "boom");
  EXPECT_EQ(history.last_told()->reason, EndReason::killed_by_sitter);
  EXPECT_EQ(history.last_served()->reason, EndReason::crashed);
}

TEST(HistoryTest, TheEndOfABuildThatBroughtNoCommandIsTheLastFailure) {
  History history;
  History::Life missing = life(1, EndReason::not_executed);
  missing.end->is_command_missing = true;
  history.on_over(missing, "", false, at(1));
  history.on_unbuilt("the build failed", at(9));
  EXPECT_EQ(history.last_end()->why, "the build failed");
  EXPECT_TRUE(history.last_end()->is_unbuilt);
  EXPECT_TRUE(history.last_end()->is_command_missing);
  EXPECT_EQ(history.last_end_at(), at(9));
  EXPECT_EQ(history.last_failure()->end, history.last_end());
  EXPECT_EQ(history.last_failure()->at, at(9));
}

TEST(HistoryTest, ACleanExitIsNotAFailure) {
  History history;
  for (const EndReason reason :
       {EndReason::exited, EndReason::killed_by_sitter, EndReason::replaced, EndReason::shut_down,
        EndReason::ended_from_outside}) {
    history.on_over(life(1, reason), "", false, at(1));
    EXPECT_FALSE(history.last_failure());
  }
}

TEST(HistoryTest, TheNumberOfKeptLivesIsBounded) {
  History history;
  const int count = static_cast<int>(limits::kHistoryMax);
  for (int gen = 1; gen <= count; ++gen) {
    history.on_over(life(gen, EndReason::exited), "", false, at(gen));
  }
  EXPECT_EQ(history.lives().size(), limits::kHistoryMax);
  EXPECT_EQ(history.lives().front().gen, 1);
  history.on_over(life(count + 1, EndReason::exited), "", false, at(count));
  EXPECT_EQ(history.lives().size(), limits::kHistoryMax);
  EXPECT_EQ(history.lives().front().gen, 2);
}

TEST(HistoryTest, NoiseIsCountedForEachChild) {
  History history;
  EXPECT_TRUE(history.add_noise(1, "Listening"));
  EXPECT_FALSE(history.add_noise(1, "more"));
  EXPECT_EQ(history.noise()->line_count, 2);
  EXPECT_EQ(history.noise()->first_line, "Listening");
  EXPECT_TRUE(history.add_noise(2, "other"));
  EXPECT_FALSE(history.add_noise(1, "late"));
  EXPECT_EQ(history.noise()->line_count, 1);
}

std::string all(const StderrRing& ring) { return ring.text({.lines = 1'000'000}).text; }

TEST(StderrRingTest, EmptyRingSaysSo) {
  EXPECT_EQ(all(StderrRing(limits::kStderrLinesDefault)), "(no child stderr in buffer)");
}

TEST(StderrRingTest, AMarkStandsBetweenGenerationsAndNotBeforeTheFirst) {
  StderrRing ring(limits::kStderrLinesDefault);
  ring.child_started(1, 100);
  ring.add(1, "one");
  ring.child_started(2, 200);
  ring.add(2, "two");
  ring.child_started(3, 300);
  ring.add(3, "three");
  EXPECT_EQ(all(ring),
            "one\n----- child respawn (gen 2, pid 200) -----\ntwo\n"
            "----- child respawn (gen 3, pid 300) -----\nthree");
}

TEST(StderrRingTest, SilentGenerationsLeaveOneMarkOnly) {
  StderrRing ring(limits::kStderrLinesDefault);
  ring.child_started(1, 100);
  ring.add(1, "one");
  for (int gen = 2; gen <= 30'000; ++gen) ring.child_started(gen, gen);
  EXPECT_EQ(all(ring), "one\n----- child respawn (gen 30000, pid 30000) -----");
}

TEST(StderrRingTest, MarksAloneAreNoStderr) {
  StderrRing ring(limits::kStderrLinesDefault);
  ring.child_started(1, 100);
  ring.child_started(2, 200);
  EXPECT_EQ(all(ring), "(no child stderr in buffer)");
}

TEST(StderrRingTest, LinesFromStdoutAreMarked) {
  StderrRing ring(limits::kStderrLinesDefault);
  ring.add_stdout(1, "hello");
  EXPECT_EQ(all(ring), "[stdout] hello");
}

TEST(StderrRingTest, ControlSequencesStayOut) {
  StderrRing ring(limits::kStderrLinesDefault);
  ring.add(1, "\x1b[31mred\x1b[0m");
  ring.add(1, "10%\r20%\xFF");
  EXPECT_EQ(all(ring), "red\n10% 20%\uFFFD");
}

TEST(StderrRingTest, AProgressBarIsOneLine) {
  StderrRing ring(limits::kStderrLinesDefault);
  EXPECT_FALSE(ring.add(1, "10%\r"));
  EXPECT_TRUE(ring.add(1, "20%\r"));
  EXPECT_EQ(all(ring), "20%");
  ring.add(2, "of another");
  EXPECT_FALSE(ring.add(2, "30%\r"));
  EXPECT_TRUE(ring.add(2, "done"));
  EXPECT_FALSE(ring.add(2, "more"));
  EXPECT_EQ(all(ring), "20%\nof another\ndone\nmore");
}

TEST(StderrRingTest, TheOldestLinesGoFirst) {
  StderrRing ring(3);
  for (const char* line : {"a", "b", "c"}) ring.add(1, line);
  EXPECT_EQ(all(ring), "a\nb\nc");
  ring.add(1, "d");
  EXPECT_EQ(all(ring), "b\nc\nd");
}

TEST(StderrRingTest, ARingOfNoLinesKeepsOne) {
  StderrRing ring(0);
  ring.add(1, "a");
  EXPECT_EQ(all(ring), "a");
}

TEST(StderrRingTest, BytesAreBoundedToo) {
  StderrRing ring(1'000'000);
  const std::string line(1024, 'x');
  for (std::size_t i = 0; i < limits::kStderrBytesMax / 1024; ++i) ring.add(1, line);
  EXPECT_EQ(all(ring).size(), limits::kStderrBytesMax + 1023);
  ring.add(1, "y");
  EXPECT_EQ(all(ring).size(), limits::kStderrBytesMax - 1024 + 1023 + 1);
}

TEST(StderrRingTest, ALineOfTheLimitIsWholeAndOneByteMoreIsCut) {
  StderrRing ring(limits::kStderrLinesDefault);
  const std::string line(limits::kStderrLineMax, 'x');
  ring.add(1, line);
  EXPECT_EQ(all(ring), line);
  ring.add(2, line + "y");
  EXPECT_EQ(ring.tail(2, 1, 10'000), line + "… [1 byte cut]");
}

TEST(StderrRingTest, BytesThatTheReaderDroppedAreCounted) {
  StderrRing ring(limits::kStderrLinesDefault);
  ring.add(1, "abc", 20'000'000);
  EXPECT_EQ(all(ring), "abc… [20000000 bytes cut]");
}

TEST(StderrRingTest, LimitsALineAfterReplacingInvalidBytes) {
  StderrRing ring(limits::kStderrLinesDefault);
  ring.add(1, std::string(limits::kStderrLineMax, '\xFF'));
  EXPECT_LE(all(ring).size(), limits::kStderrLineMax + 48);
  EXPECT_TRUE(all(ring).starts_with("\uFFFD\uFFFD"));
}

TEST(StderrRingTest, LinesCountsTheNewestMatchingOnes) {
  StderrRing ring(limits::kStderrLinesDefault);
  for (const char* line : {"error 1", "info", "error 2", "error 3", "info"}) ring.add(1, line);
  EXPECT_EQ(ring.text({.lines = 2}).text, "error 3\ninfo");
  EXPECT_EQ(ring.text({.lines = 2, .grep = "^error"}).text, "error 2\nerror 3");
}

TEST(StderrRingTest, MarksDoNotCountAsLines) {
  StderrRing ring(limits::kStderrLinesDefault);
  ring.child_started(1, 100);
  ring.add(1, "zero");
  ring.add(1, "one");
  ring.child_started(2, 200);
  ring.add(2, "two");
  EXPECT_EQ(ring.text({.lines = 2}).text, "one\n----- child respawn (gen 2, pid 200) -----\ntwo");
}

TEST(StderrRingTest, MatchingLinesStayApartByGeneration) {
  StderrRing ring(limits::kStderrLinesDefault);
  for (int gen = 1; gen <= 3; ++gen) {
    ring.child_started(gen, gen * 100);
    ring.add(gen, "info");
    if (gen != 2) ring.add(gen, "error " + std::to_string(gen));
  }
  EXPECT_EQ(ring.text({.grep = "error"}).text,
            "error 1\n----- child respawn (gen 3, pid 300) -----\nerror 3");
}

TEST(StderrRingTest, SinceSpawnShowsTheNewestGenerationOnly) {
  StderrRing ring(limits::kStderrLinesDefault);
  ring.child_started(1, 100);
  ring.add(1, "one");
  ring.child_started(2, 200);
  EXPECT_EQ(ring.text({.since_spawn = true}).text,
            "(no match in 1 line of child stderr in buffer)");
  ring.add(2, "two");
  ring.add(1, "late");
  EXPECT_EQ(ring.text({.since_spawn = true}).text, "two");
}

TEST(StderrRingTest, AnOldGenerationCanBeAskedFor) {
  StderrRing ring(limits::kStderrLinesDefault);
  ring.child_started(1, 100);
  ring.add(1, "one");
  ring.child_started(2, 200);
  ring.add(2, "two");
  EXPECT_EQ(ring.text({.generation = 1}).text, "one");
}

TEST(StderrRingTest, AWrongPatternIsNamed) {
  StderrRing ring(limits::kStderrLinesDefault);
  ring.add(1, "one");
  EXPECT_EQ(ring.text({.grep = "(one"}),
            (StderrRing::Answer{"grep is not a valid RE2 pattern: missing ): (one", true}));
}

TEST(StderrRingTest, TailIsTheLastWordsOfOneChild) {
  StderrRing ring(limits::kStderrLinesDefault);
  ring.child_started(1, 100);
  ring.add(1, "old");
  ring.child_started(2, 200);
  for (const char* line : {"a", "b", "c"}) ring.add(2, line);
  EXPECT_EQ(ring.last_words(1), "old");
  EXPECT_EQ(ring.last_words(2), "a\nb\nc");
  EXPECT_EQ(ring.tail(2, 2, 100), "b\nc");
  EXPECT_EQ(ring.last_words(3), "");
}

TEST(StderrRingTest, TailHasItsBytesBoundedByWholeLines) {
  StderrRing ring(limits::kStderrLinesDefault);
  for (const char* line : {"aa", "bb", "cc"}) ring.add(1, line);
  EXPECT_EQ(ring.tail(1, 20, 5), "bb\ncc");
  EXPECT_EQ(ring.tail(1, 20, 4), "cc");
  EXPECT_EQ(ring.tail(1, 20, 1), "c… [1 byte cut]");
}

TEST(StderrRingTest, KeepsATailOf4KiBAndDropsTheOldestLineAboveIt) {
  const auto last_words = [](std::size_t oldest) {
    StderrRing ring(limits::kStderrLinesDefault);
    ring.add(1, std::string(oldest, 'a'));
    for (int n = 0; n < 3; ++n) ring.add(1, std::string(1023, 'b'));
    return ring.last_words(1);
  };
  // There are three line ends between the four lines.
  EXPECT_EQ(last_words(1024).size(), 4096u);
  EXPECT_EQ(last_words(1025).size(), 3071u);
}

TEST(StderrRingTest, ALastLineOf4KiBIsWholeAndOneByteMoreIsCut) {
  StderrRing ring(limits::kStderrLinesDefault);
  ring.add(1, std::string(4096, 'x'));
  EXPECT_EQ(ring.last_words(1), std::string(4096, 'x'));
  ring.add(1, std::string(4097, 'x'));
  EXPECT_EQ(ring.last_words(1), std::string(4096, 'x') + "… [1 byte cut]");
}

TEST(StderrRingTest, LastWordsBeginWithAnErrorThatStandsAbove) {
  const auto last_words = [](int below) {
    StderrRing ring(limits::kStderrLinesDefault);
    ring.add(1, "panic: no row 17");
    for (int n = 0; n < below; ++n) ring.add(1, std::to_string(n));
    return ring.last_words(1);
  };
  EXPECT_THAT(last_words(20), AllOf(StartsWith("panic: no row 17\n0\n"), EndsWith("\n18")));
  EXPECT_THAT(last_words(99), AllOf(StartsWith("panic: no row 17\n0\n"), EndsWith("\n18")));
  EXPECT_THAT(last_words(100), AllOf(StartsWith("80\n"), EndsWith("\n99")));
}

}  // namespace
}  // namespace sitter
