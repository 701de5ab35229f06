#include "core/bridge/ending.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace sitter {
namespace {

using State = Ending::State;

class EndingTest : public ::testing::Test {
 protected:
  Now now_{Instant() + std::chrono::seconds(10), {}};
  Ending ending_;
};

TEST_F(EndingTest, FromNoneToOwedWhenTheClientClosesItsOutput) {
  EXPECT_TRUE(ending_.is_none());
  EXPECT_TRUE(ending_.on_input_closed(now_));
  EXPECT_EQ(ending_.state(), State::owed);
  EXPECT_EQ(ending_.deadline(), now_.steady + limits::kOwedWait);
  EXPECT_FALSE(ending_.has_stopped());
  EXPECT_FALSE(ending_.on_input_closed(now_));
}

TEST_F(EndingTest, FromOwedToStoppingWithoutADeadline) {
  ending_.on_input_closed(now_);
  ending_.stop();
  EXPECT_TRUE(ending_.is_stopping());
  EXPECT_TRUE(ending_.has_stopped());
  EXPECT_EQ(ending_.deadline(), std::nullopt);
}

TEST_F(EndingTest, FromStoppingToOver) {
  ending_.stop();
  ending_.end();
  EXPECT_TRUE(ending_.is_over());
  EXPECT_TRUE(ending_.has_stopped());
}

TEST_F(EndingTest, TheFirstSignalSaysTheExitCode) {
  EXPECT_FALSE(ending_.is_hurried());
  EXPECT_TRUE(ending_.hurry(143));
  EXPECT_FALSE(ending_.hurry(130));
  EXPECT_TRUE(ending_.is_hurried());
  EXPECT_EQ(ending_.exit_code(), 143);
}

TEST_F(EndingTest, ADeadlineFiresOnce) {
  ending_.stop();
  ending_.abandon_at(now_.steady);
  EXPECT_EQ(ending_.deadline(), now_.steady);
  ending_.on_timeout();
  EXPECT_EQ(ending_.deadline(), std::nullopt);
}

TEST_F(EndingTest, TheLadderIsCutWhenTheSessionEnds) {
  using std::chrono::milliseconds;
  const auto before = ending_.ladder(milliseconds(2000));
  EXPECT_EQ(before.close, milliseconds(2000));
  EXPECT_EQ(before.terminate, milliseconds(2000));
  EXPECT_EQ(before.terminate_remote, milliseconds(5000));
  ending_.on_input_closed(now_);
  const auto after = ending_.ladder(milliseconds(2000));
  EXPECT_EQ(after.close, milliseconds(500));
  EXPECT_EQ(after.terminate_remote, milliseconds(500));
  EXPECT_EQ(ending_.ladder(milliseconds(100)).close, milliseconds(100));
}

}  // namespace
}  // namespace sitter
