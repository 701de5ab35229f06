#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "io/files/binary_info.hpp"
#include "support/temporary_directory.hpp"

namespace sitter {
namespace {

namespace fs = std::filesystem;

class CommandFilesTest : public ::testing::Test {
 protected:
  std::string look() const { return command_files(request_, plan_launch(request_)); }
  /// Changes the time of a file but not its size.
  static void touch(const std::string& file) {
    fs::last_write_time(file, fs::last_write_time(file) + std::chrono::hours(1));
  }

  testing::TemporaryDirectory directory_;
  std::string program_ = directory_.write_script("server", "exit");
  LaunchRequest request_{"./server", {}, directory_.path(), {}, {}};
};

TEST_F(CommandFilesTest, LookTheSameUntilOneIsChanged) {
  const std::string before = look();
  directory_.write("stranger", "");
  EXPECT_EQ(look(), before);
  touch(program_);
  EXPECT_NE(look(), before);
}

TEST_F(CommandFilesTest, AnotherSizeAtTheSameTimeIsAChange) {
  const std::string before = look();
  const auto time = fs::last_write_time(program_);
  directory_.write_script("server", "exit 1");
  fs::last_write_time(program_, time);
  EXPECT_NE(look(), before);
}

TEST_F(CommandFilesTest, AnotherFileOfTheSameTimeAndSizeIsAChange) {
  const std::string before = look();
  const std::string other = directory_.write_script("other", "exit");
  fs::last_write_time(other, fs::last_write_time(program_));
  fs::rename(other, program_);
  EXPECT_NE(look(), before);
}

TEST_F(CommandFilesTest, AProgramThatGoesAndOneThatComesAreChanges) {
  const std::string there = look();
  fs::remove(program_);
  const std::string gone = look();
  EXPECT_NE(gone, there);
  EXPECT_EQ(look(), gone);
  directory_.write_script("server", "exit");
  EXPECT_NE(look(), gone);
}

TEST_F(CommandFilesTest, ArgumentsNameFilesFromTheWorkingDirectory) {
  const std::string script = directory_.write("dist/server.js", "1");
  request_.arguments = {"--watch", "dist/server.js"};
  const std::string before = look();
  touch(script);
  const std::string after = look();
  EXPECT_NE(after, before);
  fs::remove(script);
  EXPECT_NE(look(), after);
}

TEST_F(CommandFilesTest, AnArgumentThatIsMadeLaterIsAChange) {
  request_.arguments = {"server.js"};
  const std::string before = look();
  directory_.write("server.js", "");
  EXPECT_NE(look(), before);
}

TEST_F(CommandFilesTest, IncludeTheEnvFile) {
  request_.env_file = directory_.write("server.env", "A=1\n");
  const std::string before = look();
  touch(request_.env_file);
  EXPECT_NE(look(), before);
}

TEST_F(CommandFilesTest, ACommandThatIsFoundInAnotherPlaceOfThePathIsAChange) {
  directory_.write_script("second/tool", "exit");
  fs::create_directory(directory_ / "first");
  request_.command = "tool";
  request_.environment = {"PATH=" + directory_ / "first" + ":" + directory_ / "second"};
  const std::string before = look();
  EXPECT_NE(before.find(directory_ / "second/tool"), std::string::npos);
  directory_.write_script("first/tool", "exit");
  EXPECT_NE(look(), before);
}

}  // namespace
}  // namespace sitter
