#include "core/child/killer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <variant>
#include <vector>

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using How = order::SignalUnit::How;

constexpr RequestHandle kFirst{1};
constexpr RequestHandle kSecond{2};
constexpr Milliseconds kGrace{500};

class KillerTest : public ::testing::Test {
 protected:
  /// The scopes and signals of the sweeps that were ordered since the last call.
  std::vector<std::pair<KillScope, How>> sweeps() {
    std::vector<std::pair<KillScope, How>> sweeps;
    while (const auto order = out_.poll()) {
      const auto& sweep = std::get<order::SweepImage>(*order);
      sweeps.emplace_back(sweep.scope, sweep.how);
    }
    return sweeps;
  }
  bool swept(std::vector<fact::ImageSwept::Process> processes) {
    return killer_.on_swept({std::move(processes)}, now_);
  }
  void time_passes(Milliseconds duration) {
    now_.steady += duration;
    killer_.on_timeout(now_, out_);
  }

  Now now_{};
  Orders out_;
  Killer killer_{kGrace};
};

TEST_F(KillerTest, WithoutAKillThereIsNothingToDo) {
  EXPECT_FALSE(killer_.is_killing());
  EXPECT_FALSE(killer_.on_children_over(out_));
  EXPECT_FALSE(swept({{7, "a"}}));
  EXPECT_FALSE(killer_.finish("/w/server"));
  EXPECT_EQ(killer_.count(), 0);
}

TEST_F(KillerTest, TheScopeChildSweepsNothing) {
  killer_.begin(kFirst, KillScope::child);
  killer_.add({{10, "child", "server", "SIGTERM"}});
  EXPECT_FALSE(killer_.finish({})) << "the children are not over";
  EXPECT_TRUE(killer_.on_children_over(out_));
  EXPECT_THAT(sweeps(), IsEmpty());
  const auto result = killer_.finish("/w/server");
  ASSERT_TRUE(result);
  EXPECT_THAT(result->callers, ElementsAre(kFirst));
  EXPECT_EQ(result->report.killed.size(), 1u);
  EXPECT_EQ(result->report.path, "/w/server");
  EXPECT_FALSE(killer_.is_killing());
  EXPECT_EQ(killer_.count(), 1);
}

TEST_F(KillerTest, WhatASweepHasTerminatedIsKilledAfterTheGrace) {
  killer_.begin(kFirst, KillScope::automatic);
  EXPECT_FALSE(killer_.on_children_over(out_));
  EXPECT_FALSE(killer_.on_children_over(out_)) << "one sweep is enough";
  EXPECT_THAT(sweeps(), ElementsAre(std::pair(KillScope::automatic, How::terminate)));
  EXPECT_FALSE(swept({{7, "a"}, {8, "b"}}));
  time_passes(kGrace - Milliseconds(1));
  EXPECT_THAT(sweeps(), IsEmpty());
  time_passes(Milliseconds(1));
  EXPECT_EQ(killer_.deadline(), std::nullopt);
  EXPECT_THAT(sweeps(), ElementsAre(std::pair(KillScope::automatic, How::kill)));
  EXPECT_TRUE(swept({{8, "b"}}));
  const auto result = killer_.finish({});
  ASSERT_TRUE(result);
  ASSERT_EQ(result->report.killed.size(), 2u);
  EXPECT_EQ(result->report.killed[0].how, "SIGTERM");
  EXPECT_EQ(result->report.killed[1].how, "SIGKILL");
}

TEST_F(KillerTest, ASweepThatFindsNothingIsTheLast) {
  killer_.begin(kFirst, KillScope::automatic);
  killer_.on_children_over(out_);
  EXPECT_TRUE(swept({}));
  killer_.finish({});
  EXPECT_EQ(killer_.count(), 0) << "nothing was ended";
}

TEST_F(KillerTest, CallsThatComeMeanwhileAreAnsweredTogether) {
  killer_.begin(kFirst, KillScope::automatic);
  killer_.begin(kSecond, KillScope::child);
  killer_.on_children_over(out_);
  EXPECT_THAT(sweeps(), ElementsAre(std::pair(KillScope::automatic, How::terminate)));
  swept({});
  EXPECT_THAT(killer_.finish({})->callers, ElementsAre(kFirst, kSecond));
}

TEST_F(KillerTest, AWiderScopeSweepsOnceMore) {
  killer_.begin(kFirst, KillScope::automatic);
  killer_.on_children_over(out_);
  killer_.begin(kSecond, KillScope::same_executable);
  EXPECT_FALSE(swept({{7, "a"}})) << "that was the narrower one";
  EXPECT_FALSE(killer_.on_children_over(out_));
  EXPECT_THAT(sweeps(), ElementsAre(std::pair(KillScope::automatic, How::terminate),
                                    std::pair(KillScope::same_executable, How::terminate)));
  EXPECT_TRUE(swept({}));
  const auto result = killer_.finish({});
  EXPECT_THAT(result->callers, ElementsAre(kFirst, kSecond));
  EXPECT_EQ(result->report.killed.size(), 1u);
}

TEST_F(KillerTest, AWiderScopeThatComesWhileTheReportIsDueDelaysIt) {
  killer_.begin(kFirst, KillScope::child);
  EXPECT_TRUE(killer_.on_children_over(out_));
  killer_.begin(kSecond, KillScope::automatic);
  EXPECT_FALSE(killer_.finish({}));
  killer_.on_children_over(out_);
  EXPECT_TRUE(swept({}));
  EXPECT_THAT(killer_.finish({})->callers, ElementsAre(kFirst, kSecond));
  EXPECT_FALSE(killer_.finish({}));
}

TEST_F(KillerTest, TheServerStaysDownUntilSomebodyWantsIt) {
  EXPECT_FALSE(killer_.is_wanted_down());
  killer_.begin(kFirst, KillScope::child);
  killer_.on_children_over(out_);
  killer_.finish({});
  EXPECT_TRUE(killer_.is_wanted_down());
  killer_.on_wanted();
  EXPECT_FALSE(killer_.is_wanted_down());
}

}  // namespace
}  // namespace sitter
