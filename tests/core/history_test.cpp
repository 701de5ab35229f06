#include "core/child/history.hpp"

#include <gtest/gtest.h>

#include "core/child/child_lifecycle.hpp"

namespace sitter {
namespace {

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

TEST(HistoryTest, AnEndInGoodOrderIsNoFailure) {
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
  EXPECT_EQ(history.noise()->line_count, 1);
}

}  // namespace
}  // namespace sitter
