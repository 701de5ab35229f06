#include "core/client/crowd.hpp"

#include <gtest/gtest.h>

#include "core/child/child_input.hpp"

namespace sitter {
namespace {

constexpr std::size_t kMax = limits::kInFlightBytesMax;

TEST(CrowdTest, AtTheBoundTheClientIsReadAndWithAByteMoreItWaits) {
  Crowd crowd;
  crowd.settle(kMax, {});
  EXPECT_TRUE(crowd.reads());
  crowd.settle(kMax + 1, {});
  EXPECT_FALSE(crowd.reads());
  EXPECT_FALSE(crowd.refuses());
  crowd.settle(kMax, {});
  EXPECT_TRUE(crowd.reads());
  EXPECT_EQ(crowd.deadline(), std::nullopt);
}

TEST(CrowdTest, IfWaitingDoesNotHelpTheClientIsReadAndRequestsAreRefused) {
  Crowd crowd;
  Now now{};
  crowd.settle(kMax + 1, now);
  now.steady += limits::kDeafAfter - Milliseconds(1);
  crowd.settle(kMax + 1, now);
  crowd.on_timeout(now);
  EXPECT_FALSE(crowd.refuses()) << "the wait counts from its beginning";
  now.steady += Milliseconds(1);
  crowd.on_timeout(now);
  EXPECT_TRUE(crowd.refuses());
  EXPECT_TRUE(crowd.reads());
  crowd.settle(kMax + 1, now);
  EXPECT_TRUE(crowd.refuses());
  crowd.settle(kMax, now);
  EXPECT_FALSE(crowd.refuses());
}

}  // namespace
}  // namespace sitter
