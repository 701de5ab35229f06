#include "core/report/notices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace sitter {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::string_view kPlain = R"json({"content":[{"type":"text","text":"x"}]})json";
constexpr std::string_view kStructured = R"json({"content":[],"structuredContent":{"a":1}})json";

class NoticesTest : public ::testing::Test {
 protected:
  static RestartNotice restart(int spawn) {
    RestartNotice notice;
    notice.spawn = spawn;
    return notice;
  }
  /// The result with the notice in it, and whether the notice counts as told.
  std::pair<std::string, bool> put(std::string_view result) {
    const OwnedLine line(result);
    Edits edits(line.line());
    const bool is_told = notices_.put("1", line.text(), known_, edits);
    return {edits.apply(), is_told};
  }

  Notices notices_;
  NoticeFacts known_;
};

TEST_F(NoticesTest, ARestartIsToldOnceAndBeforeTheResult) {
  EXPECT_FALSE(notices_.has_any());
  notices_.on_restart(restart(2));
  EXPECT_TRUE(notices_.has_any());
  const auto [text, is_told] = put(kPlain);
  EXPECT_TRUE(is_told);
  EXPECT_THAT(text, StartsWith(R"json({"content":[{"type":"text","text":"[mcp-sitter])json"));
  EXPECT_FALSE(notices_.has_any());
}

TEST_F(NoticesTest, MergesUnreadRestartsIntoOneNotice) {
  notices_.on_restart(restart(2));
  notices_.on_restart(restart(3));
  EXPECT_EQ(notices_.restart()->restarts, 2);
  EXPECT_EQ(notices_.restart()->spawn, 3);
}

TEST_F(NoticesTest, IsAddedOnceBesideStructuredContentAndStaysPending) {
  notices_.on_restart(restart(2));
  EXPECT_TRUE(notices_.fits(kStructured));
  EXPECT_FALSE(put(kStructured).second);
  EXPECT_FALSE(notices_.fits(kStructured));
  EXPECT_TRUE(notices_.fits(kPlain));
  EXPECT_TRUE(put(kPlain).second);
}

TEST_F(NoticesTest, FitsOnlyIntoAResultThatAModelReads) {
  notices_.on_restart(restart(2));
  EXPECT_FALSE(notices_.fits("{}"));
  EXPECT_FALSE(notices_.fits(R"json({"content":[],"task":{"id":"t"}})json"));
  EXPECT_FALSE(notices_.fits(R"json({"content":[],"resultType":"input_required"})json"));
  EXPECT_TRUE(notices_.fits(R"json({"content":[],"resultType":"complete"})json"));
  EXPECT_TRUE(notices_.fits(R"json({"content":[],"resultType":"\u0063omplete"})json"));
  EXPECT_TRUE(notices_.fits(R"json({"content":[],"structuredContent":null})json"));
}

TEST_F(NoticesTest, NamesOldCodeLastAndDoesNotRepeatIt) {
  notices_.on_restart(restart(2));
  known_.old_code = "a.py changed";
  EXPECT_THAT(notices_.tell("7", known_), AllOf(StartsWith("[mcp-sitter] server restarted"),
                                                HasSubstr("\n[mcp-sitter] a.py changed")));
  EXPECT_TRUE(notices_.has_shown_old_code());
  EXPECT_TRUE(notices_.on_answered_cancelled("7"));
  known_.old_code.clear();
  EXPECT_THAT(notices_.text(known_), AllOf(HasSubstr("server restarted"), Not(HasSubstr("a.py"))));
  notices_.tell("8", known_);
  EXPECT_FALSE(notices_.has_shown_old_code());
  EXPECT_FALSE(notices_.on_answered_cancelled("8"));
}

TEST_F(NoticesTest, NewsIsAddedBesideStructuredContentOnceMore) {
  notices_.on_restart(restart(2));
  put(kStructured);
  notices_.on_news();
  EXPECT_TRUE(notices_.fits(kStructured));
}

TEST_F(NoticesTest, RepeatsTheNoticeOfACancelledCall) {
  notices_.on_restart(restart(2));
  const std::string text = notices_.tell("7", known_);
  notices_.on_answered_cancelled("8");
  EXPECT_FALSE(notices_.has_any());
  notices_.on_answered_cancelled("7.0");
  EXPECT_TRUE(notices_.has_any());
  EXPECT_EQ(notices_.text(known_), text);
  notices_.on_answered_cancelled("7");
  notices_.tell("9", known_);
  EXPECT_FALSE(notices_.has_any()) << "it is told again once";
}

TEST_F(NoticesTest, ReportsTheNewestFailedReplays) {
  for (std::size_t i = 0; i < limits::kReplayFailuresMax; ++i) {
    notices_.add_replay_failure("call " + std::to_string(i) + ".");
  }
  EXPECT_THAT(notices_.text(known_), HasSubstr("call 0."));
  notices_.add_replay_failure("one more.");
  EXPECT_THAT(notices_.text(known_),
              AllOf(Not(HasSubstr("call 0.")), HasSubstr("call 1."), HasSubstr("one more.")));
}

TEST_F(NoticesTest, AReloadThatFailedIsForgottenWhenTheNextBringsAServer) {
  notices_.on_reload_failed("it failed");
  EXPECT_EQ(notices_.text(known_), "it failed");
  notices_.forget_reload_failure();
  EXPECT_FALSE(notices_.has_any());
}

TEST_F(NoticesTest, FailedStartsAreCountedFromTheLastNoticeOn) {
  known_.failed_start = ChildEnd{EndReason::crashed, {3, ""}};
  notices_.on_failed_start();
  EXPECT_FALSE(notices_.has_any()) << "each was told to whoever waited for it";
  notices_.on_restart(restart(2));
  EXPECT_THAT(notices_.tell("1", known_), HasSubstr("exit 3"));
  notices_.on_restart(restart(3));
  EXPECT_THAT(notices_.tell("2", known_), Not(HasSubstr("exit 3")));
}

TEST_F(NoticesTest, EventsAfterAShownTextStayPending) {
  known_.watch_problem = "before";
  notices_.on_restart(restart(2));
  notices_.on_failed_start();
  notices_.add_replay_failure("first");
  notices_.on_reload_failed("old reload");
  const std::string text = notices_.show(known_);
  EXPECT_THAT(text, AllOf(HasSubstr("spawn #2"), HasSubstr("first"), HasSubstr("old reload")));
  EXPECT_EQ(notices_.shown_watch_problem(), "before");
  notices_.add_replay_failure("second");
  notices_.on_reload_failed("new reload");
  notices_.on_failed_start();
  notices_.tell_shown("1");
  EXPECT_EQ(notices_.restart(), nullptr);
  notices_.on_restart(restart(3));
  EXPECT_THAT(
      notices_.show(known_),
      AllOf(HasSubstr("spawn #3"), HasSubstr("1 start failed"), HasSubstr("second"),
            HasSubstr("new reload"), Not(HasSubstr("first\n")), Not(HasSubstr("old reload"))));
}

TEST_F(NoticesTest, FindingsOfTheLintAreToldUpToABound) {
  for (std::size_t i = 0; i < limits::kLintShownMax; ++i) known_.lint.push_back("finding");
  known_.lint.back() = "the last";
  known_.status_tool = "sitter_status";
  EXPECT_THAT(notices_.show(known_), AllOf(StartsWith("[mcp-sitter] lint: finding\n"),
                                           EndsWith("\n[mcp-sitter] lint: the last")));
  EXPECT_EQ(notices_.shown_lint(), known_.lint);
  known_.lint.push_back("one more");
  EXPECT_THAT(notices_.show(known_),
              EndsWith("\n[mcp-sitter] lint: 1 more finding: sitter_status shows all"));
  EXPECT_EQ(notices_.shown_lint(), known_.lint);
}

TEST_F(NoticesTest, NewFindingsAreAddedBesideStructuredContentAgain) {
  known_.lint = {"finding"};
  EXPECT_FALSE(put(kStructured).second);
  EXPECT_FALSE(notices_.fits(kStructured));
  notices_.on_news();
  EXPECT_TRUE(notices_.fits(kStructured));
}

TEST_F(NoticesTest, AShownTextStaysPendingUntilItIsSent) {
  notices_.on_restart(restart(2));
  const std::string text = notices_.show(known_);
  EXPECT_TRUE(notices_.has_any());
  notices_.tell_shown("1");
  EXPECT_FALSE(notices_.has_any());
  notices_.on_answered_cancelled("1");
  EXPECT_EQ(notices_.tell("2", known_), text);
}

}  // namespace
}  // namespace sitter
