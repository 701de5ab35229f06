#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <string>

#include "file_watch_script.hpp"
#include "io/files/folder_watches.hpp"
#include "io/system/startup.hpp"
#include "support/few_descriptors_left.hpp"

// How the watch uses descriptors where each watched file needs one.
namespace sitter {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::FewDescriptorsLeft;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class WatchedDescriptorsTest : public FileWatchTest {
 protected:
  /// The descriptors that the watch may use.
  static std::size_t bound() {
    return limits::watch_descriptors_of(
        std::min(raise_descriptor_limit(limits::kDescriptorsMax), limits::kDescriptorsMax));
  }
  /// As many files as can surely be watched, together with some folders.
  void write_files_that_fit(const std::string& first_part) const {
    for (std::size_t i = 0; i < bound() - 50; ++i) base_.write(first_part + std::to_string(i), "1");
  }
  static std::size_t open_descriptors() {
    const auto entries = std::filesystem::directory_iterator("/dev/fd");
    return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
  }
};

TEST_F(WatchedDescriptorsTest, OnlyFilesOfInterestAreOpened) {
  for (int i = 0; i < 100; ++i) base_.write("src/" + std::to_string(i) + ".o", "1");
  base_.write("src/a.c", "1");
  const std::size_t before = open_descriptors();
  watch({"src/*.c"});
  EXPECT_LT(open_descriptors(), before + 20);
  EXPECT_THAT(written("src/a.c", "2"), ElementsAre("src/a.c"));
}

TEST_F(WatchedDescriptorsTest, AFileThatIsLeftOutByANewRuleIsClosed) {
  for (int i = 0; i < 100; ++i) base_.write("src/" + std::to_string(i) + ".c", "1");
  base_.write("src/.gitignore", "");
  base_.write("the-last", "1");
  watch({"src"});
  const std::size_t before = open_descriptors();
  written("src/.gitignore", "*.c\n");
  EXPECT_EQ(open_descriptors(), before - 100);
}

TEST_F(WatchedDescriptorsTest, TheLastFileThatFitsIsWatchedAndTheNextIsNot) {
  write_files_that_fit("src/");
  watch({"src"});
  ASSERT_EQ(extent_->problem, "");
  std::size_t next = bound() - 50;
  while (extent_->problem.empty() && next < bound()) written("src/" + std::to_string(next++));
  EXPECT_THAT(extent_->problem,
              AllOf(HasSubstr("/src/" + std::to_string(next - 1) + " and other files"),
                    HasSubstr(std::to_string(bound()) + " files and folders are watched already"),
                    HasSubstr("leave some out with --watch '!NAME'")));
  const std::string last = "src/" + std::to_string(next - 2);
  EXPECT_THAT(written(last, "2"), ElementsAre(last));
  EXPECT_THAT(written("src/" + std::to_string(next - 1), "2"), IsEmpty());
}

TEST_F(WatchedDescriptorsTest, FilesOfANewRuleTakeThePlaceOfOthers) {
  write_files_that_fit("src/a");
  write_files_that_fit("src/b");
  base_.write("src/.gitignore", "a*\n");
  watch({"src"});
  ASSERT_EQ(extent_->problem, "");
  written("src/.gitignore", "b*\n");
  EXPECT_EQ(extent_->problem, "");
  EXPECT_THAT(written("src/a0", "2"), ElementsAre("src/a0"));
  EXPECT_THAT(written("src/b0", "2"), IsEmpty());
}

TEST_F(WatchedDescriptorsTest, AFolderThatIsLeftOutByANewRuleMakesRoom) {
  // This file is watched before there is no room left.
  base_.write("the-last", "1");
  write_files_that_fit("src/a/");
  write_files_that_fit("src/b/");
  watch({"src"});
  const bool is_b_watched = extent_->problem.find("/src/a/") != std::string::npos;
  ASSERT_NE(is_b_watched, extent_->problem.find("/src/b/") != std::string::npos);
  written("src/.gitignore", is_b_watched ? "b\n" : "a\n");
  run_until([this] { return extent_->problem.empty(); });
  const std::string other = is_b_watched ? "src/a/0" : "src/b/0";
  EXPECT_THAT(written(other, "2"), ElementsAre(other));
}

TEST_F(WatchedDescriptorsTest, AFolderThatCannotBeReadIsTold) {
  base_.write("src/a.c", "1");
  watch({"src"});
  std::filesystem::create_directory(base_ / "src/new");
  const FewDescriptorsLeft one(1);
  run_until([this] { return !extent_->problem.empty(); });
  EXPECT_THAT(extent_->problem, HasSubstr("/src/new and other files"));
}

TEST_F(WatchedDescriptorsTest, AFolderThatCouldNotBeReadAgainIsToldAndWatchedAnew) {
  base_.write("src/a.c", "1");
  watch({"src/*.c"});
  std::filesystem::remove(base_ / "src/a.c");
  base_.write("src/b.c", "1");
  {
    // The new watch can use the descriptors of the old one.
    const FewDescriptorsLeft none(0);
    run_until([this] { return !changed_.empty(); });
  }
  EXPECT_THAT(changed_, Contains("(more files than the system reported)"));
  EXPECT_THAT(written("src/b.c", "2"), ElementsAre("src/b.c"));
}

TEST_F(WatchedDescriptorsTest, ATouchedFileHasChanged) {
  base_.write("src/a.c", "1");
  watch({"src"});
  EXPECT_THAT(changed_by([&] {
                std::filesystem::last_write_time(base_ / "src/a.c",
                                                 std::filesystem::file_time_type::clock::now());
              }),
              ElementsAre("src/a.c"));
}

TEST_F(WatchedDescriptorsTest, ANewModeIsNoChange) {
  base_.write("src/a.c", "1");
  watch({"src"});
  EXPECT_THAT(changed_by([&] { chmod((base_ / "src/a.c").c_str(), 0600); }), IsEmpty());
}

}  // namespace
}  // namespace sitter
