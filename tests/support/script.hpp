#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sitter/time.hpp"

namespace sitter {

// The words that nearly every story uses.
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

/// Tells a story to a part of the core: facts go in, and what they lead to is kept in short words
/// until `done()` takes it. The story has a clock of its own.
class Script : public ::testing::Test {
 protected:
  Now now{Instant() + std::chrono::hours(1), WallTime() + std::chrono::hours(500000)};

  /// What was done since the last call, in words.
  std::vector<std::string> done() { return std::exchange(words_, {}); }

  /// Turns the clock, and stops at each deadline on the way.
  void time_passes(Milliseconds duration);

  /// Turns the clock to the next deadline, and no further.
  void next_deadline_comes();

  virtual std::optional<Instant> next_timeout() = 0;

  // What a script uses.

  /// Lets everything happen that is due, and calls `expect_nothing_due`.
  virtual void handle_timeout() = 0;
  void expect_nothing_due();
  void turn_to(Instant instant);
  void add_word(std::string word) { words_.push_back(std::move(word)); }

 private:
  std::vector<std::string> words_;
};

}  // namespace sitter
