#include "core/tell/lints.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sitter/limits.hpp"
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
  void is_told() { lints_.on_told(lints_.news()); }

  Lints lints_{true};
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

TEST_F(LintsTest, WhatWasFoundSinceTheNoticeWasWrittenIsStillToldLater) {
  takes_tools({bad("a")});
  const std::vector<std::string> shown = lints_.news();
  EXPECT_TRUE(takes_tools({bad("a"), bad("b")}));
  lints_.on_told(shown);
  EXPECT_THAT(lints_.news(), ElementsAre(HasSubstr("tool \"b\"")));
}

TEST_F(LintsTest, WhatIsAlreadyNewsIsNoFurtherNews) {
  EXPECT_TRUE(takes_tools({bad("a")}));
  EXPECT_FALSE(takes_tools({bad("a")}));
}

TEST_F(LintsTest, OnlyTheFirstResultOfAToolIsLookedAt) {
  EXPECT_TRUE(lints_.wants_result("a", 1));
  EXPECT_FALSE(lints_.on_result("a", text_result("x"), ""));
  EXPECT_FALSE(lints_.wants_result("a", 1));
  EXPECT_TRUE(lints_.wants_result("b", 1));
  EXPECT_TRUE(lints_.on_result("b", kNoBoolean, ""));
  EXPECT_THAT(lints_.news(), ElementsAre(HasSubstr("tool \"b\": isError")));
}

TEST_F(LintsTest, TheOutputSchemaIsComparedWithTheResult) {
  EXPECT_TRUE(lints_.on_result("a", text_result("x"), R"json({"type":"object"})json"));
  EXPECT_THAT(lints_.news(), ElementsAre(HasSubstr("no structuredContent")));
}

TEST_F(LintsTest, AResultThatIsNotCompleteOrFailedIsNotTheFirst) {
  for (const std::string result :
       {R"json({"content":[],"isError":true})json", R"json({"task":{"taskId":"1"}})json",
        R"json({"content":[],"resultType":"input_required"})json", "{}", "7"}) {
    EXPECT_FALSE(lints_.on_result("a", result, R"json({"type":"object"})json"));
    EXPECT_TRUE(lints_.wants_result("a", 1)) << result;
  }
}

TEST_F(LintsTest, ALongResultIsNotLookedAt) {
  const auto padded = [](std::size_t size) {
    std::string result = kNoBoolean;
    result.insert(1, size - result.size(), ' ');
    return result;
  };
  EXPECT_FALSE(lints_.on_result("a", padded(limits::kLintResultMax + 1), ""));
  EXPECT_FALSE(lints_.wants_result("a", 1));
  EXPECT_TRUE(lints_.on_result("b", padded(limits::kLintResultMax), ""));
}

TEST_F(LintsTest, FindingsInResultsEndWithTheirGeneration) {
  takes_tools({bad("a")});
  lints_.on_result("a", kNoBoolean, "");
  EXPECT_THAT(lints_.all(), ElementsAre(HasSubstr("inputSchema"), HasSubstr("isError")));
  is_told();
  lints_.on_serving(2);
  EXPECT_THAT(lints_.all(), ElementsAre(HasSubstr("inputSchema")));
  EXPECT_TRUE(lints_.wants_result("a", 2));
  EXPECT_TRUE(lints_.on_result("a", kNoBoolean, ""));
  EXPECT_THAT(lints_.news(), ElementsAre(HasSubstr("isError")));
}

TEST_F(LintsTest, TheSameChildMayServeAgain) {
  lints_.on_result("a", kNoBoolean, "");
  lints_.on_serving(1);
  EXPECT_THAT(lints_.news(), SizeIs(1));
  EXPECT_FALSE(lints_.wants_result("a", 1));
}

TEST_F(LintsTest, OnlyResultsOfTheChildThatServesAreWanted) {
  lints_.on_serving(2);
  EXPECT_FALSE(lints_.wants_result("a", 1));
  EXPECT_FALSE(lints_.wants_result("a", 3));
}

TEST_F(LintsTest, ToolsAreToldApartUpToABound) {
  for (std::size_t i = 0; i + 1 < limits::kLintedToolsMax; ++i) {
    lints_.on_result(std::to_string(i), text_result("x"), "");
  }
  EXPECT_TRUE(lints_.wants_result("last", 1));
  lints_.on_result("last", text_result("x"), "");
  EXPECT_FALSE(lints_.wants_result("more", 1));
}

TEST_F(LintsTest, ResultsOfAToolWithTooLongANameAreNotWanted) {
  EXPECT_TRUE(lints_.wants_result(std::string(limits::kToolNameMax, 'x'), 1));
  EXPECT_FALSE(lints_.wants_result(std::string(limits::kToolNameMax + 1, 'x'), 1));
}

TEST_F(LintsTest, FindingsInResultsHaveABound) {
  for (std::size_t i = 0; i + 1 < limits::kLintFindingsMax; ++i) {
    lints_.on_result(std::to_string(i), kNoBoolean, "");
  }
  lints_.on_result("last", R"json({"content":[],"structuredContent":{}})json",
                   R"json({"required":["a","b"]})json");
  EXPECT_THAT(lints_.all(), SizeIs(limits::kLintFindingsMax));
  EXPECT_FALSE(lints_.on_result("more", kNoBoolean, ""));
}

TEST(LintsOffTest, NothingIsFound) {
  Lints lints(false);
  lints.on_serving(1);
  EXPECT_FALSE(lints.on_tools(std::vector<std::string_view>{"{}"}));
  EXPECT_THAT(lints.all(), IsEmpty());
  EXPECT_FALSE(lints.wants_result("a", 1));
}

}  // namespace
}  // namespace sitter
