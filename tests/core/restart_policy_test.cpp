#include "core/child/restart_policy.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

namespace sitter {
namespace {

using When = RestartPolicy::When;
using std::chrono::milliseconds;
using std::chrono::seconds;

const Now kNow{Instant() + std::chrono::hours(1), WallTime()};

ChildEnd end(EndReason reason, Milliseconds lifetime = seconds(1)) {
  return {reason, {}, lifetime, ""};
}

Now at(Instant instant) { return {instant, WallTime()}; }

bool comes_back(When when, EndReason reason) {
  RestartPolicy policy(when, 10);
  policy.on_end(end(reason), kNow);
  return policy.due().has_value();
}

TEST(RestartPolicyTest, ALazyOneWaitsForARequest) {
  EXPECT_FALSE(comes_back(When::lazy, EndReason::crashed));
}

TEST(RestartPolicyTest, WhatIsNoCrashEndsTheChildForGood) {
  EXPECT_TRUE(comes_back(When::on_crash, EndReason::crashed));
  EXPECT_TRUE(comes_back(When::on_crash, EndReason::closed_stdout));
  EXPECT_TRUE(comes_back(When::on_crash, EndReason::ended_in_opening));
  for (const EndReason reason : {EndReason::exited, EndReason::ended_from_outside,
                                 EndReason::not_executed, EndReason::opening_refused}) {
    EXPECT_FALSE(comes_back(When::on_crash, reason));
    EXPECT_TRUE(comes_back(When::eager, reason));
  }
}

TEST(RestartPolicyTest, WhatWasMeantToEndStaysDown) {
  for (const EndReason reason :
       {EndReason::killed_by_sitter, EndReason::replaced, EndReason::shut_down}) {
    EXPECT_FALSE(comes_back(When::eager, reason));
  }
}

TEST(RestartPolicyTest, TheWaitIsDoubledUpToABound) {
  RestartPolicy policy(When::eager, 100);
  std::vector<Milliseconds> waits;
  Now now = kNow;
  for (int i = 0; i < 7; ++i) {
    policy.on_end(end(EndReason::crashed), now);
    ASSERT_TRUE(policy.due());
    waits.push_back(std::chrono::duration_cast<Milliseconds>(*policy.due() - now.steady));
    now = at(*policy.due());
    policy.on_start(now);
    EXPECT_FALSE(policy.due());
  }
  EXPECT_EQ(waits, (std::vector<Milliseconds>{seconds(1), seconds(2), seconds(4), seconds(8),
                                              seconds(16), seconds(30), seconds(30)}));
}

TEST(RestartPolicyTest, AMinuteOfRunningEndsTheRow) {
  RestartPolicy policy(When::eager, 1);
  policy.on_end(end(EndReason::crashed), kNow);
  policy.on_start(at(*policy.due()));
  policy.on_end(end(EndReason::crashed, milliseconds(59'999)), kNow);
  EXPECT_TRUE(policy.is_exhausted());
  EXPECT_FALSE(policy.due());
  policy.on_end(end(EndReason::crashed, seconds(60)), kNow);
  EXPECT_FALSE(policy.is_exhausted());
  EXPECT_TRUE(policy.due());
}

TEST(RestartPolicyTest, AStartForAnotherReasonIsNotCounted) {
  RestartPolicy policy(When::eager, 10);
  policy.on_end(end(EndReason::crashed), kNow);
  policy.on_start(kNow);
  EXPECT_EQ(policy.count(), 0);
  EXPECT_FALSE(policy.due());
}

TEST(RestartPolicyTest, ItCanBeCancelled) {
  RestartPolicy policy(When::eager, 10);
  policy.on_end(end(EndReason::crashed), kNow);
  policy.cancel();
  EXPECT_FALSE(policy.due());
}

}  // namespace
}  // namespace sitter
