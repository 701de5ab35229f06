#include "core/rebuild/watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/rebuild/watched_changes.hpp"
#include "sitter/limits.hpp"

namespace sitter {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class WatchTest : public ::testing::Test {
 protected:
  Turn turn() { return {now_, out_, client_}; }

  static Watch watch(bool is_on = true, bool has_build = true) {
    return Watch({.is_on = is_on, .has_build = has_build, .debounce = milliseconds(100)});
  }

  void change(Watch& watch, const std::string& file, bool is_binary = false) {
    watch.on_changed({{{file, is_binary}}}, now_);
  }

  /// What the deadline of the watch leads to.
  std::optional<Watch::Trigger> due(Watch& watch) {
    const auto deadline = watch.deadline();
    if (!deadline) return std::nullopt;
    now_.steady = *deadline;
    return watch.due(turn());
  }

  Now now_{Instant() + milliseconds(1000), {}};
  Orders out_;
  ClientOutput client_;
};

TEST_F(WatchTest, SettledFilesTriggerAReload) {
  Watch watched = watch();
  change(watched, "a.c");
  EXPECT_EQ(watched.deadline(), now_.steady + milliseconds(100));
  change(watched, "b.c");
  const auto trigger = due(watched);
  ASSERT_TRUE(trigger);
  EXPECT_THAT(trigger->files, ElementsAre("a.c", "b.c"));
  EXPECT_EQ(trigger->count, 2);
  EXPECT_FALSE(watched.last_trigger());
  watched.take(*trigger);
  EXPECT_TRUE(watched.last_trigger());
}

TEST_F(WatchTest, WithoutAWatchNothingIsDue) {
  Watch off = watch(false);
  change(off, "a.c");
  EXPECT_EQ(off.deadline(), std::nullopt);
}

TEST_F(WatchTest, ABinaryWrittenByABuildTriggersNoReload) {
  Watch watched = watch();
  change(watched, "a.c");
  ASSERT_TRUE(due(watched));
  watched.on_build();
  change(watched, "server", true);
  watched.on_start(1, now_);
  watched.on_over(now_);
  EXPECT_FALSE(due(watched));
}

TEST_F(WatchTest, ForgetsChangesThatTriggerNoReload) {
  Watch watched = watch();
  change(watched, "a.c");
  ASSERT_TRUE(due(watched));
  watched.leave();
  EXPECT_FALSE(due(watched));
}

TEST_F(WatchTest, AProblemIsNewsOnce) {
  Watch watched = watch();
  watched.on_watched({3, "too many folders"}, turn());
  EXPECT_EQ(watched.folder_count(), 3);
  EXPECT_TRUE(watched.has_news());
  watched.on_told();
  watched.on_watched({3, "too many folders"}, turn());
  EXPECT_FALSE(watched.has_news());
  watched.on_watched({3, ""}, turn());
  EXPECT_FALSE(watched.has_news());
  EXPECT_EQ(watched.problem(), "");
}

TEST_F(WatchTest, APatternThatNoFileMatchesIsLoggedOnce) {
  Watch watched = watch();
  const auto logs = [&](std::vector<std::string> unmatched) {
    watched.on_watched({3, "", std::move(unmatched)}, turn());
    std::vector<std::string> texts;
    while (const auto next = out_.poll()) texts.push_back(std::get<order::Log>(*next).text);
    return texts;
  };
  EXPECT_THAT(logs({"src/*.cc", "lib"}),
              ElementsAre("--watch: no file matches src/*.cc", "--watch: no file matches lib"));
  EXPECT_THAT(logs({"lib"}), IsEmpty());
  EXPECT_THAT(watched.unmatched(), ElementsAre("lib"));
  EXPECT_THAT(logs({}), IsEmpty());
  EXPECT_THAT(watched.unmatched(), IsEmpty());
  EXPECT_FALSE(watched.has_news());
}

TEST(FilesTextTest, MoreFilesThanAreNamedAreCounted) {
  EXPECT_EQ(files_text({"a.c", "b.c"}, 2), "a.c, b.c");
  EXPECT_EQ(files_text({"a.c"}, 3), "a.c and 2 more");
}

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

TEST_F(WatchedChangesTest, AChangeTriggersAReloadOnceNothingElseChanges) {
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

TEST_F(WatchedChangesTest, AnUnusableFileDelaysTheReloadButTriggersNone) {
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

TEST_F(WatchedChangesTest, AChangeDuringABuildTriggersAnotherAfterIt) {
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

TEST_F(WatchedChangesTest, AChangeDuringAStartTriggersAReloadAtOnce) {
  changes_.on_start(true, now_);
  change("a");
  pass(300);
  EXPECT_TRUE(is_settled());
}

TEST_F(WatchedChangesTest, AStartBehindABuildLosesNoChange) {
  changes_.on_build();
  change("a");
  changes_.on_start(false, now_);
  changes_.on_over(now_);
  pass(300);
  EXPECT_TRUE(is_settled());
}

TEST_F(WatchedChangesTest, AFileChangedByFiveBuildsInARowIsBuildOutput) {
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(builds({"gen.h"}));
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

TEST_F(WatchedChangesTest, OtherChangesDuringSuchABuildAreKept) {
  for (int i = 0; i < 5; ++i) builds({"gen.h"});
  EXPECT_TRUE(builds({"a", "gen.h"}));
  EXPECT_EQ(changes_.files(), Files{"a"});
}

TEST_F(WatchedChangesTest, ABuildThatDoesNotWriteAFileResetsItsCount) {
  for (int i = 0; i < 4; ++i) builds({"a"});
  builds({});
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(builds({"a"}));
}

TEST_F(WatchedChangesTest, AFileChangedWithoutABuildIsNotBuildOutput) {
  for (int i = 0; i < 5; ++i) builds({"a"});
  change("a");
  pass(300);
  EXPECT_TRUE(is_settled());
  EXPECT_TRUE(builds({"a"}));
}

TEST_F(WatchedChangesTest, AServerThatWritesAtItsStartDoesNotStartItselfForEver) {
  int starts = 0;
  do {
    changes_.on_start(true, now_);
    change("server.log");
    pass(300);
    ++starts;
  } while (is_settled() && starts < 100);
  EXPECT_EQ(starts, limits::kOwnWritesInARow);
}

TEST_F(WatchedChangesTest, LimitsReloadsForEverNewNamesToTen) {
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
  for (int i = 0; i < 5; ++i) {
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
