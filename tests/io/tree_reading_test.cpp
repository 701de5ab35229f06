#include "io/files/tree_reading.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "io/system/file_facts.hpp"
#include "support/temporary_directory.hpp"

namespace sitter {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::TemporaryDirectory;

/// The tree below `src` is read, and no system watches it. What is done before the first step is
/// older than the time from which changes count.
class TreeReadingTest : public ::testing::Test {
 protected:
  TreeReadingTest() {
    base_.write("src/a.c", "1");
    base_.write("src/x/b.c", "1");
    base_.write("src/x/y/c.c", "1");
  }

  /// The time of the file system, which advances in ticks.
  TreeReading::Stamp file_time() const {
    base_.write("tick", "x");
    return facts_of(base_ / "tick")->written;
  }
  /// Waits until what changes next is younger than everything before.
  TreeReading::Stamp next_tick() const {
    const auto before = file_time();
    while (file_time() <= before) continue;
    return before;
  }

  void add(const std::string& folder) { reading_.add(base_ / folder, next_tick()); }
  void add_as_changed(const std::string& folder) {
    reading_.add(base_ / folder, TreeReading::kEver);
  }
  void read() {
    while (!reading_.is_over()) reading_.take_step();
  }
  /// Reads until this folder is open and none of its entries is read.
  void read_to(const std::string& folder) {
    while (opened_.empty() || opened_.back() != folder) reading_.take_step();
  }

  std::string name(const std::string& path) const { return path.substr(base_.path().size() + 1); }

  TemporaryDirectory base_;
  WatchFilter filter_{{"src"}, base_.path()};
  TreeReading::Watched watched_ = TreeReading::Watched::newly;
  std::vector<std::string> opened_, left_out_, links_;
  std::set<std::string> changed_, lost_;
  std::function<void()> on_watch_ = [] {};
  TreeReading reading_{
      filter_,
      {[this](const std::string& folder) {
         opened_.push_back(name(folder));
         on_watch_();
         return watched_;
       },
       [this](const std::string& folder) { left_out_.push_back(name(folder)); },
       [](const std::string&) {}, [this](const std::string& path) { changed_.insert(name(path)); },
       [this](const std::string& folder) { lost_.insert(name(folder)); },
       [this](const std::string& path, TreeReading::Stamp) { links_.push_back(name(path)); }}};
};

TEST_F(TreeReadingTest, WhatHasNotChangedIsNotTold) {
  add("src");
  read();
  EXPECT_THAT(opened_, ElementsAre("src", "src/x", "src/x/y"));
  EXPECT_THAT(changed_, IsEmpty());
  EXPECT_THAT(lost_, IsEmpty());
}

TEST_F(TreeReadingTest, AStepReadsOneEntry) {
  add("src/x/y");
  int steps = 0;
  for (; !reading_.is_over(); ++steps) reading_.take_step();
  // The folder, its entry, and its end.
  EXPECT_EQ(steps, 3);
}

TEST_F(TreeReadingTest, WhatHasChangedBeforeItsFolderIsReadIsTold) {
  add("src");
  base_.write("src/a.c", "2");
  base_.write("src/x/y/new.c", "1");
  fs::rename(base_ / "src/x/b.c", base_ / "src/x/moved.c");
  read();
  EXPECT_THAT(changed_, ElementsAre("src/a.c", "src/x/moved.c", "src/x/y/new.c"));
  EXPECT_THAT(lost_, IsEmpty());
}

TEST_F(TreeReadingTest, ReportsAChangeMadeJustBeforeTheWatch) {
  add("src");
  on_watch_ = [this] { base_.write(opened_.back() + "/new.c", "1"); };
  read();
  EXPECT_THAT(changed_, ElementsAre("src/new.c", "src/x/new.c", "src/x/y/new.c"));
}

TEST_F(TreeReadingTest, AFolderThatToolsHaveMadeIsLeftOut) {
  base_.write("src/build/a.o", "1");
  base_.write("src/env/pyvenv.cfg", "");
  add_as_changed("src");
  // The mark comes in the last moment in which no watch sees it.
  on_watch_ = [this] {
    if (opened_.back() == "src/build") base_.write("src/build/CMakeCache.txt", "");
  };
  read();
  EXPECT_THAT(left_out_, ElementsAre("src/build", "src/env"));
  EXPECT_FALSE(filter_.takes_folder(base_ / "src/build"));
  EXPECT_THAT(changed_, ElementsAre("src/a.c", "src/x/b.c", "src/x/y/c.c"));
}

TEST_F(TreeReadingTest, AFileWithAnOldTimeThatIsWrittenAnewIsTold) {
  add("src");
  base_.write("src/a.c", "2");
  fs::last_write_time(base_ / "src/a.c", fs::file_time_type::clock::now() - std::chrono::hours(1));
  read();
  EXPECT_THAT(changed_, ElementsAre("src/a.c"));
}

TEST_F(TreeReadingTest, AFolderThatIsMovedInBringsItsFiles) {
  base_.write("out/d.c", "1");
  base_.write("out/z/e.c", "1");
  add("src");
  fs::rename(base_ / "out", base_ / "src/in");
  read();
  EXPECT_THAT(changed_, ElementsAre("src/in/d.c", "src/in/z/e.c"));
}

TEST_F(TreeReadingTest, ReportsTheFolderOfADeletedFile) {
  add("src");
  fs::remove(base_ / "src/x/b.c");
  read();
  EXPECT_THAT(changed_, IsEmpty());
  EXPECT_THAT(lost_, ElementsAre("src/x"));
}

TEST_F(TreeReadingTest, ReportsAllFilesOfANewFolder) {
  add_as_changed("src");
  read();
  EXPECT_THAT(changed_, ElementsAre("src/a.c", "src/x/b.c", "src/x/y/c.c"));
  EXPECT_THAT(lost_, IsEmpty());
}

TEST_F(TreeReadingTest, LeavesChangesInAWatchedFolderToTheWatch) {
  watched_ = TreeReading::Watched::already;
  add("src");
  base_.write("src/a.c", "2");
  fs::remove(base_ / "src/x/b.c");
  read();
  EXPECT_THAT(changed_, IsEmpty());
  EXPECT_THAT(lost_, IsEmpty());
}

TEST_F(TreeReadingTest, ReportsAllFilesOfARecreatedWatchedFolder) {
  watched_ = TreeReading::Watched::already;
  add_as_changed("src/x/y");
  read();
  EXPECT_THAT(changed_, ElementsAre("src/x/y/c.c"));
}

TEST_F(TreeReadingTest, AFolderThatCannotBeWatchedIsNotRead) {
  watched_ = TreeReading::Watched::refused;
  add_as_changed("src");
  read();
  EXPECT_THAT(opened_, ElementsAre("src"));
  EXPECT_THAT(changed_, IsEmpty());
}

TEST_F(TreeReadingTest, SkipsAFolderThatWasDeletedMeanwhile) {
  add("src");
  read_to("src");
  while (!reading_.waits_since(base_ / "src/x")) reading_.take_step();
  fs::remove_all(base_ / "src/x");
  read();
  EXPECT_THAT(opened_, ElementsAre("src", "src/x"));
}

TEST_F(TreeReadingTest, WhatTheFilterRefusesIsNotRead) {
  base_.write("src/.gitignore", "/x/y/\n");
  base_.write("out/d.c", "1");
  add("src");
  add("out");
  read();
  EXPECT_THAT(opened_, ElementsAre("src", "src/x"));
}

TEST_F(TreeReadingTest, TellsTheFilterWhichFilesExist) {
  EXPECT_THAT(filter_.unmatched(), ElementsAre("src"));
  add("src/x/y");
  read();
  EXPECT_THAT(filter_.unmatched(), IsEmpty());
}

TEST_F(TreeReadingTest, LinksBelowAreTold) {
  base_.write("out/d.c", "1");
  fs::create_directory_symlink(base_ / "out", base_ / "src/link");
  fs::create_directory_symlink("src", base_ / "named");
  filter_ = WatchFilter({"named"}, base_.path());
  add("named");
  read();
  EXPECT_THAT(opened_, ElementsAre("named", "named/x", "named/x/y"));
  EXPECT_THAT(links_, ElementsAre("named/link"));
}

TEST_F(TreeReadingTest, KeepsTheEarlierOfTwoTimes) {
  const auto first = next_tick();
  base_.write("src/a.c", "2");
  const auto second = next_tick();
  reading_.add(base_ / "src", second);
  reading_.add(base_ / "src", first);
  reading_.add(base_ / "src", second);
  EXPECT_EQ(reading_.waits_since(base_ / "src"), first);
  read();
  EXPECT_THAT(changed_, ElementsAre("src/a.c"));
  EXPECT_THAT(opened_, ElementsAre("src", "src/x", "src/x/y"));
}

TEST_F(TreeReadingTest, AFolderWaitsUntilItIsOpened) {
  add("src");
  EXPECT_TRUE(reading_.waits_since(base_ / "src"));
  reading_.take_step();
  EXPECT_FALSE(reading_.waits_since(base_ / "src"));
  EXPECT_FALSE(reading_.is_over());
  read();
  EXPECT_FALSE(reading_.waits_since(base_ / "src/x"));
}

TEST_F(TreeReadingTest, StopsReadingAForgottenFolder) {
  add_as_changed("src");
  read_to("src/x");
  reading_.forget(base_ / "src");
  EXPECT_TRUE(reading_.is_over());
  EXPECT_THAT(changed_, AnyOf(IsEmpty(), ElementsAre("src/a.c")));
}

TEST_F(TreeReadingTest, ForgettingAFolderKeepsItsNeighbours) {
  base_.write("src/x2/d.c", "1");
  add_as_changed("src");
  read_to("src/x");
  reading_.forget(base_ / "src/x");
  read();
  EXPECT_THAT(changed_, ElementsAre("src/a.c", "src/x2/d.c"));
}

TEST(ReadingSliceTest, EndsAfterItsSteps) {
  ReadingSlice slice{Instant()};
  for (std::size_t steps = 1; steps < limits::kWatchSliceSteps; ++steps) {
    EXPECT_TRUE(slice.may_go_on(Instant()));
  }
  EXPECT_FALSE(slice.may_go_on(Instant()));
}

TEST(ReadingSliceTest, EndsAtItsTime) {
  const Instant begin = Instant() + std::chrono::hours(1);
  ReadingSlice slice(begin);
  EXPECT_TRUE(slice.may_go_on(begin + limits::kWatchSlice - Instant::duration(1)));
  EXPECT_FALSE(slice.may_go_on(begin + limits::kWatchSlice));
}

}  // namespace
}  // namespace sitter
