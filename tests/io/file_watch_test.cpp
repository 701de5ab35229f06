#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "file_watch_script.hpp"
#include "support/temporary_directory.hpp"

namespace sitter {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

TEST_F(FileWatchTest, AFileThatIsWrittenIsTold) {
  base_.write("src/a.c", "1");
  base_.write("lib/b.c", "1");
  watch({"src"});
  EXPECT_THAT(written("src/a.c", "2"), ElementsAre("src/a.c"));
  EXPECT_THAT(written("src/new.c"), ElementsAre("src/new.c"));
  EXPECT_THAT(written("lib/b.c", "2"), IsEmpty());
}

TEST_F(FileWatchTest, WhatWasWrittenIsTheFirstThingToldWithoutTheLoop) {
  base_.write("src/a.c", "1");
  watch({"src"});
  changed_.clear();
  base_.write("src/a.c", "2");
  base_.write("src/b.c", "1");
  watch_->read_pending();
  EXPECT_THAT(changed_, UnorderedElementsAre("src/a.c", "src/b.c"));
}

TEST_F(FileWatchTest, FilesThatAreThereAtTheBeginningHaveNotChanged) {
  base_.write("src/a.c", "1");
  watch({"src", "*.h"});
  EXPECT_THAT(changed_by([] {}), IsEmpty());
}

TEST_F(FileWatchTest, AFileThatIsReplacedByRenameIsTold) {
  base_.write("src/a.c", "1");
  watch({"src/*.c"});
  EXPECT_THAT(changed_by([&] {
                base_.write("src/a.c.tmp", "2");
                move("src/a.c.tmp", "src/a.c");
              }),
              ElementsAre("src/a.c"));
}

TEST_F(FileWatchTest, TheTimeOfAFileIsTold) {
  base_.write("a.c", "1");
  base_.write("b.c", "1");
  watch({"*.c"});
  const WallTime when = WallTime() + std::chrono::hours(24 * 365 * 30);
  changed_by([&] {
    base_.write("a.c", "2");
    fs::last_write_time(base_ / "a.c", std::chrono::file_clock::from_sys(when));
    fs::remove(base_ / "b.c");
  });
  EXPECT_EQ(modified_["a.c"], when);
  EXPECT_EQ(modified_["b.c"], std::nullopt);
}

TEST_F(FileWatchTest, AFileThatComesAndGoesIsNotTold) {
  base_.write("src/a.c", "1");
  watch({"src"});
  EXPECT_THAT(changed_by([&] {
                base_.write("src/new.c", "1");
                fs::remove(base_ / "src/new.c");
                base_.write("src/a.tmp", "2");
                move("src/a.tmp", "src/a.c");
                base_.write("src/b.c", "1");
              }),
              ElementsAre("src/a.c", "src/b.c"));
  EXPECT_THAT(new_, ElementsAre("src/b.c"));
}

TEST_F(FileWatchTest, AFileThatIsDeletedIsTold) {
  base_.write("src/a.c", "1");
  watch({"src"});
  EXPECT_THAT(changed_by([&] { fs::remove(base_ / "src/a.c"); }), ElementsAre("src/a.c"));
}

TEST_F(FileWatchTest, ReadingIsNoChange) {
  base_.write("src/a.c", "1");
  watch({"src"});
  EXPECT_THAT(changed_by([&] { std::ifstream(base_ / "src/a.c").get(); }), IsEmpty());
}

TEST_F(FileWatchTest, FoldersBelowAreWatchedAlsoThoseThatComeLater) {
  base_.write("src/x/y/a.c", "1");
  watch({"src"});
  EXPECT_THAT(written("src/x/y/a.c", "2"), ElementsAre("src/x/y/a.c"));
  // The file is written before anybody can watch its folder.
  EXPECT_THAT(written("src/new/z/b.c"), ElementsAre("src/new/z/b.c"));
  EXPECT_THAT(written("src/new/z/b.c", "2"), ElementsAre("src/new/z/b.c"));
}

TEST_F(FileWatchTest, AFolderThatIsDeletedAndMadeAgainIsWatched) {
  base_.write("src/x/a.c", "1");
  watch({"src"});
  EXPECT_THAT(changed_by([&] { fs::remove_all(base_ / "src/x"); }), Contains("src/x/a.c"));
  EXPECT_THAT(written("src/x/a.c", "2"), ElementsAre("src/x/a.c"));
  EXPECT_THAT(written("src/x/a.c", "3"), ElementsAre("src/x/a.c"));
}

TEST_F(FileWatchTest, ANamedFolderThatIsDeletedAndMadeAgainIsWatched) {
  base_.write("src/a.c", "1");
  watch({"src"});
  EXPECT_THAT(changed_by([&] { fs::remove_all(base_ / "src"); }), Contains("src/a.c"));
  EXPECT_THAT(written("src/a.c", "2"), ElementsAre("src/a.c"));
  EXPECT_THAT(written("src/a.c", "3"), ElementsAre("src/a.c"));
  EXPECT_THAT(changed_by([&] {
                fs::remove_all(base_ / "src");
                base_.write("src/b.c", "1");
              }),
              Contains("src/b.c"));
  EXPECT_THAT(written("src/b.c", "2"), ElementsAre("src/b.c"));
}

TEST_F(FileWatchTest, WatchesAPathOnceItExists) {
  watch({"a/b/src", "x/y/server.py"});
  EXPECT_THAT(written("a/b/src/a.c"), ElementsAre("a/b/src/a.c"));
  EXPECT_THAT(written("a/b/src/a.c", "2"), ElementsAre("a/b/src/a.c"));
  EXPECT_THAT(written("x/y/server.py"), ElementsAre("x/y/server.py"));
  EXPECT_THAT(written("x/y/server.py", "2"), ElementsAre("x/y/server.py"));
  EXPECT_THAT(written("x/y/other.py"), IsEmpty());
}

TEST_F(FileWatchTest, ParentFoldersMayAppearAndVanish) {
  watch({"a/b/src"});
  EXPECT_THAT(changed_by([&] { fs::create_directories(base_ / "a"); }), IsEmpty());
  EXPECT_THAT(changed_by([&] { fs::create_directories(base_ / "a/b"); }), IsEmpty());
  EXPECT_THAT(written("a/b/src/a.c"), ElementsAre("a/b/src/a.c"));
  EXPECT_THAT(changed_by([&] { fs::remove_all(base_ / "a"); }), Contains("a/b/src/a.c"));
  EXPECT_THAT(written("a/b/src/a.c"), ElementsAre("a/b/src/a.c"));
  EXPECT_THAT(written("a/b/src/a.c", "2"), ElementsAre("a/b/src/a.c"));
}

TEST_F(FileWatchTest, AFolderThatIsMovedIsWatchedWhereItIs) {
  base_.write("src/x/a.c", "1");
  watch({"src"});
  EXPECT_THAT(changed_by([&] { move("src/x", "src/y"); }),
              UnorderedElementsAre("src/x/", "src/y/a.c"));
  EXPECT_THAT(written("src/y/a.c", "2"), ElementsAre("src/y/a.c"));
  EXPECT_THAT(changed_by([&] { move("src/y", "out"); }), ElementsAre("src/y/"));
  EXPECT_THAT(written("out/a.c", "3"), IsEmpty());
  EXPECT_THAT(changed_by([&] { move("out", "src/z"); }), ElementsAre("src/z/a.c"));
  EXPECT_THAT(written("src/z/a.c", "4"), ElementsAre("src/z/a.c"));
}

TEST_F(FileWatchTest, TheNamedFolderMayBeReplacedByAnother) {
  base_.write("src/a.c", "1");
  base_.write("next/b.c", "1");
  watch({"src"});
  EXPECT_THAT(changed_by([&] {
                move("src", "old");
                move("next", "src");
              }),
              AllOf(Contains("src/b.c"), Not(Contains("old/a.c"))));
  EXPECT_THAT(written("src/b.c", "2"), ElementsAre("src/b.c"));
  EXPECT_THAT(written("old/a.c", "2"), IsEmpty());
}

TEST_F(FileWatchTest, IgnoredFoldersAreNotWatched) {
  base_.write(".gitignore", "/src/gen/\n");
  base_.write("src/.gitignore", "*.log\n");
  base_.write("src/gen/a.c", "1");
  base_.write("src/node_modules/x/a.js", "1");
  base_.write("src/a.c", "1");
  watch({"src"});
  // Only src counts. The base is watched in case src is created again, but it is not counted.
  EXPECT_EQ(extent_->folder_count, 1);
  EXPECT_THAT(written("src/gen/a.c", "2"), IsEmpty());
  EXPECT_THAT(written("src/a.log"), IsEmpty());
  EXPECT_THAT(written("src/node_modules/x/a.js", "2"), IsEmpty());
}

TEST_F(FileWatchTest, IgnoreFilesCountUpToTheTopOfTheRepository) {
  base_.write(".gitignore", "*.a\n");
  base_.write("repository/.git/HEAD", "x");
  base_.write("repository/.gitignore", "*.b\n");
  base_.write("repository/src/x", "1");
  watch({"repository/src"});
  EXPECT_THAT(written("repository/src/c.a"), ElementsAre("repository/src/c.a"));
  EXPECT_THAT(written("repository/src/c.b"), IsEmpty());
}

TEST_F(FileWatchTest, AnIgnoreFileThatChangesCountsAtOnce) {
  base_.write("src/gen/a.c", "1");
  watch({"src"});
  EXPECT_EQ(extent_->folder_count, 2);
  EXPECT_THAT(written(".gitignore", "gen/\n"), IsEmpty());
  EXPECT_EQ(extent_->folder_count, 1);
  EXPECT_THAT(written("src/gen/a.c", "2"), IsEmpty());
  EXPECT_THAT(changed_by([&] { fs::remove(base_ / ".gitignore"); }), IsEmpty());
  EXPECT_EQ(extent_->folder_count, 2);
  EXPECT_THAT(written("src/gen/a.c", "3"), ElementsAre("src/gen/a.c"));
}

TEST_F(FileWatchTest, DoesNotBlockOnAnIgnoreFileThatIsAPipe) {
  base_.write("src/a.c", "1");
  ASSERT_EQ(mkfifo((base_ / "src/.gitignore").c_str(), 0600), 0);
  watch({"src"});
  EXPECT_THAT(written("src/a.c", "2"), ElementsAre("src/a.c"));
}

TEST_F(FileWatchTest, NamesWithWildcardsAreFoundAtAnyDepth) {
  base_.write("x/y/a.py", "1");
  watch({"*.py"});
  EXPECT_THAT(written("x/y/a.py", "2"), ElementsAre("x/y/a.py"));
  EXPECT_THAT(written("x/y/a.txt"), IsEmpty());
}

TEST_F(FileWatchTest, ThousandsOfFoldersAreWatched) {
  for (int i = 0; i < 3000; ++i) {
    fs::create_directories(base_ / ("src/" + std::to_string(i / 100) + "/" + std::to_string(i)));
  }
  watch({"src"});
  EXPECT_EQ(extent_->folder_count, 3031);
  EXPECT_EQ(extent_->problem, "");
  EXPECT_THAT(written("src/29/2999/a.c"), ElementsAre("src/29/2999/a.c"));
}

TEST_F(FileWatchTest, TheBinaryIsUsableWhenThereIsSomethingInIt) {
  base_.write("out/server", "1", 0755);
  watch({});
  watch_->set_binary(base_ / "out/server");
  EXPECT_THAT(changed_by([&] { fs::remove(base_ / "out/server"); }), ElementsAre("out/server"));
  EXPECT_THAT(unusable_, Contains("out/server"));
  unusable_.clear();
  EXPECT_THAT(written("out/server", ""), ElementsAre("out/server"));
  EXPECT_THAT(unusable_, Contains("out/server"));
  EXPECT_THAT(usable_, IsEmpty());
  EXPECT_THAT(written("out/server", "2"), ElementsAre("out/server"));
  EXPECT_THAT(usable_, Contains("out/server"));
}

TEST_F(FileWatchTest, TheFolderOfARunningBinaryMayBeRecreated) {
  base_.write("out/bin/server", "1", 0755);
  // If this file appeared later, the watch would look for all files again.
  base_.write("the-last", "1");
  watch({});
  watch_->set_binary(base_ / "out/bin/server");
  // While a process has the file open, the folder does not report that the file is deleted.
  const std::ifstream running(base_ / "out/bin/server");
  EXPECT_THAT(changed_by([&] { fs::remove_all(base_ / "out/bin"); }),
              ElementsAre("out/bin/server"));
  EXPECT_THAT(written("out/bin/server", "2"), ElementsAre("out/bin/server"));
  EXPECT_THAT(written("out/bin/server", "3"), ElementsAre("out/bin/server"));
}

TEST_F(FileWatchTest, TheBinaryMayBeALinkOrNotBeThereYet) {
  watch({});
  fs::create_symlink("real/server", base_ / "server");
  watch_->set_binary(base_ / "server");
  watch_->set_binary(base_ / "other/server");
  EXPECT_THAT(written("other/server", "1"), ElementsAre("other/server"));
  base_.write("real/server", "1");
  watch_->set_binary(base_ / "server");
  EXPECT_THAT(written("real/server", "2"), ElementsAre("real/server"));
}

TEST_F(FileWatchTest, AFolderWithTwoPathsIsSeenUnderBoth) {
  base_.write("real/server", "1", 0755);
  fs::create_directory_symlink("real", base_ / "link");
  watch({"link/*.c"});
  watch_->set_binary(base_ / "link/server");
  EXPECT_THAT(written("real/a.c", "1"), ElementsAre("link/a.c"));
  EXPECT_THAT(written("real/server", "2"), UnorderedElementsAre("link/server", "real/server"));
}

TEST_F(FileWatchTest, ALinkToTheBinaryIsFollowedAnew) {
  base_.write("one/server", "1", 0755);
  base_.write("two/server", "1", 0755);
  fs::create_symlink("one/server", base_ / "server");
  watch({});
  watch_->set_binary(base_ / "server");
  fs::remove(base_ / "server");
  fs::create_symlink("two/server", base_ / "server");
  watch_->set_binary(base_ / "server");
  EXPECT_THAT(written("two/server", "2"), Contains("two/server"));
}

TEST_F(FileWatchTest, ALinkFarAboveTheBinaryMayLeadElsewhere) {
  base_.write("1/usr/bin/server", "1", 0755);
  base_.write("2/usr/bin/server", "1", 0755);
  fs::create_directory_symlink("1", base_ / "current");
  watch({});
  watch_->set_binary(base_ / "current/usr/bin/server");
  EXPECT_THAT(changed_by([&] {
                fs::create_directory_symlink("2", base_ / "next");
                move("next", "current");
              }),
              Contains("current/usr/bin/server"));
  EXPECT_THAT(usable_, Contains("current/usr/bin/server"));
}

TEST_F(FileWatchTest, TheFilesOfANamedFolderAreNotReportedWhenTheIgnoreRulesChange) {
  base_.write("vendor/keep/a.c", "1");
  watch({".", "vendor/keep"});
  EXPECT_THAT(written(".gitignore", "vendor\n"), ElementsAre(".gitignore"));
  EXPECT_THAT(written("vendor/keep/a.c", "2"), ElementsAre("vendor/keep/a.c"));
}

TEST_F(FileWatchTest, ANewBinaryTakesThePlaceOfTheOldOne) {
  base_.write("a", "1");
  base_.write("b", "1");
  watch({});
  watch_->set_binary(base_ / "a");
  watch_->set_binary(base_ / "b");
  EXPECT_THAT(written("a", "2"), IsEmpty());
  EXPECT_THAT(written("b", "2"), ElementsAre("b"));
}

TEST_F(FileWatchTest, ReadsAFolderForEveryPatternThatNeedsIt) {
  base_.write("src/a.c", "1");
  base_.write("src/x/b.h", "1");
  watch({"src/a.c", "*.h"});
  EXPECT_THAT(written("src/x/b.h", "2"), ElementsAre("src/x/b.h"));
}

TEST_F(FileWatchTest, APatternThatNoFileMatchesIsNamedUntilAFileMatches) {
  base_.write("src/a.c", "1");
  base_.write("main.c", "1");
  watch({"src/*.cc", "src", "main.c"});
  EXPECT_THAT(extent_->unmatched, ElementsAre("src/*.cc", "the-last"));
  written("src/b.cc");
  EXPECT_THAT(extent_->unmatched, IsEmpty());
}

TEST_F(FileWatchTest, AnEmptyFolderMatchesNothing) {
  watch({"src"});
  changed_by([&] { fs::create_directories(base_ / "src"); });
  EXPECT_THAT(extent_->unmatched, ElementsAre("src"));
  changed_by([&] {
    base_.write("out.c", "1");
    move("out.c", "src/a.c");
  });
  EXPECT_THAT(extent_->unmatched, IsEmpty());
}

TEST_F(FileWatchTest, AVirtualEnvironmentIsLeftOut) {
  base_.write("src/env/pyvenv.cfg", "1");
  base_.write("src/env/lib/a.py", "1");
  watch({"src"});
  EXPECT_EQ(extent_->folder_count, 1);
  EXPECT_THAT(written("src/env/lib/a.py", "2"), IsEmpty());
  changed_by([&] { fs::remove_all(base_ / "src/env"); });
  EXPECT_THAT(written("src/env/lib/a.py"), ElementsAre("src/env/lib/a.py"));
}

TEST_F(FileWatchTest, AFolderThatBecomesAVirtualEnvironmentIsLeftOutFromThenOn) {
  base_.write("src/env/lib/a.py", "1");
  watch({"src"});
  EXPECT_EQ(extent_->folder_count, 3);
  written("src/env/pyvenv.cfg");
  EXPECT_EQ(extent_->folder_count, 1);
  EXPECT_THAT(written("src/env/lib/a.py", "2"), IsEmpty());
}

TEST_F(FileWatchTest, AFolderOfSourcesMayHaveTheNameOfABuildFolder) {
  base_.write("CMakeLists.txt", "1");
  base_.write("build/a.o", "1");
  base_.write("src/core/build/a.c", "1");
  watch({"."});
  EXPECT_EQ(extent_->folder_count, 4);
  EXPECT_THAT(written("src/core/build/a.c", "2"), ElementsAre("src/core/build/a.c"));
  EXPECT_THAT(written("build/a.o", "2"), IsEmpty());
}

TEST_F(FileWatchTest, ABuildFolderIsLeftOutFromItsFirstMarkOn) {
  base_.write("src/a.c", "1");
  watch({"src"});
  written("src/build/a.o");
  EXPECT_EQ(extent_->folder_count, 2);
  written("src/build/x/.ninja_log");
  EXPECT_EQ(extent_->folder_count, 3);
  written("src/build/.ninja_log");
  EXPECT_EQ(extent_->folder_count, 1);
  EXPECT_THAT(written("src/build/a.o", "2"), IsEmpty());
  changed_by([&] { fs::remove_all(base_ / "src/build"); });
  EXPECT_THAT(written("src/build/a.c"), ElementsAre("src/build/a.c"));
}

TEST_F(FileWatchTest, ABuildFileThatComesOrGoesDecidesAboutTheFoldersBesideIt) {
  base_.write("src/bin/Debug/a.cs", "1");
  base_.write("src/dist/a.js", "1");
  watch({"src"});
  EXPECT_EQ(extent_->folder_count, 4);
  written("src/Notes.csproj");
  EXPECT_EQ(extent_->folder_count, 2);
  EXPECT_THAT(written("src/dist/a.js", "2"), IsEmpty());
  changed_by([&] { fs::remove(base_ / "src/Notes.csproj"); });
  EXPECT_EQ(extent_->folder_count, 4);
  EXPECT_THAT(written("src/dist/a.js", "3"), ElementsAre("src/dist/a.js"));
}

}  // namespace
}  // namespace sitter
