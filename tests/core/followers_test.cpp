#include "core/bridge/followers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class FollowersTest : public ::testing::Test {
 protected:
  std::vector<std::pair<ControlId, std::string>> told(std::string_view line) {
    followers_.tell(line, out_);
    std::vector<std::pair<ControlId, std::string>> lines;
    while (auto order = out_.poll()) {
      const auto& sent = std::get<order::SendToControl>(*order);
      lines.emplace_back(sent.connection, sent.line);
    }
    return lines;
  }

  Orders out_;
  Followers followers_;
};

TEST_F(FollowersTest, EachConnectionGetsTheLinesThatMatch) {
  EXPECT_THAT(told("an error"), IsEmpty());
  followers_.add(1, LinePattern(""));
  followers_.add(2, LinePattern("warn"));
  EXPECT_THAT(told("an \"error\""), ElementsAre(Pair(1, R"json({"line":"an \"error\""})json")));
  EXPECT_THAT(told("a warning"), ElementsAre(Pair(1, R"json({"line":"a warning"})json"),
                                             Pair(2, R"json({"line":"a warning"})json")));
}

TEST_F(FollowersTest, ASecondPatternReplacesTheFirst) {
  followers_.add(1, LinePattern("error"));
  followers_.add(1, LinePattern("warn"));
  EXPECT_THAT(told("an error"), IsEmpty());
}

TEST_F(FollowersTest, AConnectionThatIsDroppedHearsNoMore) {
  followers_.add(1, LinePattern("error"));
  followers_.drop(1);
  EXPECT_THAT(told("an error"), IsEmpty());
}

}  // namespace
}  // namespace sitter
