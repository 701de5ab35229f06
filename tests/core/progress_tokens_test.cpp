#include "sitter/core/progress_tokens.hpp"

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

TEST(ProgressTokensTest, OnlyTheLastAreRemembered) {
  ProgressTokens tokens;
  tokens.on_answered("\"first\"", true);
  for (std::size_t i = 1; i < limits::kEndedTokensMax; ++i) {
    tokens.on_answered(std::to_string(i), true);
  }
  EXPECT_FALSE(tokens.passes("\"first\""));
  tokens.on_answered("\"last\"", true);
  EXPECT_TRUE(tokens.passes("\"first\""));
  EXPECT_FALSE(tokens.passes("\"last\""));
}

}  // namespace
}  // namespace sitter
