#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/scripted_client.hpp"
#include "support/short_run.hpp"
#include "support/temporary_directory.hpp"

namespace sitter::testing {

/// Runs of `mcp-sitter doctor` with a home of their own.
class DoctorTest : public ::testing::Test {
 protected:
  struct Run : ShortRun {
    using ShortRun::ShortRun;

    Json json() const { return Json::parse(output, nullptr, false); }
    /// "level subject" of each finding in the JSON.
    std::vector<std::string> outline() const {
      std::vector<std::string> lines;
      for (const Json& finding : json().value("findings", Json::array())) {
        lines.push_back(finding["level"].get<std::string>() + " " +
                        finding["subject"].get<std::string>());
      }
      return lines;
    }
    /// What the finding says, and the way out.
    std::string about(const std::string& subject) const {
      for (const Json& finding : json().value("findings", Json::array())) {
        if (finding["subject"] != subject) continue;
        return finding["what"].get<std::string>() +
               (finding["wayOut"].is_string() ? "\n" + finding["wayOut"].get<std::string>() : "");
      }
      ADD_FAILURE() << "no finding about " << subject << " in " << output << error;
      return {};
    }
  };

  Program::Start start(std::vector<std::string> words) const {
    words.insert(words.begin(), {sitter_program(), "doctor"});
    Program::Start start{.command = std::move(words), .environment = environment_};
    start.environment.push_back("HOME=" + directory_.path());
    return start;
  }

  Run run(std::vector<std::string> words) const { return Run(start(std::move(words))); }

  /// Without the starts with a short environment.
  Run run_json(std::vector<std::string> options, std::vector<std::string> command) const {
    options.insert(options.end(), {"--json", "--no-environment", "--"});
    options.insert(options.end(), command.begin(), command.end());
    return run(std::move(options));
  }

  Run run_fake(std::vector<std::string> flags, std::vector<std::string> options = {}) const {
    return run_json(std::move(options), fake(std::move(flags)));
  }

  TemporaryDirectory directory_;
  /// NAME=VALUE entries.
  std::vector<std::string> environment_;
};

}  // namespace sitter::testing
