#include <gmock/gmock.h>

#include <cstddef>
#include <filesystem>
#include <string>

#include "io/files/tree_reading.hpp"
#include "large_tree_script.hpp"

namespace sitter {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

TEST_F(LargeTreeTest, OtherEventsAreServedBeforeItIsRead) {
  start({"src"});
  serve_event();
  EXPECT_FALSE(extent_);
  run_until([this] { return extent_.has_value(); });
  EXPECT_EQ(extent_->folder_count, 4);
  EXPECT_THAT(changed_, IsEmpty());
  EXPECT_THAT(written("src/z/old.c", "2"), ElementsAre("src/z/old.c"));
}

TEST_F(LargeTreeTest, ASliceEndsAtItsBound) {
  // The folder itself, its entries, and its end.
  write_files("one", limits::kWatchSliceSteps - 1);
  start({"one"});
  EXPECT_FALSE(extent_);
  run_until([this] { return extent_.has_value(); });
  EXPECT_EQ(extent_->folder_count, 1);
}

TEST_F(LargeTreeTest, FilesThatChangeBeforeTheyAreReadAreTold) {
  EXPECT_THAT(changed_during_reading([&] {
                base_.write("src/z/old.c", "2");
                base_.write("src/z/y/new.c", "1");
              }),
              ElementsAre("src/z/old.c", "src/z/y/new.c"));
}

TEST_F(LargeTreeTest, AFolderThatIsMovedToWhereNothingIsReadYetBringsItsFiles) {
  base_.write("out/x/b.c", "1");
  EXPECT_THAT(changed_during_reading([&] { move("out", "src/z/in"); }),
              ElementsAre("src/z/in/x/b.c"));
}

TEST_F(LargeTreeTest, AFileThatIsDeletedBeforeItsFolderIsReadIsTold) {
  EXPECT_THAT(changed_during_reading([&] { fs::remove(base_ / "src/z/old.c"); }),
              ElementsAre("src/z/"));
}

TEST_F(LargeTreeTest, AFolderThatIsDeletedBeforeItIsReadIsTold) {
  // Depends on how far the reading is: the folder, the one above it that has lost it, or both.
  EXPECT_THAT(changed_during_reading([&] { fs::remove_all(base_ / "src/z"); }),
              AllOf(Not(IsEmpty()), Each(AnyOf("src/z/", "src/"))));
  EXPECT_EQ(extent_->folder_count, 2);
}

TEST_F(LargeTreeTest, WhatIsIgnoredIsNoChangeBeforeItIsReadEither) {
  EXPECT_THAT(changed_during_reading([&] { base_.write("src/z/__pycache__/a.pyc", "1"); }),
              IsEmpty());
}

TEST_F(LargeTreeTest, TheFolderThatIsBeingReadMayBeDeletedAndMadeAgain) {
  changed_during_reading([&] { fs::remove_all(base_ / "src"); });
  EXPECT_EQ(extent_->folder_count, 0);
  EXPECT_THAT(written("src/a/new.c"), ElementsAre("src/a/new.c"));
  EXPECT_THAT(written("src/a/new.c", "2"), ElementsAre("src/a/new.c"));
}

TEST_F(LargeTreeTest, AFolderThatIsToBeReadMayBeReplacedByALink) {
  base_.write("lib/b.c", "1");
  changed_during_reading([&] {
    fs::remove_all(base_ / "src/z");
    fs::create_directory_symlink("../lib", base_ / "src/z");
  });
  EXPECT_EQ(extent_->folder_count, 3);
  EXPECT_THAT(written("lib/b.c", "2"), ElementsAre("src/z/b.c"));
}

TEST_F(LargeTreeTest, WhatAppearsElsewhereIsNoChangeInAFolderThatIsToBeRead) {
  base_.write("zoo/old.c", "1");
  start({"src", "zoo"});
  EXPECT_FALSE(extent_);
  EXPECT_THAT(changed_by([] {}), IsEmpty());
  EXPECT_THAT(written("zoo/old.c", "2"), ElementsAre("zoo/old.c"));
}

TEST_F(LargeTreeTest, NewRulesCountWhenItIsReadAgain) {
  watch({"src"});
  write_files("src/z/gen", 1);
  for (std::size_t i = 0; i < kFiles; ++i) {
    fs::create_directories(base_ / ("src/b/" + std::to_string(i)));
  }
  run_until([this] { return extent_->folder_count == 4 + 2 + kFiles; });
  base_.write(".gitignore", "gen\nb\n");
  run_until([this] { return extent_->folder_count == 4; });
  EXPECT_THAT(written("src/z/gen/0", "2"), IsEmpty());
  EXPECT_THAT(written("src/b/0/a.c"), IsEmpty());
  EXPECT_THAT(written("src/z/y/old.c", "2"), ElementsAre("src/z/y/old.c"));
}

TEST_F(LargeTreeTest, ALargeFolderThatIsMovedInKeepsNothingWaiting) {
  write_files("out", kFiles);
  watch({"src"});
  move("out", "src/in");
  serve_event();
  EXPECT_LT(changed_.size(), kFiles);
  run_until([this] { return changed_.size() == kFiles; });
  EXPECT_THAT(changed_, Contains("src/in/0"));
  run_until([this] { return extent_->folder_count == 5; });
}

TEST_F(LargeTreeTest, AFolderThatIsMovedOutAgainIsReadNoFurther) {
  write_files("out", kFiles);
  watch({"src"});
  move("out", "src/in");
  serve_event();
  move("src/in", "out");
  run_until([this] { return changed_.contains("src/in/"); });
  go_round();
  EXPECT_LT(changed_.size(), kFiles);
}

TEST_F(LargeTreeTest, TheWatchMayEndWhileItIsRead) {
  start({"src"});
  watch_.reset();
  go_round();
  EXPECT_FALSE(extent_);
}

}  // namespace
}  // namespace sitter
