#include "core/report/lints.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/report/lint.hpp"
#include "support/messages.hpp"

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kNoBoolean[] = R"json({"content":[],"isError":"no"})json";

class LintsTest : public ::testing::Test {
 protected:
  LintsTest() { lints_.on_serving(1); }

  bool takes_tools(const std::vector<std::string>& items) {
    return lints_.on_tools(std::vector<std::string_view>(items.begin(), items.end()));
  }
  /// A tool without an input schema.
  static std::string bad(const std::string& name) { return R"json({"name":")json" + name + "\"}"; }
  bool takes_result(const std::string& tool, const std::string& result,
                    const std::string& schema = "") {
    return lints_.on_result(tool, result, schema, now_);
  }
  bool wants(const std::string& tool, Generation gen = 1) const {
    return lints_.wants_result(tool, gen, now_);
  }
  void is_told() { lints_.on_told(lints_.news()); }

  Lints lints_{true};
  Instant now_;
};

TEST_F(LintsTest, AFindingIsToldOnceForAsLongAsItStays) {
  EXPECT_TRUE(takes_tools({bad("a")}));
  EXPECT_THAT(lints_.news(), ElementsAre(HasSubstr("tool \"a\"")));
  is_told();
  EXPECT_THAT(lints_.news(), IsEmpty());
  EXPECT_FALSE(takes_tools({tool("b"), bad("a")}));
  EXPECT_THAT(lints_.news(), IsEmpty());
  EXPECT_THAT(lints_.all(), SizeIs(1));
}

TEST_F(LintsTest, AFindingThatComesBackIsToldAgain) {
  takes_tools({bad("a")});
  is_told();
  EXPECT_FALSE(takes_tools({tool("a")}));
  EXPECT_THAT(lints_.all(), IsEmpty());
  EXPECT_TRUE(takes_tools({bad("a")}));
  EXPECT_THAT(lints_.news(), SizeIs(1));
}

TEST_F(LintsTest, AFindingThatIsGoneIsNotTold) {
  takes_tools({bad("a")});
  takes_tools({tool("a")});
  EXPECT_THAT(lints_.news(), IsEmpty());
}

TEST_F(LintsTest, ReportsFindingsMadeAfterTheNoticeLater) {
  takes_tools({bad("a")});
  const std::vector<std::string> shown = lints_.news();
  EXPECT_TRUE(takes_tools({bad("a"), bad("b")}));
  lints_.on_told(shown);
  EXPECT_THAT(lints_.news(), ElementsAre(HasSubstr("tool \"b\"")));
}

TEST_F(LintsTest, APendingFindingIsNotReportedAsNew) {
  EXPECT_TRUE(takes_tools({bad("a")}));
  EXPECT_FALSE(takes_tools({bad("a")}));
}

TEST_F(LintsTest, OneResultOfEachToolIsLookedAtInASecond) {
  EXPECT_TRUE(wants("a"));
  EXPECT_FALSE(takes_result("a", text_result("x")));
  EXPECT_FALSE(wants("a"));
  EXPECT_TRUE(wants("b"));
  now_ += limits::kLintInterval - Milliseconds(1);
  EXPECT_FALSE(wants("a"));
  now_ += Milliseconds(1);
  EXPECT_TRUE(wants("a"));
  EXPECT_TRUE(takes_result("a", kNoBoolean));
  EXPECT_FALSE(wants("a"));
  EXPECT_THAT(lints_.news(), ElementsAre(HasSubstr("tool \"a\": isError")));
}

TEST_F(LintsTest, AFindingInAResultThatComesAgainIsNoNews) {
  takes_result("a", kNoBoolean);
  is_told();
  EXPECT_FALSE(takes_result("a", kNoBoolean));
  EXPECT_THAT(lints_.all(), SizeIs(1));
  EXPECT_FALSE(takes_result("a", text_result("x")));
  EXPECT_THAT(lints_.all(), SizeIs(1));
}

TEST_F(LintsTest, TheOutputSchemaIsComparedWithTheResult) {
  EXPECT_TRUE(takes_result("a", text_result("x"), R"json({"type":"object"})json"));
  EXPECT_THAT(lints_.news(), ElementsAre(HasSubstr("no structuredContent")));
}

TEST_F(LintsTest, ALongResultIsNotLookedAt) {
  const auto padded = [](std::size_t size) {
    std::string result = kNoBoolean;
    result.insert(1, size - result.size(), ' ');
    return result;
  };
  EXPECT_FALSE(takes_result("a", padded(limits::kLintResultMax + 1)));
  EXPECT_FALSE(wants("a"));
  EXPECT_TRUE(takes_result("b", padded(limits::kLintResultMax)));
}

TEST_F(LintsTest, FindingsInResultsEndWithTheirGeneration) {
  takes_tools({bad("a")});
  takes_result("a", kNoBoolean);
  EXPECT_THAT(lints_.all(), ElementsAre(HasSubstr("inputSchema"), HasSubstr("isError")));
  is_told();
  lints_.on_serving(2);
  EXPECT_THAT(lints_.all(), ElementsAre(HasSubstr("inputSchema")));
  EXPECT_TRUE(wants("a", 2));
  EXPECT_TRUE(takes_result("a", kNoBoolean));
  EXPECT_THAT(lints_.news(), ElementsAre(HasSubstr("isError")));
}

TEST_F(LintsTest, TheSameChildMayServeAgain) {
  takes_result("a", kNoBoolean);
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
    takes_result(std::to_string(i), text_result("x"));
  }
  EXPECT_TRUE(wants("last"));
  takes_result("last", text_result("x"));
  EXPECT_FALSE(wants("more"));
}

TEST_F(LintsTest, ResultsOfAToolWithTooLongANameAreNotWanted) {
  EXPECT_TRUE(wants(std::string(limits::kToolNameMax, 'x')));
  EXPECT_FALSE(wants(std::string(limits::kToolNameMax + 1, 'x')));
}

TEST_F(LintsTest, FindingsInResultsHaveABound) {
  for (std::size_t i = 0; i + 1 < limits::kLintFindingsMax; ++i) {
    takes_result(std::to_string(i), kNoBoolean);
  }
  takes_result("last", R"json({"content":[],"structuredContent":{}})json",
               R"json({"required":["a","b"]})json");
  EXPECT_THAT(lints_.all(), SizeIs(limits::kLintFindingsMax));
  EXPECT_FALSE(takes_result("more", kNoBoolean));
}

TEST(LintsOffTest, NothingIsFound) {
  Lints lints(false);
  lints.on_serving(1);
  EXPECT_FALSE(lints.on_tools(std::vector<std::string_view>{"{}"}));
  EXPECT_THAT(lints.all(), IsEmpty());
  EXPECT_FALSE(lints.wants_result("a", 1, Instant()));
}

}  // namespace
}  // namespace sitter
