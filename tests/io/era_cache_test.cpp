#include "io/files/era_cache.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "support/temporary_directory.hpp"

namespace sitter {
namespace {

using ::testing::Not;
using Sign = order::RememberEra::Sign;

class EraCacheTest : public ::testing::Test {
 protected:
  EraCacheTest() { setenv("XDG_CACHE_HOME", cache_.c_str(), 1); }
  ~EraCacheTest() override { unsetenv("XDG_CACHE_HOME"); }

  /// The server is started, and shows these signs one after the other.
  void shows(std::initializer_list<Sign> signs) const {
    const PlannedLaunch planned = plan_launch(request_);
    const std::string key = era_key(planned, inspect(request_, planned, 0));
    for (const Sign sign : signs) note_era(key, sign);
  }

  testing::TemporaryDirectory directory_;
  const std::string cache_ = directory_ / "cache";
  LaunchRequest request_{.command = directory_.write_script("server", "exit 0"),
                         .arguments = {"--one"},
                         .environment = {"MODE=a"}};
};

TEST_F(EraCacheTest, AServerThatKnowsNoProbeOrOpensAfterAFailureIsOfTheEarlierEra) {
  EXPECT_FALSE(is_of_earlier_era(request_));
  shows({Sign::opens});
  EXPECT_FALSE(is_of_earlier_era(request_)) << "it may be of both";
  shows({Sign::fails_probe});
  EXPECT_FALSE(is_of_earlier_era(request_)) << "the failure may have another cause";
  shows({Sign::opens});
  EXPECT_TRUE(is_of_earlier_era(request_));
  shows({Sign::fails_probe});
  EXPECT_TRUE(is_of_earlier_era(request_));
  shows({Sign::opens_nothing});
  EXPECT_FALSE(is_of_earlier_era(request_));
  shows({Sign::knows_no_probe});
  EXPECT_TRUE(is_of_earlier_era(request_));
  forget_era(request_);
  EXPECT_FALSE(is_of_earlier_era(request_));
}

TEST_F(EraCacheTest, AServerThatHasAnsweredAProbeMayFailAnotherForAPassingReason) {
  shows({Sign::answers_probe, Sign::fails_probe, Sign::opens});
  EXPECT_FALSE(is_of_earlier_era(request_));
}

TEST_F(EraCacheTest, OnlyTheSameFileArgumentsEnvironmentAndDirectoryCount) {
  shows({Sign::knows_no_probe});
  const LaunchRequest same = request_;
  request_.arguments = {"--two"};
  EXPECT_FALSE(is_of_earlier_era(request_));
  request_ = same;
  request_.environment = {"MODE=b"};
  EXPECT_FALSE(is_of_earlier_era(request_));
  request_ = same;
  request_.cwd = directory_.path();
  EXPECT_FALSE(is_of_earlier_era(request_));
  request_ = same;
  setenv("SHLVL", "7", 1);
  EXPECT_TRUE(is_of_earlier_era(request_)) << "it says nothing about the server";
  directory_.write_script("server", "exit 1 # newer");
  EXPECT_FALSE(is_of_earlier_era(request_));
}

TEST_F(EraCacheTest, AServerWhoseFileIsNotKnownIsNotRemembered) {
  request_.command = "docker";
  request_.environment = {"PATH=" + directory_.path()};
  directory_.write_script("docker", "exit 0");
  shows({Sign::knows_no_probe});
  EXPECT_FALSE(is_of_earlier_era(request_));
}

TEST_F(EraCacheTest, TheNewestCommandsAreKept) {
  ASSERT_EQ(kErasMax, 64u);
  shows({Sign::knows_no_probe});
  for (std::size_t i = 1; i < kErasMax; ++i) note_era(std::to_string(i), Sign::knows_no_probe);
  EXPECT_TRUE(is_of_earlier_era(request_));
  note_era("one more", Sign::knows_no_probe);
  EXPECT_FALSE(is_of_earlier_era(request_));
}

TEST_F(EraCacheTest, OnlyTheUserCanReadIt) {
  shows({Sign::knows_no_probe});
  struct stat file {
  }, folder{};
  ASSERT_EQ(stat((cache_ + "/mcp-sitter/eras").c_str(), &file), 0);
  ASSERT_EQ(stat((cache_ + "/mcp-sitter").c_str(), &folder), 0);
  EXPECT_EQ(file.st_mode & 07777, 0600u);
  EXPECT_EQ(folder.st_mode & 07777, 0700u);
}

TEST_F(EraCacheTest, ACacheThatCannotBeUsedIsNoError) {
  directory_.write("cache", "a file");
  shows({Sign::knows_no_probe});
  EXPECT_FALSE(is_of_earlier_era(request_));
  std::filesystem::remove(cache_);
  std::filesystem::create_directories(cache_ + "/mcp-sitter");
  directory_.write("cache/mcp-sitter/eras", std::string(100000, 'x') + " earlier\n\n \n");
  shows({Sign::knows_no_probe});
  EXPECT_TRUE(is_of_earlier_era(request_));
}

}  // namespace
}  // namespace sitter
