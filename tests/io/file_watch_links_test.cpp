#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "file_watch_script.hpp"
#include "io/files/followed_links.hpp"

namespace sitter {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

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

TEST_F(FileWatchTest, AFolderInThePlaceOfALinkIsWatchedInsteadOfTheTarget) {
  base_.write("elsewhere/b.c", "1");
  fs::create_directory_symlink("elsewhere", base_ / "src");
  watch({"src"});
  changed_by([&] {
    fs::remove(base_ / "src");
    base_.write("src/a.c", "1");
  });
  EXPECT_THAT(written("src/a.c", "2"), ElementsAre("src/a.c"));
  EXPECT_THAT(written("elsewhere/b.c", "2"), IsEmpty());
}

TEST_F(FileWatchTest, AFileThatIsReplacedByAFolderIsTold) {
  base_.write("src/a.c", "1");
  watch({"src"});
  EXPECT_THAT(changed_by([&] {
                fs::remove(base_ / "src/a.c");
                fs::create_directory(base_ / "src/a.c");
              }),
              Contains("src/a.c"));
  EXPECT_THAT(written("src/a.c/b", "2"), ElementsAre("src/a.c/b"));
}

TEST_F(FileWatchTest, ALinkToAFileIsFollowed) {
  base_.write("shared/config.json", "1");
  fs::create_directories(base_ / "src");
  fs::create_symlink("../shared/config.json", base_ / "src/config.json");
  fs::create_symlink("shared/config.json", base_ / "named.json");
  watch({"src", "named.json"});
  EXPECT_THAT(changed_by([] {}), IsEmpty());
  const auto both = UnorderedElementsAre("src/config.json", "named.json");
  EXPECT_THAT(written("shared/config.json", "2"), both);
  EXPECT_THAT(written("shared/other.json", "2"), IsEmpty());
  // Editors write a new file and rename it.
  EXPECT_THAT(changed_by([&] {
                base_.write("shared/new", "3");
                move("shared/new", "shared/config.json");
              }),
              both);
  EXPECT_THAT(written("shared/config.json", "4"), both);
  EXPECT_THAT(changed_by([&] { fs::remove(base_ / "shared/config.json"); }), both);
  EXPECT_EQ(modified_["named.json"], std::nullopt);
  EXPECT_THAT(written("shared/config.json", "5"), both);
}

TEST_F(FileWatchTest, ALinkToAFolderIsFollowed) {
  base_.write("lib/x/a.py", "1");
  base_.write("lib/node_modules/b.py", "1");
  fs::create_directories(base_ / "src");
  fs::create_directory_symlink("../lib", base_ / "src/lib");
  watch({"src/*.py", "src/**/*.py"});
  EXPECT_EQ(extent_->folder_count, 3);
  EXPECT_THAT(changed_by([] {}), IsEmpty());
  EXPECT_THAT(written("lib/x/a.py", "2"), ElementsAre("src/lib/x/a.py"));
  EXPECT_THAT(written("lib/x/a.txt", "2"), IsEmpty());
  EXPECT_THAT(written("lib/node_modules/b.py", "2"), IsEmpty());
  EXPECT_THAT(written("lib/new/b.py", "2"), ElementsAre("src/lib/new/b.py"));
  EXPECT_THAT(changed_by([&] { fs::remove_all(base_ / "lib"); }), Contains("src/lib/x/a.py"));
  EXPECT_THAT(written("lib/c.py", "2"), Contains("src/lib/c.py"));
  EXPECT_THAT(written("lib/c.py", "3"), ElementsAre("src/lib/c.py"));
}

TEST_F(FileWatchTest, AReplacedLinkIsAChangeAndItsNewTargetIsWatched) {
  base_.write("releases/1/lib/a.c", "1");
  base_.write("releases/2/lib/a.c", "1");
  base_.write("releases/1/app.toml", "1");
  base_.write("releases/2/app.toml", "1");
  fs::create_directory_symlink("releases/1", base_ / "current");
  fs::create_directories(base_ / "src");
  fs::create_directory_symlink("../current/lib", base_ / "src/lib");
  fs::create_symlink("../current/app.toml", base_ / "src/app.toml");
  watch({"src"});
  EXPECT_THAT(written("releases/1/lib/a.c", "2"), ElementsAre("src/lib/a.c"));
  EXPECT_THAT(changed_by([&] {
                fs::create_directory_symlink("releases/2", base_ / "next");
                move("next", "current");
              }),
              AllOf(Contains("src/lib/a.c"), Contains("src/app.toml")));
  EXPECT_THAT(written("releases/2/lib/a.c", "2"), ElementsAre("src/lib/a.c"));
  EXPECT_THAT(written("releases/2/app.toml", "2"), ElementsAre("src/app.toml"));
  EXPECT_THAT(written("releases/1/lib/a.c", "3"), IsEmpty());
  EXPECT_THAT(written("releases/1/app.toml", "3"), IsEmpty());
  EXPECT_THAT(changed_by([&] {
                fs::remove(base_ / "src/lib");
                fs::create_directory_symlink("../releases/1/lib", base_ / "src/lib");
              }),
              Contains("src/lib/a.c"));
  EXPECT_THAT(written("releases/1/lib/a.c", "4"), ElementsAre("src/lib/a.c"));
  EXPECT_THAT(written("releases/2/lib/a.c", "4"), IsEmpty());
}

TEST_F(FileWatchTest, ALinkFarAboveANamedPathMayLeadElsewhere) {
  base_.write("1/a/b/c/main.py", "1");
  base_.write("2/a/b/c/main.py", "1");
  fs::create_directory_symlink("1", base_ / "current");
  watch({"current/a/b/c"});
  EXPECT_THAT(written("1/a/b/c/main.py", "2"), ElementsAre("current/a/b/c/main.py"));
  EXPECT_THAT(changed_by([&] {
                fs::create_directory_symlink("2", base_ / "next");
                move("next", "current");
              }),
              Contains("current/a/b/c/main.py"));
  EXPECT_THAT(written("2/a/b/c/main.py", "2"), ElementsAre("current/a/b/c/main.py"));
  EXPECT_THAT(written("1/a/b/c/main.py", "3"), IsEmpty());
}

TEST_F(FileWatchTest, ALinkWithoutATargetIsWaitedFor) {
  fs::create_directories(base_ / "src");
  fs::create_symlink("../far/away/a.c", base_ / "src/a.c");
  fs::create_directory_symlink("../far/lib", base_ / "src/lib");
  watch({"src"});
  EXPECT_EQ(extent_->problem, "");
  EXPECT_THAT(written("far/away/a.c"), ElementsAre("src/a.c"));
  EXPECT_THAT(written("far/away/a.c", "2"), ElementsAre("src/a.c"));
  EXPECT_THAT(written("far/lib/b.c"), ElementsAre("src/lib/b.c"));
  EXPECT_THAT(written("far/lib/b.c", "2"), ElementsAre("src/lib/b.c"));
}

TEST_F(FileWatchTest, LinksThatComeLaterAreFollowed) {
  base_.write("lib/a.c", "1");
  base_.write("b.c", "1");
  fs::create_directories(base_ / "src");
  watch({"src"});
  EXPECT_THAT(changed_by([&] {
                fs::create_directory_symlink("../lib", base_ / "src/lib");
                fs::create_symlink("../b.c", base_ / "src/b.c");
              }),
              UnorderedElementsAre("src/lib", "src/lib/a.c", "src/b.c"));
  EXPECT_THAT(written("lib/a.c", "2"), ElementsAre("src/lib/a.c"));
  EXPECT_THAT(written("b.c", "2"), ElementsAre("src/b.c"));
  EXPECT_THAT(changed_by([&] { fs::remove_all(base_ / "src"); }), Contains("src/b.c"));
  EXPECT_THAT(written("lib/a.c", "3"), IsEmpty());
  EXPECT_THAT(written("b.c", "3"), IsEmpty());
}

TEST_F(FileWatchTest, LinksInACircleEnd) {
  base_.write("src/a.c", "1");
  base_.write("lib/b.c", "1");
  fs::create_directory_symlink(".", base_ / "src/circle");
  fs::create_directory_symlink("../lib", base_ / "src/lib");
  fs::create_directory_symlink("../src", base_ / "lib/src");
  fs::create_symlink("itself", base_ / "src/itself");
  watch({"src"});
  EXPECT_EQ(extent_->problem, "");
  EXPECT_EQ(extent_->folder_count, 2);
  EXPECT_THAT(written("lib/b.c", "2"), ElementsAre("src/lib/b.c"));
  EXPECT_THAT(written("src/a.c", "2"), ElementsAre("src/a.c"));
}

TEST_F(FileWatchTest, WhatIsIgnoredStaysIgnoredBehindALink) {
  base_.write(".gitignore", "/src/gen\n");
  base_.write("modules/a.js", "1");
  base_.write("node_modules/a.js", "1");
  fs::create_directories(base_ / "src");
  fs::create_directory_symlink("../modules", base_ / "src/node_modules");
  fs::create_directory_symlink("../modules", base_ / "src/gen");
  fs::create_directory_symlink("../node_modules", base_ / "src/vendor");
  fs::create_symlink("../modules/a.js", base_ / "src/.#a.js");
  watch({"src"});
  EXPECT_EQ(extent_->folder_count, 1);
  EXPECT_THAT(written("modules/a.js", "2"), IsEmpty());
  EXPECT_THAT(written("node_modules/a.js", "2"), IsEmpty());
  // The rules may change.
  written(".gitignore", "\n");
  EXPECT_EQ(extent_->folder_count, 2);
  EXPECT_THAT(written("modules/a.js", "3"), ElementsAre("src/gen/a.js"));
  written(".gitignore", "gen\n");
  EXPECT_EQ(extent_->folder_count, 1);
  EXPECT_THAT(written("modules/a.js", "4"), IsEmpty());
}

TEST_F(FileWatchTest, ALinkToADeviceIsNotFollowed) {
  fs::create_directories(base_ / "src");
  fs::create_symlink("/dev/null", base_ / "src/masked");
  watch({"src"});
  EXPECT_THAT(changed_by([] { std::ofstream("/dev/null") << "x"; }), IsEmpty());
}

TEST_F(FileWatchTest, OneThousandFoldersBehindLinksAreWatchedAndNoMore) {
  for (std::size_t i = 1; i < limits::kLinkedFoldersMax; ++i) {
    fs::create_directories(base_ / ("lib/" + std::to_string(i)));
  }
  fs::create_directories(base_ / "src");
  fs::create_directory_symlink("../lib", base_ / "src/lib");
  watch({"src"});
  EXPECT_EQ(extent_->problem, "");
  EXPECT_EQ(extent_->folder_count, limits::kLinkedFoldersMax + 1);
  changed_by([&] { fs::create_directories(base_ / "lib/more"); });
  EXPECT_THAT(extent_->problem, HasSubstr("src/lib/more"));
  EXPECT_THAT(extent_->problem, HasSubstr("'!NAME'"));
  EXPECT_EQ(extent_->folder_count, limits::kLinkedFoldersMax + 1);
}

TEST_F(FileWatchTest, OneThousandLinksAreFollowedAndNoMore) {
  base_.write("a.c", "1");
  fs::create_directories(base_ / "src");
  for (std::size_t i = 0; i < limits::kFollowedLinksMax; ++i) {
    fs::create_symlink("../a.c", base_ / ("src/" + std::to_string(i)));
  }
  watch({"src"});
  EXPECT_EQ(extent_->problem, "");
  EXPECT_EQ(written("a.c", "2").size(), limits::kFollowedLinksMax);
  changed_by([&] { fs::create_symlink("../a.c", base_ / "src/more"); });
  EXPECT_THAT(extent_->problem, HasSubstr("src/more"));
}

}  // namespace
}  // namespace sitter
