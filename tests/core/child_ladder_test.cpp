#include "support/lifecycle_script.hpp"

namespace sitter {
namespace {

using State = ChildLifecycle::State;

/// How a child is taken down.
class ChildLadderTest : public ChildLifecycleTest {};

TEST_F(ChildLadderTest, AKillOverridesAnEarlierEndOfStdoutAsTheReason) {
  starts();
  life_.on_output_ended(ladder_, now_, out_);
  take_down();
  exits(0);
  closes_output();
  unit({});
  EXPECT_EQ(reason(), EndReason::killed_by_sitter);
}

TEST_F(ChildLadderTest, FromUpThroughClosingTerminatingKilling) {
  starts();
  take_down();
  EXPECT_EQ(life_.state(), State::closing);
  EXPECT_THAT(done(), ElementsAre("look", "close"));
  passes(milliseconds(499));
  EXPECT_EQ(life_.state(), State::closing);
  passes(milliseconds(1));
  EXPECT_EQ(life_.state(), State::terminating);
  EXPECT_THAT(done(), ElementsAre("terminate"));
  passes(milliseconds(500));
  EXPECT_EQ(life_.state(), State::killing);
  EXPECT_THAT(done(), ElementsAre("kill"));
  passes(milliseconds(1999));
  EXPECT_EQ(life_.state(), State::killing);
  passes(milliseconds(1));
  EXPECT_TRUE(life_.is_over());
  EXPECT_THAT(done(), ElementsAre("release"));
  EXPECT_EQ(reason(), EndReason::given_up);
  EXPECT_EQ(life_.end(true).why, "it did not end within 2 s after SIGKILL");
  EXPECT_EQ(life_.end(true).lifetime, seconds(3));
}

TEST_F(ChildLadderTest, FromEachRungToDraining) {
  for (const int rungs : {0, 1, 2}) {
    ChildLifecycle life(1, now_);
    life.on_started({1, 100}, now_, out_);
    life.take_down(EndReason::killed_by_sitter, "", ladder_, now_, out_);
    for (int n = 0; n < rungs; ++n) {
      now_.steady += milliseconds(500);
      life.on_timeout(now_, out_);
    }
    done();
    life.on_exited({0, ""}, now_, out_);
    EXPECT_EQ(life.state(), State::draining);
    // The processes that a child leaves behind are treated no more gently than the child.
    EXPECT_THAT(done(), ElementsAre(rungs == 2 ? "kill" : "terminate"));
    life.on_unit_signalled({1, {}}, now_, out_);
    EXPECT_EQ(life.deadline(), now_.steady + milliseconds(300));
  }
}

TEST_F(ChildLadderTest, AServerKeepsItsGraceIfItsWrapperDiesOfSigterm) {
  ladder_ = {milliseconds(500), milliseconds(3000), milliseconds(5000)};
  starts();
  take_down();
  passes(milliseconds(500));
  exits(143, "SIGTERM");
  closes_output();
  unit({grandchild_});
  done();
  passes(milliseconds(2999));
  EXPECT_THAT(done(), IsEmpty());
  passes(milliseconds(1));
  EXPECT_EQ(life_.state(), State::draining);
  EXPECT_THAT(done(), ElementsAre("kill"));
  unit({grandchild_});
  life_.on_orphan_ended(out_);
  unit({});
  EXPECT_TRUE(life_.is_over());
  EXPECT_THAT(life_.killed(), SizeIs(1));
  EXPECT_EQ(life_.killed()[0].how, "SIGKILL");
}

TEST_F(ChildLadderTest, TheRungsHaveTheWordsOfTheSystem) {
  const EndWords words{.asked = "asked to end", .killed = "terminated", .kill = "TerminateProcess"};
  life_ = ChildLifecycle(1, now_, words);
  starts();
  take_down();
  passes(milliseconds(500));
  unit({leader_});
  EXPECT_EQ(life_.killed()[0].how, "asked to end");
  passes(milliseconds(500));
  unit({leader_});
  EXPECT_EQ(life_.killed()[0].how, "terminated");
  passes(limits::kGiveUpAfterKill);
  EXPECT_EQ(life_.end(true).why, "it did not end within 2 s after TerminateProcess");
}

TEST_F(ChildLadderTest, TheLastWordsOfAServerThatOutlivesItsWrapperAreStillRead) {
  ladder_ = {milliseconds(500), milliseconds(3000), milliseconds(5000)};
  starts();
  take_down();
  passes(milliseconds(500));
  exits(143, "SIGTERM");
  unit({grandchild_});
  passes(milliseconds(2000));
  life_.on_orphan_ended(out_);
  unit({});
  EXPECT_FALSE(life_.is_over());
  passes(milliseconds(299));
  EXPECT_FALSE(life_.is_over());
  closes_output();
  EXPECT_TRUE(life_.is_over());
}

TEST_F(ChildLadderTest, AServerKeepsItsGraceIfItsWrapperExitsOnEndOfInput) {
  starts();
  take_down();
  exits(0);
  unit({grandchild_});
  done();
  EXPECT_EQ(life_.deadline(), now_.steady + milliseconds(500));
  passes(milliseconds(500));
  EXPECT_THAT(done(), ElementsAre("kill"));
  // A process that survives SIGKILL is given up.
  passes(milliseconds(300));
  EXPECT_THAT(done(), ElementsAre("release"));
}

TEST_F(ChildLadderTest, AShorterLadderAlsoAppliesToRemainingDescendants) {
  ladder_ = {milliseconds(500), milliseconds(3000), milliseconds(5000)};
  starts();
  take_down();
  exits(0);
  unit({grandchild_});
  done();
  ladder_ = {milliseconds(0), milliseconds(200), milliseconds(200)};
  take_down(EndReason::shut_down);
  EXPECT_EQ(life_.deadline(), now_.steady + milliseconds(200));
  passes(milliseconds(200));
  EXPECT_THAT(done(), ElementsAre("kill"));
}

TEST_F(ChildLadderTest, AShorterLadderDoesNotCutOffTheOutput) {
  starts();
  take_down();
  exits(0);
  unit({});
  ladder_ = {};
  take_down(EndReason::shut_down);
  EXPECT_FALSE(life_.is_over());
  EXPECT_EQ(life_.deadline(), now_.steady + milliseconds(300));
}

TEST_F(ChildLadderTest, AProcessThatMayNotBeSignalledIsGivenUp) {
  starts();
  take_down();
  Process refused = leader_;
  refused.refused = "Operation not permitted";
  unit({refused});
  passes(milliseconds(500));
  unit({refused});
  EXPECT_EQ(life_.state(), State::terminating);
  passes(milliseconds(500));
  unit({refused});
  EXPECT_TRUE(life_.is_over());
  EXPECT_EQ(reason(), EndReason::given_up);
  EXPECT_EQ(life_.end(true).why, "Operation not permitted");
}

TEST_F(ChildLadderTest, ADescendantThatMayNotBeSignalledDoesNotEndTheWait) {
  starts();
  take_down();
  passes(milliseconds(1000));
  passes(milliseconds(0));
  Process refused = grandchild_;
  refused.refused = "Operation not permitted";
  unit({leader_, refused});
  EXPECT_FALSE(life_.is_over());
}

TEST_F(ChildLadderTest, TheFirstReasonStays) {
  starts();
  take_down(EndReason::opening_timed_out);
  take_down(EndReason::killed_by_sitter);
  take_down(EndReason::shut_down);
  EXPECT_EQ(life_.taken_down_for(), EndReason::opening_timed_out);
  EXPECT_THAT(done(), ElementsAre("look", "close"));
}

TEST_F(ChildLadderTest, ALaterOrderMayOnlyShortenTheLadder) {
  starts();
  take_down();
  done();
  const auto deadline = life_.deadline();
  ladder_ = {seconds(10), seconds(10), seconds(10)};
  take_down();
  EXPECT_EQ(life_.deadline(), deadline);
  ladder_ = {milliseconds(0), milliseconds(200), milliseconds(200)};
  take_down();
  EXPECT_EQ(life_.state(), State::terminating);
  EXPECT_THAT(done(), ElementsAre("terminate"));
  EXPECT_EQ(life_.deadline(), now_.steady + milliseconds(200));
  ladder_ = {milliseconds(0), milliseconds(0), milliseconds(0)};
  take_down();
  EXPECT_EQ(life_.state(), State::killing);
}

TEST_F(ChildLadderTest, ALaterOrderDoesNotPostponeTheNextStep) {
  starts();
  take_down();
  passes(milliseconds(400));
  take_down();
  passes(milliseconds(100));
  EXPECT_EQ(life_.state(), State::terminating);
}

TEST_F(ChildLadderTest, SkipsAStageOfZeroLength) {
  ladder_.close = {};
  starts();
  take_down();
  EXPECT_EQ(life_.state(), State::terminating);
  EXPECT_THAT(done(), ElementsAre("look", "close", "terminate"));
}

TEST_F(ChildLadderTest, ARemoteRunnerHasItsOwnSecondRung) {
  starts();
  take_down();
  unit({leader_, {101, false, "docker", "", true}});
  passes(milliseconds(500));
  EXPECT_EQ(life_.deadline(), now_.steady + milliseconds(5000));
}

TEST_F(ChildLadderTest, ARemoteRunnerHasItsTimeAlsoWithoutAFirstRung) {
  ladder_ = {milliseconds(0), milliseconds(0), milliseconds(5000)};
  starts();
  take_down();
  EXPECT_THAT(done(), ElementsAre("look", "close", "terminate"));
  unit({{100, true, "docker run x", "", true}});
  passes(milliseconds(4999));
  EXPECT_THAT(done(), IsEmpty());
  passes(milliseconds(1));
  EXPECT_THAT(done(), ElementsAre("kill"));
}

TEST_F(ChildLadderTest, ASecondOrderDoesNotChangeAKillThatHasBegun) {
  starts();
  take_down();
  passes(milliseconds(500));
  passes(milliseconds(500));
  done();
  take_down();
  EXPECT_EQ(life_.state(), State::killing);
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(ChildLadderTest, WhatEndedEachProcessIsRemembered) {
  starts();
  take_down();
  unit({leader_, grandchild_, {102, false, "other", ""}});
  passes(milliseconds(500));
  unit({leader_, grandchild_});
  passes(milliseconds(500));
  unit({leader_, {103, false, "new", ""}});
  exits(137, "SIGKILL");
  unit({});
  closes_output();
  const auto killed = life_.killed();
  ASSERT_THAT(killed, SizeIs(4));
  EXPECT_EQ(killed[0].relation, "child");
  EXPECT_EQ(killed[0].how, "SIGKILL");
  EXPECT_EQ(killed[1].relation, "descendant");
  EXPECT_EQ(killed[1].how, "SIGTERM");
  EXPECT_EQ(killed[2].how, "stdin closed");
  EXPECT_EQ(killed[3].how, "SIGKILL");
  EXPECT_EQ(reason(), EndReason::killed_by_sitter);
}

}  // namespace
}  // namespace sitter
