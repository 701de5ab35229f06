#include "core/child/cursors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/wire/json_view.hpp"

namespace sitter {
namespace {

enum class Way { onward, back, in_place, both };

class CursorsOfAChildTest : public ::testing::Test {
 protected:
  /// The page that the client has asked for by `asked`, which is empty for the first, gives `next`.
  Way add(const std::string& asked, const std::string& next, const std::string& items = "[]",
          Method list = Method::tools_list) {
    const auto step = cursors_.add(list, asked.empty() ? 0 : text_key(asked), items, next);
    if (step.leads_back) return step.repeats ? Way::both : Way::back;
    return step.repeats ? Way::in_place : Way::onward;
  }

  Cursors cursors_;
};

TEST_F(CursorsOfAChildTest, ACursorThatLeadsBackIsKnown) {
  EXPECT_EQ(add("", R"("a")"), Way::onward);
  EXPECT_EQ(add(R"("a")", R"("a")"), Way::back);
  EXPECT_EQ(add(R"("a")", R"("b")"), Way::onward);
  EXPECT_EQ(add(R"("b")", R"("\u0061")"), Way::back);
}

TEST_F(CursorsOfAChildTest, APageThatTheClientAsksForAgainLeadsOnward) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(add("", R"("a")", "[1]"), Way::onward);
    EXPECT_EQ(add(R"("a")", R"("b")", "[2]"), Way::onward);
    EXPECT_EQ(add(R"("a")", R"("b")", "[2]"), Way::onward);
    EXPECT_EQ(add(R"("b")", R"("c")", "[3]"), Way::onward);
  }
}

TEST_F(CursorsOfAChildTest, TheListsOfAChildAreApart) {
  EXPECT_EQ(add("", R"("a")"), Way::onward);
  EXPECT_EQ(add(R"("b")", R"("c")", "[]", Method::prompts_list), Way::onward);
  EXPECT_EQ(add(R"("a")", R"("b")"), Way::onward);
  EXPECT_EQ(add(R"("c")", R"("a")", "[]", Method::prompts_list), Way::onward);
  EXPECT_TRUE(cursors_.may_have_given(Method::prompts_list, R"("c")"));
  EXPECT_FALSE(cursors_.may_have_given(Method::tools_list, R"("c")"));
}

TEST_F(CursorsOfAChildTest, APageWithTheItemsOfAnEarlierOneLeadsNowhere) {
  EXPECT_EQ(add("", R"("1")", "[1]"), Way::onward);
  EXPECT_EQ(add(R"("1")", R"("2")", "[2]"), Way::onward);
  EXPECT_EQ(add(R"("2")", R"("3")", "[1]"), Way::in_place);
  EXPECT_FALSE(cursors_.may_have_given(Method::tools_list, R"("3")"));
}

TEST_F(CursorsOfAChildTest, APageThatIsAlwaysTheSameLeadsBack) {
  EXPECT_EQ(add("", R"("1")", "[1]"), Way::onward);
  EXPECT_EQ(add(R"("1")", R"("1")", "[1]"), Way::both);
}

TEST_F(CursorsOfAChildTest, EmptyPagesLeadOnward) {
  EXPECT_EQ(add("", R"("1")", "[]"), Way::onward);
  EXPECT_EQ(add(R"("1")", R"("2")", "[ ]"), Way::onward);
  EXPECT_EQ(add(R"("2")", R"("3")", "[]"), Way::onward);
}

TEST_F(CursorsOfAChildTest, OnlyAStringIsACursor) {
  EXPECT_EQ(add("", "7", "[1]"), Way::onward);
  EXPECT_EQ(add("", "", "[1]"), Way::onward);
  EXPECT_FALSE(cursors_.may_have_given(Method::tools_list, "7"));
}

}  // namespace
}  // namespace sitter
