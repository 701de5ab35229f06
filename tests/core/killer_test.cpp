#include "core/child/killer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <variant>
#include <vector>

#include "core/report/kill.hpp"

namespace sitter {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using How = order::SignalUnit::How;

const Killer::Caller kFirst{RequestHandle{1}};
const Killer::Caller kSecond{RequestHandle{2}};
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
  bool swept(std::vector<fact::ImageSwept::Process> processes,
             std::vector<fact::ImageSwept::Process> left_alone = {}) {
    return killer_.on_swept({std::move(processes), std::move(left_alone)}, now_);
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

TEST_F(KillerTest, KillsTerminatedProcessesAfterTheGrace) {
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

TEST_F(KillerTest, TheReportHasTheWordsOfTheSystem) {
  Killer killer(kGrace, {.killed = "terminated", .asked_alone = "ended"});
  killer.begin(kFirst, KillScope::automatic);
  killer.on_children_over(out_);
  killer.on_swept({{{7, "a"}, {8, "b"}}, {}}, now_);
  now_.steady += kGrace;
  killer.on_timeout(now_, out_);
  killer.on_swept({{{8, "b"}}, {}}, now_);
  const auto killed = killer.finish({})->report.killed;
  ASSERT_EQ(killed.size(), 2u);
  EXPECT_EQ(killed[0].how, "ended");
  EXPECT_EQ(killed[1].how, "terminated");
}

TEST_F(KillerTest, ASitterThatWasAskedHasTimeForItsOwnKill) {
  killer_.begin(kFirst, KillScope::same_file);
  killer_.on_children_over(out_);
  sweeps();
  EXPECT_FALSE(swept({{7, "a"}, {8, "b", 70}, {9, "c", 70}}));
  time_passes(limits::kAskedSitterWait + 2 * kGrace - Milliseconds(1));
  EXPECT_THAT(sweeps(), IsEmpty());
  time_passes(Milliseconds(1));
  EXPECT_THAT(sweeps(), ElementsAre(std::pair(KillScope::same_file, How::kill)));
  EXPECT_TRUE(swept({{9, "c"}}));
  const auto killed = killer_.finish({})->report.killed;
  ASSERT_EQ(killed.size(), 3u);
  EXPECT_EQ(killed[1].how, "by its mcp-sitter (pid 70)");
  EXPECT_EQ(killed[2].how, "SIGKILL");
}

TEST_F(KillerTest, ReportsWhatTheLastSweepHasLeftAlone) {
  killer_.begin(kFirst, KillScope::automatic);
  killer_.on_children_over(out_);
  swept({{7, "a"}}, {{8, "b x"}, {9, "b", 90}});
  time_passes(kGrace);
  swept({}, {{9, "b", 90}, {10, "b y"}});
  const auto left = killer_.finish({})->report.left_alone;
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0].reason, "it is the server of another mcp-sitter (pid 90)");
  EXPECT_EQ(left[1].pid, 10);
  EXPECT_EQ(left[1].reason, "it runs with other arguments");
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

SharedImage shared_by(std::size_t count) {
  SharedImage shared{"/usr/bin/node", {}};
  for (std::size_t i = 1; i <= count; ++i) {
    shared.others.push_back({static_cast<std::int64_t>(100 + i), "node app.js"});
  }
  return shared;
}

TEST(RefusalTextTest, NamesTheFileAndWhoWouldHaveEnded) {
  EXPECT_EQ(refusal_text({"/usr/bin/node", {{101, "node app.js"}, {102, "node"}}}),
            "Nothing was ended. The scope same-executable would end every process that runs "
            "/usr/bin/node, which other programs run too. These processes would have ended:\n"
            "101 node app.js\n"
            "102 node\n"
            "The scope auto ends the server and all that it started, and leaves other programs "
            "alone. Only the user can allow more, by starting mcp-sitter with --allow-wide-kill.");
}

TEST(RefusalTextTest, SaysThatNobodyElseRunsIt) {
  EXPECT_THAT(refusal_text(shared_by(0)),
              AllOf(HasSubstr("At the moment, no such process is running.\nThe scope auto"),
                    Not(HasSubstr("would have ended"))));
}

TEST(RefusalTextTest, NamesTwentyAndCountsTheRest) {
  ASSERT_EQ(limits::kShownStrangersMax, 20u);
  EXPECT_THAT(refusal_text(shared_by(20)), AllOf(HasSubstr("\n120 "), Not(HasSubstr("more\n"))));
  EXPECT_THAT(refusal_text(shared_by(21)),
              AllOf(HasSubstr("\n120 node app.js\nand 1 more\n"), Not(HasSubstr("121"))));
}

TEST(KillTextTest, ListsWhatWasKilled) {
  KillReport report;
  report.path = "/w/server";
  report.killed = {{10, "child", "server --x", "SIGTERM"}};
  EXPECT_EQ(kill_text(report), R"json({
  "killed": [
    {
      "pid": 10,
      "relation": "child",
      "command": "server --x",
      "how": "SIGTERM"
    }
  ],
  "path": "/w/server",
  "count": 1
})json");
}

TEST(KillTextTest, ListsWhatWasLeftAloneBehindTheCountAndHowToEndIt) {
  KillReport report;
  report.left_alone = {{11, "server serve", "it runs with other arguments"}};
  EXPECT_EQ(kill_text(report), R"json({
  "killed": [],
  "path": null,
  "count": 0,
  "leftAlone": [
    {
      "pid": 11,
      "command": "server serve",
      "reason": "it runs with other arguments"
    }
  ],
  "note": "The scope same-executable ends what leftAlone names."
})json");
}

TEST(KillTextTest, NamesTwentyOfThoseThatWereLeftAlone) {
  KillReport report;
  report.note = "One could not be ended.";
  report.left_alone.resize(20);
  EXPECT_THAT(kill_text(report), Not(HasSubstr("20 of")));
  report.left_alone.resize(21);
  EXPECT_THAT(kill_text(report), HasSubstr("\"note\": \"One could not be ended. leftAlone names 20 "
                                           "of 21. The scope same-executable ends"));
}

TEST(KillTextTest, NothingToKillIsAnEmptyListWithItsReason) {
  KillReport report;
  report.note = "nothing was running";
  EXPECT_EQ(kill_text(report), R"json({
  "killed": [],
  "path": null,
  "count": 0,
  "note": "nothing was running"
})json");
}

}  // namespace
}  // namespace sitter
