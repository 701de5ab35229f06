#include "io/files/source_look.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/temporary_directory.hpp"

namespace sitter {
namespace {

namespace fs = std::filesystem;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

class SourceLookTest : public ::testing::Test {
 protected:
  SourceLookTest() { save("app/server.py", -hours(1)); }

  /// Writes the file, and gives it a time that is relative to the start of the child.
  void save(const std::string& name, milliseconds age, const std::string& text = "x") const {
    touch(directory_.write(name, text), age);
  }
  void touch(const std::string& path, milliseconds age) const {
    fs::last_write_time(path, std::chrono::file_clock::from_sys(started_ + age));
  }
  /// Makes the link anew.
  void link(const std::string& target, const std::string& name, milliseconds age) const {
    const std::string path = directory_ / name;
    fs::remove(path);
    fs::create_symlink(target, path);
    const auto time = (started_ + age).time_since_epoch();
    const timespec written{std::chrono::duration_cast<seconds>(time).count(), 0};
    const timespec times[] = {written, written};
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW), 0);
  }

  BinaryInfo own(const std::string& name) const {
    const std::string path = directory_ / name;
    BinaryInfo info;
    info.path = path;
    info.exists = true;
    info.size = fs::file_size(path);
    info.mtime = std::chrono::time_point_cast<WallTime::duration>(
        std::chrono::file_clock::to_sys(fs::last_write_time(path)));
    struct stat found {};
    stat(path.c_str(), &found);
    info.inode = found.st_ino;
    info.interpreter.emplace();
    return info;
  }
  void start(const std::string& name = "app/server.py", std::vector<std::string> arguments = {}) {
    LaunchRequest request;
    request.command = "python3";
    request.arguments = std::move(arguments);
    request.cwd = directory_.path();
    look_.emplace(request, own(name), started_);
  }

  /// The name of the newest change; empty if there is none.
  std::string look() { return name_in(seen()); }
  SourceLook::Seen seen() {
    return look_->look(now_, [] { return true; });
  }
  /// Looks at one file or folder besides the child's own file.
  SourceLook::Seen glance() {
    return look_->look(now_, [] { return false; });
  }
  static std::string name_in(const SourceLook::Seen& seen) {
    return seen.newest ? seen.newest->file : "";
  }

  const testing::TemporaryDirectory directory_;
  /// File systems may keep whole seconds only.
  const WallTime started_{seconds(1'700'000'000)};
  const WallTime now_ = started_ + seconds(100);
  std::optional<SourceLook> look_;
};

TEST_F(SourceLookTest, TheLookIsCompleteWithoutAChange) {
  save("app/lib/util.py", -hours(1));
  start();
  const SourceLook::Seen seen = this->seen();
  EXPECT_FALSE(seen.newest);
  EXPECT_TRUE(seen.is_whole);
}

TEST_F(SourceLookTest, TheNameIsRelativeToTheDirectoryOfTheServer) {
  start();
  save("app/server.py", seconds(50));
  const SourceLook::Seen seen = this->seen();
  ASSERT_TRUE(seen.newest);
  EXPECT_EQ(seen.newest->file, "app/server.py");
  EXPECT_EQ(seen.newest->when, started_ + seconds(50));
}

TEST_F(SourceLookTest, FilesBelowTheScriptWithItsEndingCount) {
  start();
  save("app/a/b/deep.py", seconds(50));
  save("app/a/data.json", seconds(60));
  save("other/far.py", seconds(70));
  EXPECT_EQ(look(), "app/a/b/deep.py");
}

TEST_F(SourceLookTest, BehindAScriptOfAShellFilesWithTheEndingOfWhatItRunsCount) {
  save("run.sh", -hours(1));
  BinaryInfo shell = own("run.sh");
  shell.behind.emplace().path = directory_ / "app/server.py";
  shell.is_behind_interpreted = true;
  LaunchRequest request;
  request.cwd = directory_.path();
  look_.emplace(request, shell, started_);
  save("notes.py", seconds(3));
  EXPECT_EQ(look(), "");
  save("app/notes.py", seconds(3));
  EXPECT_EQ(look(), "app/notes.py");
}

TEST_F(SourceLookTest, TheNewestChangeIsNamed) {
  start();
  save("app/old.py", seconds(50));
  save("app/new.py", seconds(60));
  save("app/middle.py", seconds(55));
  EXPECT_EQ(look(), "app/new.py");
}

TEST_F(SourceLookTest, AChangeThatWasFoundStaysFound) {
  start();
  save("app/a.py", seconds(50));
  EXPECT_EQ(look(), "app/a.py");
  fs::remove(directory_ / "app/a.py");
  EXPECT_EQ(look(), "app/a.py");
}

TEST_F(SourceLookTest, ADeletedFileHasChanged) {
  save("hook.py", -hours(1));
  save("app/a.py", -hours(1));
  for (const std::string name : {"app/a.py", "app/server.py", "hook.py"}) {
    start("app/server.py", {"hook.py"});
    EXPECT_EQ(look(), "");
    fs::remove(directory_ / name);
    const SourceLook::Seen seen = this->seen();
    ASSERT_EQ(name_in(seen), name);
    EXPECT_EQ(seen.newest->when, now_);
    save(name, -hours(1));
  }
}

TEST_F(SourceLookTest, ADeletionCountsOnce) {
  start();
  fs::remove(directory_ / "app/server.py");
  ASSERT_EQ(look(), "app/server.py");
  const auto again = look_->look(now_ + seconds(5), [] { return true; });
  EXPECT_EQ(again.newest->when, now_);
  save("app/server.py", seconds(50));
  EXPECT_EQ(look_->look(now_ + seconds(9), [] { return true; }).newest->file, "app/server.py");
}

TEST_F(SourceLookTest, AFileThatIsNamedButWasNeverThereWasNotDeleted) {
  start("app/server.py", {"missing.py"});
  EXPECT_EQ(look(), "");
  EXPECT_EQ(look(), "");
}

TEST_F(SourceLookTest, InterruptedLooksEventuallyFindADeletedFile) {
  save("app/b/x.py", -hours(1));
  start();
  EXPECT_EQ(look(), "");
  fs::remove_all(directory_ / "app/b");
  int looks = 1;
  while (name_in(glance()).empty() && looks < 100) ++looks;
  EXPECT_LT(looks, 100);
}

TEST_F(SourceLookTest, LooksOnlyAtTheFileOfABinary) {
  save("app/server", -hours(1));
  LaunchRequest request;
  request.cwd = directory_.path();
  BinaryInfo program = own("app/server");
  program.interpreter.reset();
  look_.emplace(request, program, started_);
  save("app/other", seconds(50));
  EXPECT_EQ(look(), "");
  // A linker may keep the size.
  save("app/server", -hours(2));
  EXPECT_EQ(look(), "app/server");
}

TEST_F(SourceLookTest, TheOwnFileIsComparedWithWhatWasStarted) {
  start();
  save("app/server.py", -hours(1), "longer");
  const SourceLook::Seen seen = this->seen();
  ASSERT_TRUE(seen.newest);
  // The file keeps an earlier time, so the change has the time of the look.
  EXPECT_EQ(seen.newest->when, now_);
}

TEST_F(SourceLookTest, AFileThatTakesThePlaceOfAnotherCounts) {
  start();
  save("app/next", -hours(1));
  fs::rename(directory_ / "app/next", directory_ / "app/server.py");
  EXPECT_EQ(look(), "app/server.py");
}

TEST_F(SourceLookTest, TheFirstLookIgnoresTimesWithinTheClockMargin) {
  save("app/a.py", limits::kSourceClockMargin);
  start();
  EXPECT_EQ(look(), "");
  save("app/b.py", limits::kSourceClockMargin + seconds(1));
  EXPECT_EQ(look(), "app/b.py");
}

TEST_F(SourceLookTest, LaterLooksReportAnyNewTime) {
  save("app/a.py", -hours(1));
  start();
  EXPECT_EQ(look(), "");
  touch(directory_ / "app/a.py", seconds(1));
  EXPECT_EQ(look(), "app/a.py");
}

TEST_F(SourceLookTest, TheFirstLookIgnoresAFutureTime) {
  save("app/a.py", hours(24));
  start();
  EXPECT_EQ(look(), "");
  touch(directory_ / "app/a.py", hours(25));
  const SourceLook::Seen seen = this->seen();
  ASSERT_TRUE(seen.newest);
  EXPECT_EQ(seen.newest->when, now_);
}

TEST_F(SourceLookTest, WhatIsIgnoredIsLeftOut) {
  directory_.write(".git/HEAD", "");
  directory_.write(".gitignore", "made.py\n");
  directory_.write("app/.gitignore", "/gen/\n");
  directory_.write("app/setup.py", "");
  directory_.write("app/lib/build/.ninja_log", "");
  start();
  for (const char* const name :
       {"app/build/a.py", "app/lib/build/a.py", "app/made.py", "app/gen/a.py",
        "app/node_modules/a.py", "app/__pycache__/a.py", "app/.venv/a.py"}) {
    save(name, seconds(50));
  }
  EXPECT_EQ(look(), "");
  EXPECT_TRUE(seen().is_whole);
}

TEST_F(SourceLookTest, LooksAtAScriptInAnIgnoredFolderToo) {
  save("dist/server.py", -hours(1));
  start("dist/server.py");
  save("dist/a.py", seconds(50));
  EXPECT_EQ(look(), "dist/a.py");
}

TEST_F(SourceLookTest, ArgumentsWithTheEndingCount) {
  save("hook.py", -hours(1));
  start("app/server.py", {"hook.py", "app/server.py", "notes.txt", "missing.py"});
  EXPECT_EQ(look(), "");
  save("notes.txt", seconds(60));
  EXPECT_EQ(look(), "");
  save("hook.py", seconds(50));
  EXPECT_EQ(look(), "hook.py");
}

TEST_F(SourceLookTest, LooksOnlyAtTheFileOfAScriptWithoutAnExtension) {
  save("app/tool", -hours(1));
  start("app/tool");
  save("app/other", seconds(50));
  EXPECT_EQ(look(), "");
  save("app/tool", seconds(50));
  EXPECT_EQ(look(), "app/tool");
}

TEST_F(SourceLookTest, ALinkToAFolderAboveItIsNotFollowed) {
  fs::create_directory_symlink(directory_.path(), directory_ / "app/up");
  start();
  save("a.py", seconds(50));
  EXPECT_EQ(look(), "");
}

TEST_F(SourceLookTest, OtherLinksAreFollowed) {
  save("lib/a.py", -hours(1));
  save("b.py", -hours(1));
  link("../lib", "app/lib", -hours(1));
  link("../b.py", "app/b.py", -hours(1));
  start();
  EXPECT_EQ(look(), "");
  save("lib/a.py", seconds(50));
  EXPECT_EQ(look(), "app/lib/a.py");
  save("b.py", seconds(60));
  EXPECT_EQ(look(), "app/b.py");
}

TEST_F(SourceLookTest, FilesBesideTheFileBehindALinkCount) {
  save("real/server.py", -hours(1));
  save("real/lib/a.py", -hours(1));
  save("app/b.py", -hours(1));
  link("../real/server.py", "app/linked.py", -hours(1));
  start("app/linked.py");
  EXPECT_EQ(look(), "");
  save("app/b.py", seconds(40));
  EXPECT_EQ(look(), "app/b.py");
  save("real/lib/a.py", seconds(50));
  EXPECT_EQ(look(), "real/lib/a.py");
}

TEST_F(SourceLookTest, ALinkThatLeadsElsewhereHasChanged) {
  save("lib/a.py", -hours(1));
  save("b.py", -hours(1));
  link("../lib", "app/lib", -hours(1));
  link("../b.py", "app/b.py", -hours(1));
  start();
  link("../lib", "app/lib", seconds(50));
  EXPECT_EQ(look(), "app/lib");
  link("../lib/a.py", "app/b.py", seconds(60));
  EXPECT_EQ(look(), "app/b.py");
}

TEST_F(SourceLookTest, AnInterruptedLookContinuesInTheNext) {
  for (const char name : {'a', 'b', 'c', 'd'}) {
    save(std::string("app/") + name + "/x.py", seconds(50));
  }
  start();
  EXPECT_FALSE(glance().is_whole);
  int looks = 1;
  while (name_in(glance()).empty() && looks < 100) ++looks;
  EXPECT_GT(looks, 2);
  EXPECT_LT(looks, 100);
  // The end of this round has seen only a part, and the next round sees everything.
  EXPECT_FALSE(seen().is_whole);
  EXPECT_TRUE(seen().is_whole);
}

TEST_F(SourceLookTest, TheOwnFileIsSeenInEachLook) {
  save("app/a/b.py", -hours(1));
  start();
  glance();
  save("app/server.py", seconds(50));
  EXPECT_EQ(name_in(glance()), "app/server.py");
}

TEST_F(SourceLookTest, TheLookIsCompleteUpToTheLimitOfFiles) {
  start();
  // The script itself is a file too.
  for (std::size_t i = 1; i < limits::kSourceFilesMax; ++i) {
    fs::create_hard_link(directory_ / "app/server.py", directory_ / ("app/" + std::to_string(i)));
  }
  EXPECT_TRUE(seen().is_whole);
  directory_.write("app/more", "");
  EXPECT_FALSE(seen().is_whole);
}

TEST_F(SourceLookTest, TheLookIsCompleteUpToTheLimitOfFolders) {
  start();
  for (std::size_t i = 1; i < limits::kSourceFoldersMax; ++i) {
    fs::create_directory(directory_ / ("app/" + std::to_string(i)));
  }
  EXPECT_TRUE(seen().is_whole);
  fs::create_directory(directory_ / "app/more");
  EXPECT_FALSE(seen().is_whole);
  // The folder of the script is still seen.
  save("app/a.py", seconds(50));
  EXPECT_EQ(look(), "app/a.py");
}

}  // namespace
}  // namespace sitter
