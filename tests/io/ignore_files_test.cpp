#include "io/files/ignore_files.hpp"

#include <gtest/gtest.h>

#include <string>

#include "support/temporary_directory.hpp"

namespace sitter {
namespace {

class IgnoreFilesTest : public ::testing::Test {
 protected:
  bool takes(const std::string& name) const { return filter_.takes_file(directory_ / name); }

  const testing::TemporaryDirectory directory_;
  WatchFilter filter_{{"*.py"}, directory_ / "a/b"};
};

TEST_F(IgnoreFilesTest, TheFileOfAFolderIsRead) {
  directory_.write("a/b/.gitignore", "made.py\n");
  EXPECT_TRUE(takes("a/b/made.py"));
  read_ignore_file(directory_ / "a/b", filter_);
  EXPECT_FALSE(takes("a/b/made.py"));
}

TEST_F(IgnoreFilesTest, AFolderWithoutAFileHasNoRulesAnyMore) {
  filter_.set_ignore_file(directory_ / "a/b", "made.py\n");
  read_ignore_file(directory_ / "a/b", filter_);
  EXPECT_TRUE(takes("a/b/made.py"));
}

TEST_F(IgnoreFilesTest, AFileIsCutAtItsLimit) {
  const std::string end = "\n*.py\n";
  directory_.write("a/b/.gitignore",
                   std::string(limits::kIgnoreFileBytesMax - end.size(), '#') + end);
  read_ignore_file(directory_ / "a/b", filter_);
  EXPECT_FALSE(takes("a/b/made.py"));
  directory_.write("a/b/.gitignore", std::string(limits::kIgnoreFileBytesMax, '#') + end);
  read_ignore_file(directory_ / "a/b", filter_);
  EXPECT_TRUE(takes("a/b/made.py"));
}

TEST_F(IgnoreFilesTest, InARepositoryAllFilesUpToItsTopAreRead) {
  directory_.write(".gitignore", "far.py\n");
  directory_.write("a/.git/HEAD", "");
  directory_.write("a/.gitignore", "near.py\n");
  read_ignore_files_above(directory_ / "a/b", filter_);
  EXPECT_FALSE(takes("a/b/near.py"));
  EXPECT_TRUE(takes("a/b/far.py"));
}

TEST_F(IgnoreFilesTest, WithoutARepositoryNothingAboveTheBaseIsRead) {
  directory_.write("a/.gitignore", "near.py\n");
  directory_.write("a/b/.gitignore", "own.py\n");
  read_ignore_files_above(directory_ / "a/b/c", filter_);
  EXPECT_TRUE(takes("a/b/near.py"));
  EXPECT_FALSE(takes("a/b/own.py"));
}

TEST(ParentTest, TheRootOfTheFileSystemIsAnEmptyPath) {
  EXPECT_EQ(parent_of("/a/b"), "/a");
  EXPECT_EQ(parent_of("/a"), "");
  EXPECT_EQ(parent_of(""), "");
}

}  // namespace
}  // namespace sitter
