#include "core/client/progress_tokens.hpp"

#include <gtest/gtest.h>

namespace sitter {
namespace {

TEST(ProgressTokensTest, ATokenThatNobodyKnowsPasses) {
  EXPECT_TRUE(ProgressTokens().passes("1"));
  ProgressTokens tokens;
  tokens.on_answered("1", true);
  EXPECT_TRUE(tokens.passes("2"));
}

TEST(ProgressTokensTest, NoneFollowsTheAnswer) {
  ProgressTokens tokens;
  tokens.on_request("1");
  EXPECT_TRUE(tokens.passes("1"));
  tokens.on_answered("1", true);
  EXPECT_FALSE(tokens.passes("1"));
  EXPECT_FALSE(tokens.passes("1.0"));
  tokens.on_request("1");
  EXPECT_TRUE(tokens.passes("1"));
}

TEST(ProgressTokensTest, WhatIsNotOverGoesOn) {
  ProgressTokens tokens;
  tokens.on_answered("1", false);
  EXPECT_TRUE(tokens.passes("1"));
}

TEST(ProgressTokensTest, AMutedTokenIsSilentUntilTheRequestIsAnswered) {
  ProgressTokens tokens;
  tokens.mute("\"\\u0061\"");
  EXPECT_FALSE(tokens.passes("\"a\""));
  tokens.on_answered("\"a\"", false);
  EXPECT_TRUE(tokens.passes("\"a\""));
}

TEST(ProgressTokensTest, WhatGoesOnEndsWithItsChild) {
  ProgressTokens tokens;
  tokens.on_answered("1", false);
  tokens.on_answered("2", false);
  tokens.on_request("2");
  tokens.on_child_lost();
  EXPECT_FALSE(tokens.passes("1"));
  EXPECT_TRUE(tokens.passes("2"));
}

/// The first token is forgotten after this many other tokens, and not before.
void expect_last_remembered(ProgressTokens& tokens, bool is_over) {
  tokens.on_answered("\"first\"", is_over);
  for (std::size_t i = 1; i < limits::kEndedTokensMax; ++i) {
    tokens.on_answered(std::to_string(i), is_over);
  }
  ProgressTokens one_more = tokens;
  tokens.on_child_lost();
  EXPECT_FALSE(tokens.passes("\"first\""));
  one_more.on_answered("\"last\"", is_over);
  one_more.on_child_lost();
  EXPECT_TRUE(one_more.passes("\"first\""));
  EXPECT_FALSE(one_more.passes("\"last\""));
}

TEST(ProgressTokensTest, OnlyTheLastAreRemembered) {
  ProgressTokens ended;
  expect_last_remembered(ended, true);
  ProgressTokens going_on;
  expect_last_remembered(going_on, false);
}

}  // namespace
}  // namespace sitter
