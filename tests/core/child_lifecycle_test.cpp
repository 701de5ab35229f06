#include "core/child/child_lifecycle.hpp"

#include "support/lifecycle_script.hpp"

namespace sitter {
namespace {

using State = ChildLifecycle::State;

TEST_F(ChildLifecycleTest, FromStartingToUp) {
  EXPECT_EQ(life_.state(), State::starting);
  EXPECT_FALSE(life_.is_up());
  starts();
  EXPECT_EQ(life_.state(), State::up);
  EXPECT_EQ(life_.pid(), 100);
  EXPECT_FALSE(life_.deadline());
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(ChildLifecycleTest, FromStartingToOver) {
  life_.on_start_failed({1, "no such file"}, now_);
  EXPECT_TRUE(life_.is_over());
  EXPECT_THAT(done(), IsEmpty());
  EXPECT_EQ(reason(), EndReason::not_executed);
  EXPECT_EQ(life_.end(false).why, "no such file");
  EXPECT_FALSE(life_.end(false).is_command_missing);
}

TEST_F(ChildLifecycleTest, TheEndSaysWhetherTheCommandWasMissing) {
  life_.on_start_failed({.gen = 1, .reason = "no such file", .is_missing = true}, now_);
  EXPECT_TRUE(life_.end(false).is_command_missing);
}

TEST_F(ChildLifecycleTest, AStartCountsOnce) {
  starts();
  life_.on_start_failed({1, "late"}, now_);
  life_.on_started({1, 200}, now_, out_);
  EXPECT_EQ(life_.state(), State::up);
  EXPECT_EQ(life_.pid(), 100);
}

TEST_F(ChildLifecycleTest, AnExitBeforeTheStartIsImpossibleAndIgnored) {
  exits(1);
  passes(seconds(100));
  EXPECT_EQ(life_.state(), State::starting);
}

TEST_F(ChildLifecycleTest, TakenDownBeforeItIsThereItGoesWhenItComes) {
  take_down();
  EXPECT_EQ(life_.state(), State::starting);
  EXPECT_THAT(done(), IsEmpty());
  starts();
  EXPECT_EQ(life_.state(), State::closing);
  EXPECT_THAT(done(), ElementsAre("look", "close"));
}

TEST_F(ChildLifecycleTest, ASlowStartIsGivenUpWhenItIsTakenDown) {
  take_down();
  EXPECT_THAT(done(), IsEmpty());
  ChildLifecycle slow(1, now_);
  slow.expect_slow_start();
  slow.take_down(EndReason::killed_by_sitter, "", ladder_, now_, out_);
  slow.take_down(EndReason::shut_down, "", ladder_, now_, out_);
  EXPECT_THAT(done(), ElementsAre("close"));
  EXPECT_EQ(slow.state(), State::starting);
}

TEST_F(ChildLifecycleTest, TakenDownBeforeItIsThereAndNeverStarted) {
  take_down();
  life_.on_start_failed({1, "no"}, now_);
  EXPECT_EQ(reason(), EndReason::not_executed);
}

TEST_F(ChildLifecycleTest, FromUpToDrainingToOver) {
  starts();
  now_.steady += milliseconds(2100);
  exits(3);
  EXPECT_EQ(life_.state(), State::draining);
  EXPECT_THAT(done(), ElementsAre("terminate"));
  unit({});
  EXPECT_EQ(life_.state(), State::draining);
  life_.on_output_ended(ladder_, now_, out_);
  EXPECT_EQ(life_.state(), State::draining);
  life_.on_error_ended(out_);
  EXPECT_TRUE(life_.is_over());
  EXPECT_THAT(done(), ElementsAre("release"));
  EXPECT_EQ(life_.end(true), (ChildEnd{EndReason::crashed, {3, ""}, milliseconds(2100), ""}));
  EXPECT_EQ(reason(false), EndReason::ended_in_opening);
}

TEST_F(ChildLifecycleTest, TheOrderOfTheEndsDoesNotMatter) {
  for (int order = 0; order < 6; ++order) {
    ChildLifecycle life(1, now_);
    life.on_started({1, 100}, now_, out_);
    std::vector<int> parts = {0, 1, 2};
    for (int n = 0; n < order; ++n) std::next_permutation(parts.begin(), parts.end());
    for (const int part : parts) {
      EXPECT_FALSE(life.is_over());
      if (part == 0) life.on_exited({0, ""}, now_, out_);
      if (part == 1) life.on_output_ended(ladder_, now_, out_);
      if (part == 2) life.on_error_ended(out_);
    }
    life.on_unit_signalled({1, {}}, now_, out_);
    EXPECT_TRUE(life.is_over());
    EXPECT_EQ(life.end(true).reason, EndReason::exited);
  }
}

TEST_F(ChildLifecycleTest, TheEndOfStderrAloneIsNothing) {
  starts();
  life_.on_error_ended(out_);
  EXPECT_EQ(life_.state(), State::up);
}

TEST_F(ChildLifecycleTest, TheEndOfStdoutTakesItDown) {
  starts();
  life_.on_output_ended(ladder_, now_, out_);
  EXPECT_EQ(life_.state(), State::closing);
  EXPECT_EQ(life_.taken_down_for(), EndReason::closed_stdout);
  EXPECT_THAT(done(), ElementsAre("look", "close"));
}

TEST_F(ChildLifecycleTest, AnExitRightBehindTheEndOfStdoutIsAnExit) {
  starts();
  closes_output();
  exits(0);
  unit({});
  EXPECT_EQ(reason(), EndReason::exited);
}

TEST_F(ChildLifecycleTest, AnExitThatTookSigtermAfterTheEndOfStdoutIsNoExit) {
  starts();
  closes_output();
  passes(milliseconds(500));
  exits(143, "SIGTERM");
  unit({});
  EXPECT_EQ(reason(), EndReason::closed_stdout);
}

TEST_F(ChildLifecycleTest, DrainingEndsWithItsTime) {
  starts();
  exits(0);
  done();
  passes(milliseconds(299));
  EXPECT_EQ(life_.state(), State::draining);
  passes(milliseconds(1));
  EXPECT_TRUE(life_.is_over());
  EXPECT_THAT(done(), ElementsAre("release"));
}

TEST_F(ChildLifecycleTest, DrainingWaitsForTheRestOfTheUnit) {
  starts();
  exits(0);
  closes_output();
  unit({grandchild_});
  EXPECT_EQ(life_.state(), State::draining);
  done();
  life_.on_orphan_ended(out_);
  EXPECT_THAT(done(), ElementsAre("look"));
  unit({});
  EXPECT_TRUE(life_.is_over());
  life_.on_orphan_ended(out_);
  EXPECT_THAT(done(), ElementsAre("release"));
}

TEST_F(ChildLifecycleTest, TheEndOfAnOrphanIsIgnoredWhileTheChildRuns) {
  starts();
  life_.on_orphan_ended(out_);
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(ChildLifecycleTest, DrainingCannotBeTakenDownAnyMore) {
  starts();
  exits(3);
  done();
  take_down();
  EXPECT_THAT(done(), IsEmpty());
  EXPECT_FALSE(life_.taken_down_for());
  closes_output();
  unit({});
  EXPECT_EQ(reason(), EndReason::crashed);
}

TEST_F(ChildLifecycleTest, ASecondExitIsIgnored) {
  starts();
  exits(3);
  done();
  exits(0);
  EXPECT_THAT(done(), IsEmpty());
  closes_output();
  unit({});
  EXPECT_EQ(life_.end(true).status.code, 3);
}

TEST_F(ChildLifecycleTest, NothingLeadsOutOfOver) {
  starts();
  exits(0);
  closes_output();
  unit({});
  done();
  starts();
  life_.on_start_failed({1, "no"}, now_);
  exits(1);
  closes_output();
  unit({leader_});
  life_.on_orphan_ended(out_);
  take_down();
  passes(seconds(10));
  EXPECT_TRUE(life_.is_over());
  EXPECT_FALSE(life_.deadline());
  EXPECT_THAT(done(), IsEmpty());
  EXPECT_EQ(reason(), EndReason::exited);
}

}  // namespace
}  // namespace sitter
