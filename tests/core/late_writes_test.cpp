#include "core/rebuild/late_writes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string_view>

#include "core/rebuild/watched_changes.hpp"

namespace sitter {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Verdict = LateWrites::Verdict;

class LateWritesTest : public ::testing::Test {
 protected:
  void pass(milliseconds time) { now_.steady += time; }
  Verdict change(std::string_view file) { return late_.on_changed(file, true, now_); }
  void start(const LateWrites::Files& causes) { late_.on_start(causes, now_); }
  /// The file changes so long after a start that nothing but the file leads to. The reload follows
  /// as soon as the file has not changed for a while.
  Verdict start_and_change(std::string_view file, milliseconds delay) {
    pass(milliseconds(300));
    start({std::string(file)});
    pass(delay);
    return change(file);
  }
  /// The same, until only one more such change is missing.
  void nearly_learn(std::string_view file, milliseconds delay = milliseconds(800)) {
    for (int i = 1; i < limits::kLateWritesInARow; ++i) {
      EXPECT_EQ(start_and_change(file, delay), Verdict::saved);
    }
  }
  void learn(std::string_view file) {
    nearly_learn(file);
    EXPECT_EQ(start_and_change(file, milliseconds(800)), Verdict::newly_own);
  }

  LateWrites late_;
  Now now_{Instant() + std::chrono::hours(1), WallTime()};
};

TEST_F(LateWritesTest, AFileThatChangesAfterEachOfThreeStartsIsTheServersOwn) {
  learn("log");
  EXPECT_THAT(late_.own(), ElementsAre("log"));
  EXPECT_EQ(change("log"), Verdict::own);
  EXPECT_EQ(change("a.py"), Verdict::saved);
}

TEST_F(LateWritesTest, TheFirstStartMayHaveAnyCause) {
  start({"a.py"});
  pass(milliseconds(800));
  EXPECT_EQ(change("log"), Verdict::saved);
  EXPECT_EQ(start_and_change("log", milliseconds(800)), Verdict::saved);
  EXPECT_EQ(start_and_change("log", milliseconds(800)), Verdict::newly_own);
}

TEST_F(LateWritesTest, BeforeTheFirstStartNothingIsTheServers) {
  change("log");
  start_and_change("log", milliseconds(800));
  EXPECT_EQ(start_and_change("log", milliseconds(800)), Verdict::saved);
}

TEST_F(LateWritesTest, ASaveOfAnotherFileBeginsTheRowAnew) {
  nearly_learn("log");
  start({"a.py", "log"});
  pass(milliseconds(800));
  EXPECT_EQ(change("log"), Verdict::saved);
}

TEST_F(LateWritesTest, AStartThatSomebodyHasAskedForBeginsTheRowAnew) {
  nearly_learn("log");
  start({});
  pass(milliseconds(800));
  EXPECT_EQ(change("log"), Verdict::saved);
}

TEST_F(LateWritesTest, SeveralFilesOfOneServerAreLearntTogether) {
  for (int i = 1; i <= limits::kLateWritesInARow; ++i) {
    start({"cache", "log"});
    pass(milliseconds(800));
    const Verdict verdict = change("log");
    EXPECT_EQ(change("cache"), verdict);
    EXPECT_EQ(verdict == Verdict::newly_own, i == limits::kLateWritesInARow);
  }
}

TEST_F(LateWritesTest, AnAnswerBetweenBeginsTheRowAnew) {
  nearly_learn("a.py");
  start({"a.py"});
  pass(milliseconds(400));
  late_.on_client();
  pass(milliseconds(400));
  EXPECT_EQ(change("a.py"), Verdict::saved);
  EXPECT_EQ(start_and_change("a.py", milliseconds(800)), Verdict::saved);
}

TEST_F(LateWritesTest, APersonWhoGoesOnEditingIsNotRegular) {
  for (const int delay : {900, 2100, 1400, 3000, 700, 1900}) {
    EXPECT_EQ(start_and_change("a.py", milliseconds(delay)), Verdict::saved) << delay;
  }
}

TEST_F(LateWritesTest, TheDelayMayDifferByTheJitterAndNoMore) {
  const milliseconds jitter = limits::kLateWriteJitter;
  nearly_learn("a");
  EXPECT_EQ(start_and_change("a", milliseconds(801) + jitter), Verdict::saved);
  nearly_learn("b");
  EXPECT_EQ(start_and_change("b", milliseconds(800) + jitter), Verdict::newly_own);
}

TEST_F(LateWritesTest, AChangeLaterThanTheLimitIsASave) {
  nearly_learn("a", limits::kLateWriteMax);
  EXPECT_EQ(start_and_change("a", limits::kLateWriteMax + milliseconds(1)), Verdict::saved);
  nearly_learn("b", limits::kLateWriteMax);
  EXPECT_EQ(start_and_change("b", limits::kLateWriteMax), Verdict::newly_own);
}

TEST_F(LateWritesTest, ManyWritesAfterOneStartCountOnce) {
  start({});
  for (int i = 0; i < 5; ++i) EXPECT_EQ(change("log"), Verdict::saved);
}

TEST_F(LateWritesTest, WhatTheServerGoesOnWritingDoesNotCount) {
  learn("log");
  for (int i = 0; i < 5; ++i) {
    pass(limits::kLateWriteMax);
    EXPECT_EQ(change("log"), Verdict::own);
  }
  pass(limits::kLateWriteMax + milliseconds(1));
  EXPECT_EQ(change("log"), Verdict::saved);
  EXPECT_THAT(late_.own(), IsEmpty());
}

TEST_F(LateWritesTest, IsKnownAtEveryLaterStart) {
  learn("log");
  pass(seconds(60));
  start({"a.py"});
  pass(milliseconds(100));
  late_.on_client();
  pass(milliseconds(700));
  EXPECT_EQ(change("log"), Verdict::own);
}

TEST_F(LateWritesTest, AServerThatNoLongerWritesAFileDoesNotOwnIt) {
  learn("log");
  start({"a.py"});
  pass(limits::kLateWriteMax + milliseconds(1));
  start({"a.py"});
  EXPECT_THAT(late_.own(), IsEmpty());
}

/// The same behind the rules of a reload: nothing else decides when one is due.
class LateReloadsTest : public ::testing::Test {
 protected:
  /// The server is started, and once it serves, the file changes. Returns whether that leads to a
  /// reload.
  bool starts_and_changes(milliseconds delay, bool has_build) {
    if (has_build) changes_.on_build();
    changes_.on_start(!has_build, now_);
    changes_.on_over(now_);
    wait(delay);
    changes_.on_changed("log", true, now_);
    wait(milliseconds(300));
    return is_due_;
  }
  void wait(milliseconds time) {
    const Instant end = now_.steady + time;
    is_due_ = false;
    while (const auto next = changes_.deadline()) {
      if (*next > end) break;
      now_.steady = *next;
      is_due_ = changes_.is_settled(now_);
    }
    now_.steady = end;
  }
  int reloads(milliseconds delay, bool has_build) {
    int reloads = 0;
    while (starts_and_changes(delay, has_build) && reloads < 100) ++reloads;
    return reloads;
  }

  WatchedChanges changes_{milliseconds(300)};
  Now now_{Instant() + std::chrono::hours(1), WallTime()};
  bool is_due_ = false;
};

TEST_F(LateReloadsTest, AServerThatWritesLaterIsStartedThreeTimes) {
  EXPECT_EQ(reloads(milliseconds(800), false), limits::kLateWritesInARow - 1);
  EXPECT_THAT(changes_.take_newly_late(), ElementsAre("log"));
  EXPECT_THAT(changes_.own(), ElementsAre("log"));
}

TEST_F(LateReloadsTest, ABuildBetweenMakesNoDifference) {
  EXPECT_EQ(reloads(milliseconds(800), true), limits::kLateWritesInARow - 1);
}

TEST_F(LateReloadsTest, AWriteNearTheEndOfTheReloadCountsOnEitherSide) {
  int reloads = 0;
  while (reloads < 100 && starts_and_changes(milliseconds(reloads % 2 == 0 ? 290 : 310), false)) {
    ++reloads;
  }
  EXPECT_EQ(reloads, limits::kLateWritesInARow - 1);
}

TEST_F(LateReloadsTest, AReloadThatNobodyWantsLeadsToNothing) {
  for (int i = 1; i < limits::kLateWritesInARow; ++i) {
    EXPECT_TRUE(starts_and_changes(milliseconds(800), false));
  }
  changes_.forget();
  EXPECT_TRUE(starts_and_changes(milliseconds(800), false));
}

}  // namespace
}  // namespace sitter
