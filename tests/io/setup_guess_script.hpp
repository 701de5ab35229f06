#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "setup/guess.hpp"
#include "support/temporary_directory.hpp"

namespace sitter::setup {

/// Only the build tools that a test plays are in PATH.
class SetupGuessTest : public ::testing::Test {
 protected:
  SetupGuessTest() {
    setenv("PATH", tools_.path().c_str(), 1);
    setenv("HOME", (folder_ / "home").c_str(), 1);
  }
  ~SetupGuessTest() override {
    setenv("PATH", path_.c_str(), 1);
    setenv("HOME", home_.c_str(), 1);
  }

  Guess of(const Words& words) const { return guess(words, folder_.path(), false); }

  /// A tool that says this.
  void tool_says(const std::string& name, const std::string& text) const {
    tools_.write_script(name, "/bin/cat '" + tools_.write(name + ".txt", text) + "'");
  }

  /// Deeper than the stack allows.
  const std::string deep_ = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  std::string path_ = std::getenv("PATH");
  std::string home_ = std::getenv("HOME");
  sitter::testing::TemporaryDirectory folder_, tools_;
};

}  // namespace sitter::setup
