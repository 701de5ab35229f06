#include "io/stream/log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "io/trace.hpp"
#include "support/temporary_directory.hpp"

namespace sitter {
namespace {

using Level = order::Log::Level;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class LogTest : public ::testing::Test {
 protected:
  std::unique_ptr<Log> open(Log::Options options) {
    options.file = file_;
    auto log = Log::open(options, stderr_output_, error_);
    EXPECT_TRUE(log) << error_;
    return log;
  }
  static void write_all_levels(Log& log) {
    log.trace("of trace");
    log.write(Level::debug, "of debug");
    log.write(Level::info, "of info");
    log.write(Level::warn, "of warn");
    log.write(Level::error, "of error");
  }
  static std::string text_of(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
  }

  testing::TemporaryDirectory directory_;
  ErrorOutput stderr_output_;
  std::string file_ = directory_ / "sitter.log";
  std::string error_;
};

TEST_F(LogTest, ALineShowsTimeProcessAndLevelAndIsThereAtOnce) {
  const auto log = open({});
  log->write(Level::warn, "child 1 {} %v");
  EXPECT_THAT(text_of(file_), MatchesRegex("[0-9-]+ [0-9:.]+ " + std::to_string(getpid()) +
                                           " warning: child 1 \\{\\} %v\n"));
}

TEST_F(LogTest, NoLineShowsASecret) {
  const auto log =
      open({.is_trace = true,
            .secrets = Secrets(std::vector<HttpHeader>{{"Authorization", "Bearer tell-nobody"}})});
  log->write(Level::warn, "refused: tell-nobody");
  log->trace("<- http 1: tell-nobody");
  EXPECT_THAT(text_of(file_), AllOf(HasSubstr("refused: ***"), HasSubstr("<- http 1: ***"),
                                    Not(HasSubstr("tell-nobody"))));
}

TEST(TraceTest, ALineShowsNoPartOfASecret) {
  const Secrets secrets(std::vector<HttpHeader>{{"X-Key", "abc/def"}});
  const std::string line = std::string(497, 'x') + "abc\\/def";
  const std::string control = std::string(3, '\n') + std::string(1994, '\r') + "abc/def";
  EXPECT_THAT(to_text(fact::ControlLine{.line = line}, secrets), EndsWith("x***"));
  EXPECT_THAT(to_text(fact::ControlLine{.line = control}, secrets), EndsWith(" ***"));
}

TEST_F(LogTest, WhatIsBelowItsLevelIsLeftOut) {
  const auto log = open({.level = Level::info});
  write_all_levels(*log);
  EXPECT_FALSE(log->is_trace());
  EXPECT_THAT(text_of(file_),
              AllOf(Not(HasSubstr("of trace")), Not(HasSubstr("of debug")), HasSubstr("of info"),
                    HasSubstr("of warn"), HasSubstr("of error")));
}

TEST_F(LogTest, WithTraceNothingIsLeftOut) {
  const auto log = open({.is_trace = true});
  write_all_levels(*log);
  EXPECT_TRUE(log->is_trace());
  EXPECT_THAT(text_of(file_), AllOf(HasSubstr("of trace"), HasSubstr("of debug"),
                                    HasSubstr("of info"), HasSubstr("of error")));
}

TEST_F(LogTest, OneThatIsOffSaysNothingEvenWithTrace) {
  const auto log = open({.is_off = true, .is_trace = true});
  write_all_levels(*log);
  EXPECT_FALSE(log->is_trace());
  EXPECT_EQ(text_of(file_), "");
}

TEST_F(LogTest, AFileThatCannotBeOpenedIsOneSentence) {
  Log::Options options;
  options.file = directory_.write("file", "") + "/sitter.log";
  EXPECT_FALSE(Log::open(options, stderr_output_, error_));
  EXPECT_THAT(error_, AllOf(HasSubstr(options.file), Not(HasSubstr("\n"))));
}

TEST_F(LogTest, WhatIsNoFileIsRefusedAtOnce) {
  ASSERT_EQ(mkfifo(file_.c_str(), 0600), 0);
  Log::Options options;
  options.file = file_;
  EXPECT_FALSE(Log::open(options, stderr_output_, error_));
  EXPECT_THAT(error_, HasSubstr(file_ + " is no file"));
}

TEST_F(LogTest, OnlyTheUserMayReadIt) {
  file_ = directory_ / "new/folder/sitter.log";
  open({})->write(Level::warn, "of today");
  EXPECT_EQ(std::filesystem::status(file_).permissions(), std::filesystem::perms(0600));
}

TEST_F(LogTest, SeveralProcessesRotateTheSameFile) {
  const std::string mebibyte(1024 * 1024, 'x');
  const auto one = open({}), other = open({}), third = open({});
  for (int line = 0; line < 16; ++line) {
    for (const auto* const log : {&one, &other, &third}) (*log)->write(Level::warn, mebibyte);
  }
  std::uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
    EXPECT_LE(entry.file_size(), 10u * 1024 * 1024);
    bytes += entry.file_size();
  }
  // The fifth file has three lines.
  EXPECT_GT(bytes, 20u * 1024 * 1024);
  EXPECT_TRUE(std::filesystem::exists(directory_ / "sitter.2.log"));
}

TEST_F(LogTest, AppendsToAnExistingFile) {
  directory_.write("sitter.log", "of yesterday\n");
  open({})->write(Level::warn, "of today");
  EXPECT_THAT(text_of(file_), AllOf(HasSubstr("of yesterday\n"), HasSubstr("of today\n")));
}

TEST_F(LogTest, ThreeFilesOf10MiBAreKept) {
  const auto log = open({});
  const std::string mebibyte(1024 * 1024, 'x');
  for (int file = 1; file <= 4; ++file) {
    // Nine lines fill a file, because each line has more than its text.
    for (int line = 0; line < 9; ++line) {
      log->write(Level::warn, "file " + std::to_string(file) + " " + mebibyte);
    }
  }
  namespace fs = std::filesystem;
  int files = 0;
  for (const auto& entry : fs::directory_iterator(directory_.path())) {
    EXPECT_LE(entry.file_size(), 10u * 1024 * 1024);
    ++files;
  }
  EXPECT_EQ(files, 3);
  EXPECT_GT(fs::file_size(directory_ / "sitter.1.log"), 9u * 1024 * 1024);
  EXPECT_THAT(text_of(file_).substr(0, 100), HasSubstr("file 4"));
  EXPECT_THAT(text_of(directory_ / "sitter.1.log").substr(0, 100), HasSubstr("file 3"));
  EXPECT_THAT(text_of(directory_ / "sitter.2.log").substr(0, 100), HasSubstr("file 2"));
}

}  // namespace
}  // namespace sitter
