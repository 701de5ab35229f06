#include <gmock/gmock.h>

#include <fstream>
#include <string>

#include "file_watch_script.hpp"
#include "large_tree_script.hpp"

namespace sitter {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

/// Causes more events than the system keeps.
void lose_events_in(const std::string& folder) {
  int kept = 0;
  std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> kept;
  ASSERT_GT(kept, 0);
  std::ofstream one(folder + "/one"), two(folder + "/two");
  // Each event is of another file than the event before it. Otherwise the system would merge
  // them.
  for (int i = 0; i <= kept / 2; ++i) {
    one << 'x' << std::flush;
    two << 'x' << std::flush;
  }
}

TEST_F(FileWatchTest, MoreEventsThanTheSystemKeepsAreAChange) {
  base_.write("src/a.c", "1");
  watch({"src"});
  lose_events_in(base_ / "src");
  base_.write("src/new/b.c", "1");
  EXPECT_THAT(changed_by([] {}), Contains("(more files than the system reported)"));
  EXPECT_THAT(written("src/new/b.c", "2"), ElementsAre("src/new/b.c"));
}

TEST_F(LargeTreeTest, LostEventsAreAChangeAlsoWhileItIsRead) {
  EXPECT_THAT(changed_during_reading([&] {
                lose_events_in(base_ / "src");
                base_.write("src/new/b.c", "1");
              }),
              Contains("(more files than the system reported)"));
  run_until([this] { return extent_->folder_count == 5; });
  EXPECT_THAT(written("src/new/b.c", "2"), ElementsAre("src/new/b.c"));
  EXPECT_THAT(written("src/z/y/old.c", "2"), ElementsAre("src/z/y/old.c"));
}

}  // namespace
}  // namespace sitter
