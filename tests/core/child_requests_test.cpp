#include "core/child/child_requests.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ChildRequestsTest, NumbersAreNeverUsedTwice) {
  ChildRequests requests;
  EXPECT_EQ(requests.add(1, "0", ""), "1");
  EXPECT_TRUE(requests.take("1"));
  EXPECT_EQ(requests.add(1, "0", ""), "2");
  requests.drop(1);
  EXPECT_EQ(requests.add(2, "0", ""), "3");
}

TEST(ChildRequestsTest, AnAnswerFindsItsQuestionHoweverItsIdIsSpelled) {
  ChildRequests requests;
  requests.add(4, "\"q\"", "\"t\"");
  ASSERT_NE(requests.find("1.0"), nullptr);
  const auto request = requests.take("1e0");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->gen, 4);
  EXPECT_EQ(request->id, "\"q\"");
  EXPECT_EQ(request->progress_token, "\"t\"");
  EXPECT_FALSE(requests.take("1"));
  EXPECT_EQ(requests.count(), 0u);
}

TEST(ChildRequestsTest, OtherIdsFindNothing) {
  ChildRequests requests;
  requests.add(1, "0", "");
  for (const std::string id :
       {"2", "0", "-1", "\"1\"", "1.5", "null", "{}", "99999999999999999999", "\"x\""}) {
    EXPECT_EQ(requests.find(id), nullptr) << id;
    EXPECT_FALSE(requests.take(id)) << id;
  }
}

TEST(ChildRequestsTest, TheClientsNumberOfAQuestion) {
  ChildRequests requests;
  requests.add(1, "5", "");
  requests.add(2, "5", "");
  EXPECT_EQ(requests.client_id(2, "5.0"), "2");
  EXPECT_EQ(requests.client_id(1, "\"5\""), "");
  EXPECT_EQ(requests.client_id(3, "5"), "");
}

TEST(ChildRequestsTest, ADeadChildsQuestionsAreDroppedInTheirOrder) {
  ChildRequests requests;
  requests.add(1, "0", "");
  requests.add(2, "0", "");
  requests.add(1, "1", "");
  EXPECT_THAT(requests.drop(1), ElementsAre("1", "3"));
  EXPECT_THAT(requests.drop(1), IsEmpty());
  EXPECT_EQ(requests.count(), 1u);
}

TEST(ChildRequestsTest, WhatIsKeptOfThemIsCounted) {
  ChildRequests requests;
  requests.add(1, "\"abc\"", "77");
  requests.add(2, "5", "");
  EXPECT_EQ(requests.bytes(), 8u);
  requests.take("1");
  EXPECT_EQ(requests.bytes(), 1u);
  requests.drop(2);
  EXPECT_EQ(requests.bytes(), 0u);
}

}  // namespace
}  // namespace sitter
