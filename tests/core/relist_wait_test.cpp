#include "core/client/relist_wait.hpp"

#include <gtest/gtest.h>

#include "core/client/client_facts.hpp"

namespace sitter {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class RelistWaitTest : public ::testing::Test {
 protected:
  /// Whether this time ends the wait.
  bool passes(milliseconds time) {
    now_.steady += time;
    const bool was_waiting = wait_.is_waiting();
    wait_.on_timeout(now_);
    return was_waiting && !wait_.is_waiting();
  }

  RelistWait wait_;
  Now now_{Instant() + seconds(10), {}};
};

TEST_F(RelistWaitTest, AClientThatNeverListsIsNotWaitedFor) {
  wait_.on_announced(now_, {});
  EXPECT_FALSE(wait_.is_waiting());
  EXPECT_FALSE(wait_.deadline());
}

TEST_F(RelistWaitTest, TheWaitEndsWithTheList) {
  wait_.on_listed(true, now_);
  wait_.on_announced(now_, {});
  EXPECT_TRUE(wait_.is_waiting());
  EXPECT_EQ(wait_.deadline(), now_.steady + milliseconds(750));
  wait_.on_listed(true, now_);
  EXPECT_FALSE(wait_.is_waiting());
  EXPECT_FALSE(passes(seconds(1)));
}

TEST_F(RelistWaitTest, TheWaitEndsWithItsTime) {
  wait_.on_listed(true, now_);
  wait_.on_announced(now_, {});
  EXPECT_FALSE(passes(milliseconds(749)));
  EXPECT_TRUE(wait_.is_waiting());
  EXPECT_TRUE(passes(milliseconds(1)));
  EXPECT_FALSE(wait_.is_waiting());
  EXPECT_FALSE(passes(seconds(1)));
}

TEST_F(RelistWaitTest, StopsWaitingAfterTwoIgnoredAnnouncements) {
  wait_.on_listed(true, now_);
  for (int n = 0; n < 2; ++n) {
    wait_.on_announced(now_, {});
    EXPECT_TRUE(wait_.is_waiting());
    passes(milliseconds(750));
  }
  wait_.on_announced(now_, {});
  EXPECT_FALSE(wait_.is_waiting());
}

TEST_F(RelistWaitTest, AHeededAnnouncementResetsTheCount) {
  wait_.on_listed(true, now_);
  for (int n = 0; n < 5; ++n) {
    wait_.on_announced(now_, {});
    passes(milliseconds(750));
    wait_.on_announced(now_, {});
    EXPECT_TRUE(wait_.is_waiting());
    wait_.on_listed(true, now_);
  }
}

TEST_F(RelistWaitTest, AListLongAfterwardsHeedsNothing) {
  wait_.on_listed(true, now_);
  for (int n = 0; n < 2; ++n) {
    wait_.on_announced(now_, {});
    passes(milliseconds(750));
    wait_.on_listed(true, now_);
  }
  wait_.on_announced(now_, {});
  EXPECT_FALSE(wait_.is_waiting());
}

TEST_F(RelistWaitTest, APageThatIsNotTheLastHeedsButDoesNotEndTheWait) {
  wait_.on_listed(false, now_);
  for (int n = 0; n < 5; ++n) {
    wait_.on_announced(now_, {});
    EXPECT_TRUE(wait_.is_waiting());
    wait_.on_listed(false, now_);
    EXPECT_TRUE(wait_.is_waiting());
    EXPECT_TRUE(passes(milliseconds(750)));
  }
}

TEST_F(RelistWaitTest, ASecondAnnouncementProlongsNothingAndAddsItsTools) {
  wait_.on_listed(true, now_);
  wait_.on_announced(now_, {"a"});
  passes(milliseconds(500));
  wait_.on_announced(now_, {"b"});
  EXPECT_TRUE(wait_.has_other_output("a"));
  EXPECT_TRUE(wait_.has_other_output("b"));
  EXPECT_TRUE(passes(milliseconds(250)));
  wait_.on_announced(now_, {"c"});
  EXPECT_FALSE(wait_.has_other_output("a"));
  EXPECT_TRUE(wait_.has_other_output("c"));
}

TEST_F(RelistWaitTest, AClientThatListsOnlyOnceIsNotWaitedFor) {
  wait_.meet({.lists_again = false});
  wait_.on_listed(true, now_);
  wait_.on_announced(now_, {"a"}, true);
  EXPECT_FALSE(wait_.is_waiting());
}

TEST_F(RelistWaitTest, AClientThatNeedsAPauseHasItAfterItsList) {
  wait_.meet({.pause_after_list = milliseconds(100)});
  wait_.on_listed(true, now_);
  for (int n = 0; n < 5; ++n) {
    wait_.on_announced(now_, {});
    EXPECT_FALSE(passes(milliseconds(700)));
    wait_.on_listed(true, now_);
    EXPECT_FALSE(passes(milliseconds(50)));
    // Neither another list nor another announcement prolongs the pause.
    wait_.on_listed(true, now_);
    wait_.on_announced(now_, {});
    EXPECT_FALSE(passes(milliseconds(49)));
    EXPECT_TRUE(wait_.is_waiting());
    EXPECT_TRUE(passes(milliseconds(1)));
    EXPECT_FALSE(wait_.is_waiting());
  }
}

TEST_F(RelistWaitTest, APauseCountsAsHeedingTheAnnouncement) {
  wait_.meet({.pause_after_list = milliseconds(100)});
  wait_.on_listed(true, now_);
  wait_.on_announced(now_, {});
  wait_.on_listed(true, now_);
  EXPECT_TRUE(passes(milliseconds(100)));
  wait_.on_announced(now_, {});
  EXPECT_TRUE(passes(milliseconds(750)));
  wait_.on_announced(now_, {});
  EXPECT_TRUE(wait_.is_waiting());
}

TEST_F(RelistWaitTest, APauseThatIsGivenUpIsNotThatOfTheNextWait) {
  wait_.meet({.pause_after_list = milliseconds(100)});
  wait_.on_listed(true, now_);
  wait_.on_announced(now_, {});
  wait_.on_listed(true, now_);
  wait_.give_up();
  EXPECT_FALSE(wait_.is_waiting());
  wait_.on_announced(now_, {});
  wait_.on_listed(true, now_);
  EXPECT_EQ(wait_.deadline(), now_.steady + milliseconds(100));
}

TEST_F(RelistWaitTest, ItCanBeGivenUp) {
  wait_.on_listed(true, now_);
  wait_.on_announced(now_, {});
  wait_.give_up();
  EXPECT_FALSE(wait_.is_waiting());
  EXPECT_FALSE(passes(seconds(1)));
}

TEST(ClientFacts, AnUnknownClientHasTheDefaultFacts) {
  for (const auto* name :
       {"", "claude-code", "story", "codex-mcp-clients", "my-codex-mcp-client"}) {
    EXPECT_EQ(facts_of_client(name), ClientFacts{}) << name;
  }
  EXPECT_TRUE(ClientFacts{}.lists_again);
  EXPECT_EQ(ClientFacts{}.pause_after_list, Milliseconds::zero());
}

TEST(ClientFacts, SomeNeverListAgain) {
  for (const auto* name : {"codex-mcp-client", "qwen-cli-mcp-client-dev", "@cline/core"}) {
    EXPECT_FALSE(facts_of_client(name).lists_again) << name;
    EXPECT_EQ(facts_of_client(name).pause_after_list, Milliseconds::zero()) << name;
  }
}

TEST(ClientFacts, OthersNeedAPauseAfterTheirList) {
  const ClientFacts facts = facts_of_client("gemini-cli-mcp-client");
  EXPECT_TRUE(facts.lists_again);
  EXPECT_EQ(facts.pause_after_list, Milliseconds(100));
}

}  // namespace
}  // namespace sitter
