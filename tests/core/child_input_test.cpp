#include "core/child/child_input.hpp"

#include <gtest/gtest.h>

namespace sitter {
namespace {

Now after(Milliseconds time) { return {Instant(time), WallTime(time)}; }

TEST(ChildInputTest, AnInputThatStaysFullIsDeaf) {
  ChildInput input;
  EXPECT_TRUE(input.is_open());
  EXPECT_FALSE(input.deadline());
  input.on_full(after(Milliseconds(5)));
  EXPECT_TRUE(input.is_full());
  EXPECT_EQ(input.deadline(), Instant(Milliseconds(5)) + limits::kDeafAfter);
  input.on_timeout();
  EXPECT_TRUE(input.is_deaf());
  EXPECT_FALSE(input.deadline());
}

TEST(ChildInputTest, WhatTheChildTakesPostponesTheDeadline) {
  ChildInput input;
  input.on_full(after(Milliseconds(5)));
  input.on_full(after(Milliseconds(6)));
  EXPECT_EQ(input.deadline(), Instant(Milliseconds(5)) + limits::kDeafAfter);
  input.on_moved(after(Milliseconds(7)));
  EXPECT_EQ(input.deadline(), Instant(Milliseconds(7)) + limits::kDeafAfter);
}

TEST(ChildInputTest, ADeafInputIsOpenOnlyWhenItsQueueIsEmpty) {
  ChildInput input;
  input.on_full(after(Milliseconds(5)));
  input.on_timeout();
  input.on_full(after(Milliseconds(6)));
  input.on_moved(after(Milliseconds(7)));
  EXPECT_TRUE(input.is_deaf());
  EXPECT_FALSE(input.deadline());
  input.on_drained();
  EXPECT_TRUE(input.is_open());
}

}  // namespace
}  // namespace sitter
