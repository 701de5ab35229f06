#include "core/client/batches.hpp"

#include <gtest/gtest.h>

namespace sitter {
namespace {

TEST(BatchesTest, TheLastAnswerCompletesTheArray) {
  Batches batches;
  const auto batch = batches.open(2);
  EXPECT_NE(batch, Batches::kNone);
  EXPECT_EQ(batches.add(batch, "1"), std::nullopt);
  EXPECT_EQ(batches.add(batch, "2"), "[1,2]");
}

TEST(BatchesTest, SeveralAreKeptApart) {
  Batches batches;
  const auto first = batches.open(2);
  const auto second = batches.open(1);
  EXPECT_EQ(batches.add(first, "1"), std::nullopt);
  EXPECT_EQ(batches.add(second, "2"), "[2]");
  EXPECT_EQ(batches.add(first, "3"), "[1,3]");
}

TEST(BatchesTest, WhatIsOwedNoMoreIsNotWaitedFor) {
  Batches batches;
  const auto batch = batches.open(3);
  EXPECT_EQ(batches.drop(batch), std::nullopt);
  EXPECT_EQ(batches.add(batch, "1"), std::nullopt);
  EXPECT_EQ(batches.drop(batch), "[1]");
}

TEST(BatchesTest, SeveralAnswersAreBoundedAndOneIsNot) {
  Batches batches(10);
  const auto batch = batches.open(2);
  EXPECT_TRUE(batches.has_room(batch, 11));
  batches.add(batch, "123");
  EXPECT_FALSE(batches.has_room(batch, 5));
  EXPECT_TRUE(batches.has_room(batch, 4));
  EXPECT_EQ(batches.add(batch, "4567"), "[123,4567]");
}

TEST(BatchesTest, WhatAllOfThemKeepIsBounded) {
  Batches batches(10);
  const auto first = batches.open(2);
  const auto second = batches.open(3);
  batches.add(first, "1234");
  EXPECT_FALSE(batches.has_room(second, 4));
  EXPECT_TRUE(batches.has_room(second, 3));
  batches.add(second, "123");
  EXPECT_FALSE(batches.has_room(second, 0));
  // The last answer completes its batch, so it is not kept.
  EXPECT_TRUE(batches.has_room(first, 3));
  EXPECT_EQ(batches.add(first, "567"), "[1234,567]");
  EXPECT_TRUE(batches.has_room(second, 4));
  EXPECT_EQ(batches.drop(second), std::nullopt);
  EXPECT_EQ(batches.drop(second), "[123]");
  EXPECT_TRUE(batches.has_room(batches.open(2), 11));
}

TEST(BatchesTest, OneAnswerThatIsNotKeptMayHaveAnySize) {
  Batches batches(10);
  batches.add(batches.open(2), "1234567");
  EXPECT_TRUE(batches.has_room(batches.open(1), 11));
}

TEST(BatchesTest, WithoutAnyAnswerThereIsNoArray) {
  Batches batches;
  EXPECT_EQ(batches.drop(batches.open(1)), std::nullopt);
}

}  // namespace
}  // namespace sitter
