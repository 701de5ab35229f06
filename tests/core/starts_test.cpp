#include "core/child/starts.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace sitter {
namespace {

using std::chrono::seconds;
using Check = Starts::Check;
using When = RestartPolicy::When;

class StartsTest : public ::testing::Test {
 protected:
  static ChildEnd crash() { return {EndReason::crashed, {3, ""}, {}, {}}; }

  void fail(Starts& starts) {
    starts.on_start(now_);
    starts.on_failed({crash(), "words"});
  }

  Now now_{Instant() + seconds(10), {}};
  Orders out_;
  Starts lazy_{When::lazy, 5};
};

TEST_F(StartsTest, StartsThatFailInARowHaveToWait) {
  EXPECT_TRUE(lazy_.may_start_now(now_));
  for (int i = 0; i < 3; ++i) fail(lazy_);
  EXPECT_FALSE(lazy_.may_start_now(now_));
  EXPECT_EQ(lazy_.last_failure()->stderr_tail, "words");
  lazy_.on_proved();
  EXPECT_TRUE(lazy_.may_start_now(now_));
  EXPECT_TRUE(lazy_.last_failure());
}

TEST_F(StartsTest, OneLookAtTheFilesIsOnItsWayUntilItIsAnswered) {
  EXPECT_FALSE(lazy_.is_checking());
  lazy_.check_files(Check::for_mended, out_);
  ASSERT_TRUE(std::holds_alternative<order::CheckCommandFiles>(*out_.poll()));
  EXPECT_TRUE(lazy_.is_checking());
  EXPECT_EQ(lazy_.on_checked(), Check::for_mended);
  EXPECT_FALSE(lazy_.is_checking());
  EXPECT_EQ(lazy_.on_checked(), Check::none);
}

TEST_F(StartsTest, WithoutRestartsNoEndExceedsTheMaximum) {
  EXPECT_FALSE(lazy_.on_end(crash(), now_));
  EXPECT_EQ(lazy_.restart_due(), std::nullopt);
}

TEST_F(StartsTest, ARestartBeyondTheMaximumIsRefused) {
  Starts starts(When::on_crash, 1);
  EXPECT_FALSE(starts.on_end(crash(), now_));
  ASSERT_TRUE(starts.restart_due());
  now_.steady = *starts.restart_due();
  starts.on_start(now_);
  EXPECT_EQ(starts.restart_due(), std::nullopt);
  EXPECT_TRUE(starts.on_end(crash(), now_));
  EXPECT_EQ(starts.restart_due(), std::nullopt);
}

TEST_F(StartsTest, AnEndThatNoRestartFollowsDoesNotExceedTheMaximum) {
  Starts starts(When::on_crash, 0);
  ChildEnd replaced = crash();
  replaced.reason = EndReason::replaced;
  EXPECT_FALSE(starts.on_end(replaced, now_));
  EXPECT_TRUE(starts.on_end(crash(), now_));
}

TEST_F(StartsTest, ARestartCanBeCancelled) {
  Starts starts(When::on_crash, 1);
  starts.on_end(crash(), now_);
  starts.cancel_restart();
  EXPECT_EQ(starts.restart_due(), std::nullopt);
}

}  // namespace
}  // namespace sitter
