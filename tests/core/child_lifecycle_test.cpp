#include "core/child/child_lifecycle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sitter/limits.hpp"

namespace sitter {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using State = ChildLifecycle::State;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ChildLifecycleTest : public ::testing::Test {
 protected:
  using Process = fact::UnitSignalled::Process;

  void starts() { life_.on_started({1, 100}, now_, out_); }
  void exits(int code, const std::string& signal = "") {
    life_.on_exited({code, signal}, now_, out_);
  }
  void closes_output() {
    life_.on_output_ended(ladder_, now_, out_);
    life_.on_error_ended(out_);
  }
  void unit(std::vector<Process> processes) {
    life_.on_unit_signalled({1, std::move(processes)}, now_, out_);
  }
  void take_down(EndReason reason = EndReason::killed_by_sitter) {
    life_.take_down(reason, "", ladder_, now_, out_);
  }
  void passes(milliseconds time) {
    now_.steady += time;
    life_.on_timeout(now_, out_);
  }
  std::vector<std::string> done() {
    std::vector<std::string> words;
    while (const auto order = out_.pop()) {
      if (const auto* const signal = std::get_if<order::SignalUnit>(&*order)) {
        using How = order::SignalUnit::How;
        words.push_back(signal->how == How::look   ? "look"
                        : signal->how == How::kill ? "kill"
                                                   : "terminate");
      } else if (std::holds_alternative<order::CloseChildInput>(*order)) {
        words.push_back("close");
      } else if (std::holds_alternative<order::ReleaseChild>(*order)) {
        words.push_back("release");
      }
    }
    return words;
  }
  EndReason reason(bool was_opened = true) { return life_.end(was_opened).reason; }

  const Process leader_{100, true, "server", ""};
  const Process grandchild_{101, false, "helper", ""};
  ChildLifecycle::Ladder ladder_{milliseconds(500), milliseconds(500), milliseconds(5000)};
  Now now_{Instant() + seconds(10), {}};
  ChildLifecycle life_{1, now_};
  Orders out_;
};

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

TEST_F(ChildLifecycleTest, SitterKillExplainsAnEndOfStdoutThatCameBefore) {
  starts();
  life_.on_output_ended(ladder_, now_, out_);
  take_down();
  exits(0);
  closes_output();
  unit({});
  EXPECT_EQ(reason(), EndReason::killed_by_sitter);
}

TEST_F(ChildLifecycleTest, FromUpThroughClosingTerminatingKilling) {
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

TEST_F(ChildLifecycleTest, FromEachRungToDraining) {
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

TEST_F(ChildLifecycleTest, AServerHasItsRungWhenTheWrapperAroundItDiesOfTheFirstSignal) {
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

TEST_F(ChildLifecycleTest, TheLastWordsOfAServerThatOutlivesItsWrapperAreStillRead) {
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

TEST_F(ChildLifecycleTest, AServerHasItsRungWhenTheWrapperAroundItEndsWithItsInput) {
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

TEST_F(ChildLifecycleTest, TheRestOfAUnitIsHurriedToo) {
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

TEST_F(ChildLifecycleTest, AHurryDoesNotCutOffTheOutput) {
  starts();
  take_down();
  exits(0);
  unit({});
  ladder_ = {};
  take_down(EndReason::shut_down);
  EXPECT_FALSE(life_.is_over());
  EXPECT_EQ(life_.deadline(), now_.steady + milliseconds(300));
}

TEST_F(ChildLifecycleTest, AProcessThatMayNotBeSignalledIsGivenUp) {
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

TEST_F(ChildLifecycleTest, ADescendantThatMayNotBeSignalledDoesNotEndTheWait) {
  starts();
  take_down();
  passes(milliseconds(1000));
  passes(milliseconds(0));
  Process refused = grandchild_;
  refused.refused = "Operation not permitted";
  unit({leader_, refused});
  EXPECT_FALSE(life_.is_over());
}

TEST_F(ChildLifecycleTest, TheFirstReasonStays) {
  starts();
  take_down(EndReason::opening_timed_out);
  take_down(EndReason::killed_by_sitter);
  take_down(EndReason::shut_down);
  EXPECT_EQ(life_.taken_down_for(), EndReason::opening_timed_out);
  EXPECT_THAT(done(), ElementsAre("look", "close"));
}

TEST_F(ChildLifecycleTest, ALaterOrderMayOnlyHurry) {
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

TEST_F(ChildLifecycleTest, AHurryThatComesLateDoesNotPutOff) {
  starts();
  take_down();
  passes(milliseconds(400));
  take_down();
  passes(milliseconds(100));
  EXPECT_EQ(life_.state(), State::terminating);
}

TEST_F(ChildLifecycleTest, ARungOfNoLengthIsSteppedOver) {
  ladder_.close = {};
  starts();
  take_down();
  EXPECT_EQ(life_.state(), State::terminating);
  EXPECT_THAT(done(), ElementsAre("look", "close", "terminate"));
}

TEST_F(ChildLifecycleTest, ARemoteRunnerHasItsOwnSecondRung) {
  starts();
  take_down();
  unit({leader_, {101, false, "docker", "", true}});
  passes(milliseconds(500));
  EXPECT_EQ(life_.deadline(), now_.steady + milliseconds(5000));
}

TEST_F(ChildLifecycleTest, ASecondOrderDoesNotChangeAKillThatHasBegun) {
  starts();
  take_down();
  passes(milliseconds(500));
  passes(milliseconds(500));
  done();
  take_down();
  EXPECT_EQ(life_.state(), State::killing);
  EXPECT_THAT(done(), IsEmpty());
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

TEST_F(ChildLifecycleTest, ARemoteRunnerHasItsTimeAlsoWithoutAFirstRung) {
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

TEST_F(ChildLifecycleTest, WhatEndedEachProcessIsRemembered) {
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
