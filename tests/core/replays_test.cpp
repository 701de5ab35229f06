#include "core/child/replays.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// The tool and the arguments of each call.
std::vector<std::string> words(const std::vector<ReplayedCall>& calls) {
  std::vector<std::string> words;
  for (const ReplayedCall& call : calls) words.push_back(call.tool + call.arguments);
  return words;
}

class ReplaysTest : public ::testing::Test {
 protected:
  void succeeds(const std::string& tool, const std::string& arguments, Generation gen) {
    replays_.on_success(tool, arguments, gen, ++order_, made_[gen]);
  }

  Replays replays_{{"b", "a", "b"}};
  std::map<Generation, Replays::Made> made_;
  std::uint64_t order_ = 0;
};

TEST_F(ReplaysTest, TheLastSuccessOfEachIsCalledAgainInTheOrderOfTheOptions) {
  EXPECT_TRUE(replays_.repeats("a"));
  EXPECT_FALSE(replays_.repeats("c"));
  EXPECT_TRUE(replays_.is_empty());
  succeeds("a", "1", 1);
  succeeds("b", "2", 1);
  succeeds("a", "3", 1);
  EXPECT_THAT(words(replays_.all(made_[2])), ElementsAre("b2", "a3"));
  EXPECT_THAT(replays_.missed(2, made_[2]), IsEmpty());
}

TEST_F(ReplaysTest, ASuccessThatComesLaterIsMissedByTheNextChild) {
  succeeds("a", "1", 1);
  replays_.all(made_[2]);
  succeeds("a", "2", 1);
  succeeds("b", "3", 1);
  EXPECT_THAT(words(replays_.missed(2, made_[2])), ElementsAre("b3", "a2"));
  EXPECT_THAT(replays_.missed(1, made_[1]), IsEmpty()) << "it has answered them itself";
}

TEST_F(ReplaysTest, WhatTheSuccessorHasAnsweredIsNewer) {
  succeeds("a", "1", 2);
  EXPECT_FALSE(replays_.is_news("a", 1));
  EXPECT_TRUE(replays_.is_news("a", 2));
  EXPECT_TRUE(replays_.is_news("b", 1));
}

TEST_F(ReplaysTest, WhatIsForgottenIsNotCalledAgain) {
  succeeds("a", "1", 1);
  EXPECT_TRUE(replays_.forget("a"));
  EXPECT_FALSE(replays_.forget("a"));
  EXPECT_THAT(replays_.all(made_[2]), IsEmpty());
}

}  // namespace
}  // namespace sitter
