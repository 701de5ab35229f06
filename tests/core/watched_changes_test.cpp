#include "core/build/watched_changes.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "sitter/limits.hpp"

namespace sitter {
namespace {

using std::chrono::milliseconds;
using Files = std::vector<std::string>;

class WatchedChangesTest : public testing::Test {
 protected:
  void change(std::string_view file) { changes_.on_changed(file, true, now_); }
  void pass(int time) { now_.steady += milliseconds(time); }
  bool is_settled() { return changes_.is_settled(now_); }

  /// A build during which these files change. Returns whether another build must follow.
  bool builds(const Files& changed) {
    changes_.on_build();
    for (const std::string& file : changed) change(file);
    changes_.on_over(now_);
    pass(300);
    return is_settled();
  }

  WatchedChanges changes_{milliseconds(300)};
  Now now_{Instant() + std::chrono::hours(1), WallTime()};
};

TEST_F(WatchedChangesTest, AChangeIsReasonForAReloadWhenNothingChangesAnyMore) {
  EXPECT_EQ(changes_.deadline(), std::nullopt);
  change("a");
  pass(299);
  change("b");
  pass(299);
  EXPECT_FALSE(is_settled());
  pass(1);
  EXPECT_EQ(changes_.deadline(), now_.steady);
  EXPECT_TRUE(is_settled());
  EXPECT_EQ(changes_.files(), (Files{"a", "b"}));
}

TEST_F(WatchedChangesTest, AChangeIsReasonForOneReload) {
  change("a");
  pass(300);
  EXPECT_TRUE(is_settled());
  EXPECT_FALSE(is_settled());
  EXPECT_EQ(changes_.deadline(), std::nullopt);
}

TEST_F(WatchedChangesTest, WhatCannotBeUsedYetIsWaitedForAndNoReasonItself) {
  change("a");
  pass(200);
  changes_.on_changed("b", false, now_);
  pass(200);
  EXPECT_FALSE(is_settled());
  pass(100);
  EXPECT_TRUE(is_settled());
  EXPECT_EQ(changes_.files(), Files{"a"});
  changes_.on_changed("b", false, now_);
  changes_.forget();
  pass(300);
  EXPECT_FALSE(is_settled());
}

TEST_F(WatchedChangesTest, ABuildReadsWhatHasChangedBefore) {
  change("a");
  EXPECT_FALSE(builds({}));
}

TEST_F(WatchedChangesTest, AChangeInABuildLeadsToOneMoreWhenItIsOver) {
  changes_.on_build();
  change("a");
  pass(1000);
  EXPECT_EQ(changes_.deadline(), std::nullopt);
  EXPECT_FALSE(is_settled());
  changes_.on_over(now_);
  pass(299);
  EXPECT_FALSE(is_settled());
  pass(1);
  EXPECT_TRUE(is_settled());
}

TEST_F(WatchedChangesTest, AChangeInAStartIsReasonForAnotherAtOnce) {
  changes_.on_start(true);
  change("a");
  pass(300);
  EXPECT_TRUE(is_settled());
}

TEST_F(WatchedChangesTest, AStartBehindABuildLosesNoChange) {
  changes_.on_build();
  change("a");
  changes_.on_start(false);
  changes_.on_over(now_);
  pass(300);
  EXPECT_TRUE(is_settled());
}

TEST_F(WatchedChangesTest, WhatChangesInThreeBuildsInARowIsTheirOwnWork) {
  EXPECT_TRUE(builds({"gen.h"}));
  EXPECT_TRUE(builds({"gen.h"}));
  EXPECT_EQ(changes_.take_newly_own(), Files{});
  EXPECT_FALSE(builds({"gen.h"}));
  EXPECT_EQ(changes_.take_newly_own(), Files{"gen.h"});
  // The file is also taken for the work of every later build.
  change("a");
  pass(300);
  EXPECT_TRUE(is_settled());
  EXPECT_FALSE(builds({"gen.h"}));
  EXPECT_EQ(changes_.take_newly_own(), Files{});
}

TEST_F(WatchedChangesTest, WhatElseChangesInSuchABuildIsNotLost) {
  for (int i = 0; i < 3; ++i) builds({"gen.h"});
  EXPECT_TRUE(builds({"a", "gen.h"}));
  EXPECT_EQ(changes_.files(), Files{"a"});
}

TEST_F(WatchedChangesTest, ABuildThatDoesNotWriteAFileEndsItsRow) {
  builds({"a"});
  builds({"a"});
  builds({});
  EXPECT_TRUE(builds({"a"}));
  EXPECT_TRUE(builds({"a"}));
}

TEST_F(WatchedChangesTest, WhatChangesWithoutABuildIsNotTheirWork) {
  for (int i = 0; i < 3; ++i) builds({"a"});
  change("a");
  pass(300);
  EXPECT_TRUE(is_settled());
  EXPECT_TRUE(builds({"a"}));
}

TEST_F(WatchedChangesTest, AServerThatWritesAtItsStartDoesNotStartItselfForEver) {
  int starts = 0;
  do {
    changes_.on_start(true);
    change("server.log");
    pass(300);
    ++starts;
  } while (is_settled() && starts < 100);
  EXPECT_EQ(starts, 3);
}

TEST_F(WatchedChangesTest, NamesThatAreNewEachTimeLeadToTenMoreReloadsAtMost) {
  int reloads = 0;
  while (reloads < 100 && builds({"run-" + std::to_string(reloads)})) ++reloads;
  EXPECT_EQ(reloads, limits::kFollowingReloadsMax);
  EXPECT_EQ(changes_.take_newly_own(), Files{"run-10"});
  change("a");
  pass(300);
  EXPECT_TRUE(is_settled());
  EXPECT_TRUE(builds({"run"}));
}

TEST_F(WatchedChangesTest, ABuildThatBeginsBehindAnotherCountsInTheSameRow) {
  for (int i = 0; i < 3; ++i) {
    changes_.on_build();
    change("gen.h");
    changes_.on_over(now_);
  }
  pass(300);
  EXPECT_FALSE(is_settled());
}

TEST_F(WatchedChangesTest, AThousandFilesAreToldApartAndTheRestIsOne) {
  for (std::size_t i = 0; i < limits::kChangedFilesMax + 10; ++i) change(std::to_string(i));
  EXPECT_EQ(changes_.count(), limits::kChangedFilesMax + 1);
  EXPECT_EQ(changes_.files().size(), limits::kChangedFilesShown);
}

}  // namespace
}  // namespace sitter
