#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <string>

#include "file_watch_script.hpp"
#include "io/system/descriptor_limit.hpp"
#include "sitter/limits.hpp"

// How the watch uses descriptors where each watched file needs one.
namespace sitter {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class WatchedDescriptorsTest : public FileWatchTest {
 protected:
  /// The descriptors that the watch may use.
  static std::size_t bound() {
    return limits::watch_descriptors_of(
        std::min(descriptor_limit::raise(limits::kDescriptorsMax), limits::kDescriptorsMax));
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
  // The folder itself and those that lead to it need some descriptors, too.
  const std::size_t surely_fit = bound() - 50;
  for (std::size_t i = 0; i < surely_fit; ++i) base_.write("src/" + std::to_string(i), "1");
  watch({"src"});
  ASSERT_EQ(extent_->problem, "");
  std::size_t next = surely_fit;
  while (extent_->problem.empty() && next < bound()) written("src/" + std::to_string(next++));
  EXPECT_THAT(extent_->problem,
              AllOf(HasSubstr("/src/" + std::to_string(next - 1) + " and other files"),
                    HasSubstr(std::to_string(bound()) + " files and folders are watched already"),
                    HasSubstr("leave some out with --watch '!NAME'")));
  const std::string last = "src/" + std::to_string(next - 2);
  EXPECT_THAT(written(last, "2"), ElementsAre(last));
  EXPECT_THAT(written("src/" + std::to_string(next - 1), "2"), IsEmpty());
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
