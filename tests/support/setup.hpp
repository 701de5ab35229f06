#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "support/short_run.hpp"
#include "support/temporary_directory.hpp"

namespace sitter::testing {

using Words = std::vector<std::string>;

/// `mcp-sitter setup` with a HOME of its own, in a project with settings of the clients.
class SetupTest : public ::testing::Test {
 protected:
  ShortRun setup(Words words) const { return setup_in(project_.path(), std::move(words)); }

  ShortRun setup_in(const std::string& folder, Words words) const {
    words.insert(words.begin(), {"/usr/bin/env", "-i", "HOME=" + home_.path(), "PATH=/usr/bin:/bin",
                                 sitter_program(), "setup"});
    return ShortRun(Program::Start{.command = std::move(words), .cwd = folder});
  }

  std::string refusal(const Words& words, int exit_code = 1) const {
    const ShortRun run = setup(words);
    EXPECT_EQ(run.exit_code, exit_code) << run.output << run.error;
    EXPECT_EQ(run.output, "");
    EXPECT_THAT(run.error, ::testing::StartsWith("mcp-sitter setup: "));
    EXPECT_EQ(lines_of(run.error).size(), 1) << run.error;
    return run.error;
  }

  /// Returns what was printed.
  std::string expect_done(const Words& words) const {
    const ShortRun run = setup(words);
    EXPECT_EQ(run.exit_code, 0) << run.error;
    EXPECT_EQ(run.error, "");
    return run.output;
  }

  /// The entry of the server `a` in a file of JSON.
  static Json entry_in(const std::string& file, const std::string& name = "a") {
    return Json::parse(contents_of(file))["mcpServers"][name];
  }

  /// The names of all files in HOME and in the project with their bytes and modes.
  std::string everything() const {
    std::string all;
    for (const std::string& root : {home_.path(), project_.path()}) {
      Words files;
      for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
        if (!entry.is_directory()) files.push_back(entry.path().native());
      }
      std::sort(files.begin(), files.end());
      for (const std::string& file : files) {
        struct stat found {};
        lstat(file.c_str(), &found);
        all += file + " " + std::to_string(found.st_mode) + "\n" + contents_of(file) + "\n";
      }
    }
    return all;
  }

  TemporaryDirectory home_, project_;
};

}  // namespace sitter::testing
