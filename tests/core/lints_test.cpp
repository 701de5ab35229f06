#include "core/report/lints.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/report/lint_findings.hpp"
#include "core/report/list_lint.hpp"

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string kWrong = "isError is not of type boolean";

class LintsTest : public ::testing::Test {
 protected:
  LintsTest() { lints_.on_serving(1); }

  bool takes_items(const std::vector<std::string>& findings) {
    return lints_.on_items(Method::tools_list, findings);
  }
  bool takes_result(const std::string& tool, const std::vector<std::string>& findings = {}) {
    return lints_.on_result(tool, findings, now_);
  }
  bool wants(const std::string& tool, Generation gen = 1) const {
    return lints_.wants_result(tool, gen, now_);
  }
  void is_told() { lints_.on_told(lints_.news()); }

  Lints lints_{true};
  Instant now_;
};

TEST_F(LintsTest, AFindingIsToldOnceForAsLongAsItStays) {
  EXPECT_TRUE(takes_items({"a"}));
  EXPECT_THAT(lints_.news(), ElementsAre("a"));
  is_told();
  EXPECT_THAT(lints_.news(), IsEmpty());
  EXPECT_FALSE(takes_items({"a"}));
  EXPECT_THAT(lints_.news(), IsEmpty());
  EXPECT_THAT(lints_.all(), SizeIs(1));
}

TEST_F(LintsTest, AFindingThatComesBackIsToldAgain) {
  takes_items({"a"});
  is_told();
  EXPECT_FALSE(takes_items({}));
  EXPECT_THAT(lints_.all(), IsEmpty());
  EXPECT_TRUE(takes_items({"a"}));
  EXPECT_THAT(lints_.news(), SizeIs(1));
}

TEST_F(LintsTest, AFindingThatIsGoneIsNotTold) {
  takes_items({"a"});
  takes_items({});
  EXPECT_THAT(lints_.news(), IsEmpty());
}

TEST_F(LintsTest, ReportsFindingsMadeAfterTheNoticeLater) {
  takes_items({"a"});
  const std::vector<std::string> shown = lints_.news();
  EXPECT_TRUE(takes_items({"a", "b"}));
  lints_.on_told(shown);
  EXPECT_THAT(lints_.news(), ElementsAre("b"));
}

TEST_F(LintsTest, APendingFindingIsNotReportedAsNew) {
  EXPECT_TRUE(takes_items({"a"}));
  EXPECT_FALSE(takes_items({"a"}));
}

TEST_F(LintsTest, OneResultOfEachToolIsLookedAtInASecond) {
  EXPECT_TRUE(wants("a"));
  EXPECT_FALSE(takes_result("a"));
  EXPECT_FALSE(wants("a"));
  EXPECT_TRUE(wants("b"));
  now_ += limits::kLintInterval - Milliseconds(1);
  EXPECT_FALSE(wants("a"));
  now_ += Milliseconds(1);
  EXPECT_TRUE(wants("a"));
  EXPECT_TRUE(takes_result("a", {kWrong}));
  EXPECT_FALSE(wants("a"));
  EXPECT_THAT(lints_.news(), ElementsAre(kWrong));
}

TEST_F(LintsTest, AFindingInAResultThatComesAgainIsNoNews) {
  takes_result("a", {kWrong});
  is_told();
  EXPECT_FALSE(takes_result("a", {kWrong}));
  EXPECT_THAT(lints_.all(), SizeIs(1));
  EXPECT_FALSE(takes_result("a"));
  EXPECT_THAT(lints_.all(), SizeIs(1));
}

TEST_F(LintsTest, FindingsInResultsEndWithTheirGeneration) {
  takes_items({"a"});
  takes_result("a", {kWrong});
  EXPECT_THAT(lints_.all(), ElementsAre("a", kWrong));
  is_told();
  lints_.on_serving(2);
  EXPECT_THAT(lints_.all(), ElementsAre("a"));
  EXPECT_TRUE(wants("a", 2));
  EXPECT_TRUE(takes_result("a", {kWrong}));
  EXPECT_THAT(lints_.news(), ElementsAre(kWrong));
}

TEST_F(LintsTest, TheSameChildMayServeAgain) {
  takes_result("a", {kWrong});
  lints_.on_serving(1);
  EXPECT_THAT(lints_.news(), SizeIs(1));
  EXPECT_FALSE(wants("a"));
}

TEST_F(LintsTest, OnlyResultsOfTheChildThatServesAreWanted) {
  lints_.on_serving(2);
  EXPECT_FALSE(wants("a"));
  EXPECT_FALSE(wants("a", 3));
}

TEST_F(LintsTest, ToolsAreToldApartUpToABound) {
  for (std::size_t i = 0; i + 1 < limits::kLintedToolsMax; ++i) {
    takes_result(std::to_string(i));
  }
  EXPECT_TRUE(wants("last"));
  takes_result("last");
  EXPECT_FALSE(wants("more"));
}

TEST_F(LintsTest, ResultsOfAToolWithTooLongANameAreNotWanted) {
  EXPECT_TRUE(wants(std::string(limits::kToolNameMax, 'x')));
  EXPECT_FALSE(wants(std::string(limits::kToolNameMax + 1, 'x')));
}

TEST_F(LintsTest, FindingsInResultsHaveABound) {
  for (std::size_t i = 1; i < limits::kLintFindingsMax; ++i) {
    takes_result("a", {std::to_string(i)});
  }
  takes_result("a", {"last", "more"});
  EXPECT_THAT(lints_.all(), SizeIs(limits::kLintFindingsMax));
  EXPECT_FALSE(takes_result("a", {"more"}));
}

TEST_F(LintsTest, FindingsThatDifferByAnIndexAreOne) {
  EXPECT_TRUE(takes_result("a", {"content[0].n is 1"}));
  EXPECT_FALSE(takes_result("a", {"content[12].n is 1"}));
  EXPECT_TRUE(takes_result("a", {"content[0].n is 2"}));
}

TEST_F(LintsTest, FindingsOfTheListsStandFirst) {
  lints_.on_finding("else");
  lints_.on_items(Method::prompts_list, {"a prompt"});
  takes_items({"a tool"});
  lints_.on_pages(Method::prompts_list, {"a page"});
  EXPECT_THAT(lints_.all(), ElementsAre("a page", "a tool", "a prompt", "else"));
}

TEST_F(LintsTest, AFindingAboutAListStandsThereOnce) {
  lints_.on_finding("a");
  lints_.on_pages(Method::tools_list, {"a"});
  EXPECT_THAT(lints_.all(), ElementsAre("a"));
  EXPECT_THAT(lints_.news(), ElementsAre("a"));
}

TEST_F(LintsTest, FindingsOfAListHaveABound) {
  takes_items(std::vector<std::string>(limits::kLintFindingsMax + 1, "a"));
  EXPECT_THAT(lints_.all(), SizeIs(limits::kLintFindingsMax));
}

TEST(LintsOffTest, NothingIsFound) {
  Lints lints(false);
  lints.on_serving(1);
  EXPECT_FALSE(lints.on_items(Method::tools_list, {"a"}));
  EXPECT_FALSE(lints.on_pages(Method::tools_list, {"a"}));
  EXPECT_FALSE(lints.on_finding("a"));
  EXPECT_THAT(lints.all(), IsEmpty());
  EXPECT_FALSE(lints.wants_result("a", 1, Instant()));
}

}  // namespace
}  // namespace sitter
