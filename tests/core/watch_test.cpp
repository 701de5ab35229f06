#include "core/build/watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace sitter {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class WatchTest : public ::testing::Test {
 protected:
  Turn turn() { return {now_, out_, client_}; }

  static Watch watch(bool is_on = true, bool has_build = true) {
    return Watch({is_on, has_build, milliseconds(100)});
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

TEST_F(WatchTest, FilesThatHaveSettledAreAReason) {
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

TEST_F(WatchTest, TheBinaryThatABuildWritesIsNoReason) {
  Watch watched = watch();
  change(watched, "a.c");
  ASSERT_TRUE(due(watched));
  watched.on_build();
  change(watched, "server", true);
  watched.on_start();
  watched.on_over(now_);
  EXPECT_FALSE(due(watched));
}

TEST_F(WatchTest, ChangesThatNobodyWantsAReloadForAreForgotten) {
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

}  // namespace
}  // namespace sitter
