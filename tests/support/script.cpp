#include "support/script.hpp"

#include <algorithm>

namespace sitter {

void Script::time_passes(Milliseconds duration) {
  const Instant until = now.steady + duration;
  for (int stops = 0; true; ++stops) {
    const auto next = next_timeout();
    if (!next || *next > until) break;
    ASSERT_LT(stops, 10000) << "a deadline comes again and again";
    next_deadline_comes();
  }
  turn_to(until);
  const std::size_t before = words_.size();
  handle_timeout();
  EXPECT_EQ(words_.size(), before) << "something was done though nothing was due";
}

void Script::next_deadline_comes() {
  const auto next = next_timeout();
  ASSERT_TRUE(next) << "there is no deadline";
  turn_to(std::max(now.steady, *next));
  handle_timeout();
}

void Script::expect_nothing_due() {
  const auto next = next_timeout();
  EXPECT_TRUE(!next || *next > now.steady) << "a deadline is still due when all have fired";
}

void Script::turn_to(Instant instant) {
  now.wall += std::chrono::duration_cast<WallTime::duration>(instant - now.steady);
  now.steady = instant;
}

}  // namespace sitter
