#include "core/child/start_policy.hpp"

#include <gtest/gtest.h>

namespace sitter {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class StartPolicyTest : public ::testing::Test {
 protected:
  void fail(int times) {
    for (int n = 0; n < times; ++n) {
      policy_.on_start(now_);
      policy_.on_failed({{EndReason::not_executed, {}, {}, "no " + std::to_string(n)}, "words"});
    }
  }

  StartPolicy policy_;
  Now now_{Instant() + seconds(10), {}};
};

TEST_F(StartPolicyTest, TheFirstStartsAreFree) {
  EXPECT_TRUE(policy_.may_start(now_));
  fail(2);
  EXPECT_TRUE(policy_.may_start(now_));
}

TEST_F(StartPolicyTest, FromTheThirdFailureOnStartsAreASecondApart) {
  fail(3);
  EXPECT_FALSE(policy_.may_start(now_));
  now_.steady += milliseconds(999);
  EXPECT_FALSE(policy_.may_start(now_));
  now_.steady += milliseconds(1);
  EXPECT_TRUE(policy_.may_start(now_));
}

TEST_F(StartPolicyTest, TheSecondIsCountedFromTheStart) {
  fail(3);
  now_.steady += seconds(5);
  policy_.on_start(now_);
  now_.steady += seconds(3);
  policy_.on_failed({});
  EXPECT_TRUE(policy_.may_start(now_));
}

TEST_F(StartPolicyTest, AChildThatServesEndsTheRow) {
  fail(5);
  policy_.on_proved();
  EXPECT_TRUE(policy_.may_start(now_));
  fail(2);
  EXPECT_TRUE(policy_.may_start(now_));
}

TEST_F(StartPolicyTest, TheLastFailureIsRemembered) {
  EXPECT_FALSE(policy_.last_failure());
  fail(2);
  policy_.on_proved();
  ASSERT_TRUE(policy_.last_failure());
  EXPECT_EQ(policy_.last_failure()->end.why, "no 1");
  EXPECT_EQ(policy_.last_failure()->stderr_tail, "words");
}

}  // namespace
}  // namespace sitter
