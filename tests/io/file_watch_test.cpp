#include "io/files/file_watch.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "io/stream/stream_reader.hpp"
#include "sitter/limits.hpp"
#include "support/temporary_directory.hpp"

namespace sitter {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::TemporaryDirectory;
using ::testing::UnorderedElementsAre;

/// The base is a folder of its own. The tests find changes without waiting for a time: the system
/// reports changes in their order, so the file that is written last is reported last.
class FileWatchTest : public ::testing::Test {
 protected:
  /// Begins to watch. A large tree is not read completely when this returns.
  void start(std::vector<std::string> patterns) {
    patterns.emplace_back("the-last");
    FileWatch::Events events;
    events.on_changed = [this](const fact::FilesChanged& fact) {
      for (const auto& file : fact.files) {
        const bool is_in_base = file.path.starts_with(base_.path());
        const std::string name = is_in_base ? file.path.substr(base_.path().size() + 1) : file.path;
        if (!is_in_base || name == "the-last") has_seen_last_ = true;
        if (name == "the-last") continue;
        changed_.insert(name);
        (file.is_usable ? usable_ : unusable_).insert(name);
      }
      loop_.stop();
    };
    events.on_extent = [this](const fact::WatchChanged& fact) {
      extent_ = fact;
      loop_.stop();
    };
    watch_.emplace(loop_, WatchFilter(patterns, base_.path()), std::move(events));
    watch_->start();
  }
  /// Begins to watch, and reads the tree.
  void watch(std::vector<std::string> patterns) {
    start(std::move(patterns));
    run_until([this] { return extent_.has_value(); });
  }

  void run_until(const std::function<bool()>& is_enough) {
    while (!is_enough()) {
      loop_.io().restart();
      loop_.run();
    }
  }
  /// Lets the loop go round a thousand times. Each time at least one entry of the tree is read.
  void go_round() {
    int rounds = 0;
    std::function<void()> again = [&] {
      if (++rounds < 1000) {
        loop_.post(again);
      } else {
        loop_.stop();
      }
    };
    loop_.post(again);
    run_until([&] { return rounds == 1000; });
  }

  /// The files that are reported because of `action`.
  std::set<std::string> changed_by(const std::function<void()>& action) {
    changed_.clear();
    action();
    has_seen_last_ = false;
    base_.write("the-last", "x");
    run_until([this] { return has_seen_last_; });
    go_round();
    return changed_;
  }
  std::set<std::string> written(const std::string& name, const std::string& text = "x") {
    return changed_by([&] { base_.write(name, text); });
  }

  /// Causes more events than the system keeps.
  void lose_events_in(const std::string& folder) const {
    int kept = 0;
    std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> kept;
    ASSERT_GT(kept, 0);
    std::ofstream one(base_ / (folder + "/one")), two(base_ / (folder + "/two"));
    // Each event is of another file than the event before it. Otherwise the system would merge
    // them.
    for (int i = 0; i <= kept / 2; ++i) {
      one << 'x' << std::flush;
      two << 'x' << std::flush;
    }
  }

  void move(const std::string& from, const std::string& to) const {
    fs::rename(base_ / from, base_ / to);
  }

  TemporaryDirectory base_;
  EventLoop loop_;
  std::optional<FileWatch> watch_;
  std::optional<fact::WatchChanged> extent_;
  bool has_seen_last_ = false;
  std::set<std::string> changed_, usable_, unusable_;
};

TEST_F(FileWatchTest, AFileThatIsWrittenIsTold) {
  base_.write("src/a.c", "1");
  base_.write("lib/b.c", "1");
  watch({"src"});
  EXPECT_THAT(written("src/a.c", "2"), ElementsAre("src/a.c"));
  EXPECT_THAT(written("src/new.c"), ElementsAre("src/new.c"));
  EXPECT_THAT(written("lib/b.c", "2"), IsEmpty());
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

TEST_F(FileWatchTest, WhatIsNotThereYetIsWatchedOnceItIs) {
  watch({"a/b/src", "x/y/server.py"});
  EXPECT_THAT(written("a/b/src/a.c"), ElementsAre("a/b/src/a.c"));
  EXPECT_THAT(written("a/b/src/a.c", "2"), ElementsAre("a/b/src/a.c"));
  EXPECT_THAT(written("x/y/server.py"), ElementsAre("x/y/server.py"));
  EXPECT_THAT(written("x/y/server.py", "2"), ElementsAre("x/y/server.py"));
  EXPECT_THAT(written("x/y/other.py"), IsEmpty());
}

TEST_F(FileWatchTest, WhatLeadsToItMayComeAndGoStepByStep) {
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
              UnorderedElementsAre("src/x", "src/y/a.c"));
  EXPECT_THAT(written("src/y/a.c", "2"), ElementsAre("src/y/a.c"));
  EXPECT_THAT(changed_by([&] { move("src/y", "out"); }), ElementsAre("src/y"));
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

TEST_F(FileWatchTest, ALinkThatTheUserHasNamedIsFollowedWhereverItLeads) {
  base_.write("one/a.c", "1");
  base_.write("two/a.c", "1");
  fs::create_directory_symlink("one", base_ / "src");
  watch({"src"});
  EXPECT_THAT(written("one/a.c", "2"), ElementsAre("src/a.c"));
  EXPECT_THAT(changed_by([&] {
                fs::create_directory_symlink("two", base_ / "src.tmp");
                move("src.tmp", "src");
              }),
              Contains("src/a.c"));
  EXPECT_THAT(written("two/a.c", "2"), ElementsAre("src/a.c"));
  EXPECT_THAT(written("one/a.c", "3"), IsEmpty());
}

TEST_F(FileWatchTest, LinksBelowAreNotFollowed) {
  base_.write("lib/a.c", "1");
  fs::create_directories(base_ / "src");
  fs::create_directory_symlink("../lib", base_ / "src/lib");
  fs::create_directory_symlink(".", base_ / "src/circle");
  watch({"src"});
  EXPECT_THAT(written("lib/a.c", "2"), IsEmpty());
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

TEST_F(FileWatchTest, AnIgnoreFileThatIsNoFileIsNotWaitedFor) {
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

TEST_F(FileWatchTest, MoreEventsThanTheSystemKeepsAreAChange) {
  base_.write("src/a.c", "1");
  watch({"src"});
  lose_events_in("src");
  base_.write("src/new/b.c", "1");
  EXPECT_THAT(changed_by([] {}), Contains("(more files than the system reported)"));
  EXPECT_THAT(written("src/new/b.c", "2"), ElementsAre("src/new/b.c"));
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

TEST_F(FileWatchTest, TheBinarysFolderMayBeMadeAnewWhileItRuns) {
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

TEST_F(FileWatchTest, AFolderThatLeadsToOnePatternIsReadForAnother) {
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

/// A tree that takes several slices to read. The folder src/z is read last.
class LargeTreeTest : public FileWatchTest {
 protected:
  static constexpr std::size_t kFiles = 3 * limits::kWatchSliceSteps;

  LargeTreeTest() {
    write_files("src/a", kFiles);
    base_.write("src/z/old.c", "1");
    base_.write("src/z/y/old.c", "1");
  }

  void write_files(const std::string& folder, std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) base_.write(folder + "/" + std::to_string(i), "1");
  }

  /// Waits until the file system gives a later time to what changes next.
  void let_clock_tick() const {
    const auto before = fs::file_time_type::clock::now();
    do {
      base_.write("tick", "x");
    } while (fs::last_write_time(base_ / "tick") <= before);
  }

  /// What is reported if this happens while the tree is read for the first time.
  std::set<std::string> changed_during_reading(const std::function<void()>& action) {
    start({"src"});
    EXPECT_FALSE(extent_);
    let_clock_tick();
    action();
    run_until([this] { return extent_.has_value(); });
    go_round();
    return changed_;
  }

  /// Runs the loop until a line is read from a pipe that holds the line already.
  void serve_event() {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    const FileDescriptor input(ends[1]);
    bool is_served = false;
    const StreamReader reader(loop_, FileDescriptor(ends[0]), LineFramer(),
                              {[&](LineFramer&) {
                                 is_served = true;
                                 loop_.stop();
                               },
                               {},
                               {}});
    ASSERT_EQ(write(input.number(), "x\n", 2), 2);
    run_until([&] { return is_served; });
  }
};

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
  // The folder itself, its entries with "." and "..", and its end.
  write_files("one", limits::kWatchSliceSteps - 3);
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
              ElementsAre("src/z"));
}

TEST_F(LargeTreeTest, AFolderThatIsDeletedBeforeItIsReadIsTold) {
  // If the reading has not found the folder itself either, the folder above it is reported.
  EXPECT_THAT(changed_during_reading([&] { fs::remove_all(base_ / "src/z"); }),
              ElementsAre(AnyOf("src/z", "src")));
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
  EXPECT_EQ(extent_->folder_count, 2);
  EXPECT_THAT(written("lib/b.c", "2"), IsEmpty());
}

TEST_F(LargeTreeTest, WhatAppearsElsewhereIsNoChangeInAFolderThatIsToBeRead) {
  base_.write("zoo/old.c", "1");
  start({"src", "zoo"});
  EXPECT_FALSE(extent_);
  EXPECT_THAT(changed_by([] {}), IsEmpty());
  EXPECT_THAT(written("zoo/old.c", "2"), ElementsAre("zoo/old.c"));
}

TEST_F(LargeTreeTest, LostEventsAreAChangeAlsoWhileItIsRead) {
  EXPECT_THAT(changed_during_reading([&] {
                lose_events_in("src");
                base_.write("src/new/b.c", "1");
              }),
              Contains("(more files than the system reported)"));
  run_until([this] { return extent_->folder_count == 5; });
  EXPECT_THAT(written("src/new/b.c", "2"), ElementsAre("src/new/b.c"));
  EXPECT_THAT(written("src/z/y/old.c", "2"), ElementsAre("src/z/y/old.c"));
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
  run_until([this] { return changed_.contains("src/in"); });
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
