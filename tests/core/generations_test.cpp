#include "core/child/generations.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace sitter {
namespace {

using Role = Child::Role;

class GenerationsTest : public ::testing::Test {
 protected:
  Child& begin() {
    Child& child = children_.begin(
        now_, [] { return "1"; }, [] { return ""; }, "9.9.9", Secrets());
    child.life.on_started({child.gen(), 100 + child.gen()}, now_, out_);
    return child;
  }

  Child& serve() {
    Child& child = begin();
    children_.serve(child);
    return child;
  }

  void take_down(Child& child) { child.life.take_down(EndReason::replaced, {}, {}, now_, out_); }

  void end(Child& child) {
    child.life.on_output_ended({}, now_, out_);
    child.life.on_error_ended(out_);
    child.life.on_exited({}, now_, out_);
    child.life.on_unit_signalled({child.gen(), {}}, now_, out_);
  }

  Now now_;
  Orders out_;
  Generations children_;
};

TEST_F(GenerationsTest, NumbersGrowByOne) {
  EXPECT_EQ(children_.last(), kNoGeneration);
  EXPECT_EQ(begin().gen(), 1);
  EXPECT_EQ(begin().gen(), 2);
  EXPECT_EQ(children_.last(), 2);
}

TEST_F(GenerationsTest, AStartingChildBeginsToServeOnce) {
  Child& child = begin();
  EXPECT_EQ(children_.serving(), nullptr);
  EXPECT_TRUE(children_.serve(child));
  EXPECT_EQ(children_.serving(), &child);
  EXPECT_FALSE(children_.serve(child));
}

TEST_F(GenerationsTest, AChildThatIsOnItsWayOutDoesNotServe) {
  Child& child = serve();
  take_down(child);
  EXPECT_EQ(children_.serving(), nullptr);
  EXPECT_EQ(children_.shown(), &child);
  EXPECT_TRUE(children_.is_one_ending());
}

TEST_F(GenerationsTest, AComingChildIsACandidateWhileAnotherHasItsPlace) {
  Child& before = serve();
  Child& next = begin();
  EXPECT_TRUE(children_.is_candidate(next));
  EXPECT_FALSE(children_.is_candidate(before));
  EXPECT_EQ(children_.shown(), &before);
  take_down(before);
  EXPECT_TRUE(children_.is_candidate(next));
  children_.retire(before, now_.steady);
  EXPECT_FALSE(children_.is_candidate(next));
  EXPECT_FALSE(children_.is_one_ending());
}

TEST_F(GenerationsTest, ARetiringChildDoesNotServe) {
  Child& child = serve();
  EXPECT_EQ(child.retires_at(), std::nullopt);
  children_.retire(child, now_.steady + std::chrono::seconds(5));
  EXPECT_EQ(child.retires_at(), now_.steady + std::chrono::seconds(5));
  EXPECT_EQ(children_.serving(), nullptr);
  EXPECT_FALSE(children_.has_any());
  EXPECT_FALSE(children_.is_empty());
}

TEST_F(GenerationsTest, AProbedChildCanStartOver) {
  Child& child = serve();
  EXPECT_TRUE(child.prove_start());
  EXPECT_TRUE(child.prove_answer());
  children_.come_again(child);
  EXPECT_EQ(child.role, Role::coming);
  EXPECT_FALSE(child.has_started());
  EXPECT_FALSE(child.prove_start()) << "the child does not serve yet";
  EXPECT_TRUE(children_.serve(child));
}

TEST_F(GenerationsTest, HandsOverADeadChildAfterItsLastStep) {
  Child& first = serve();
  begin();
  end(first);
  EXPECT_EQ(children_.find(1), nullptr);
  EXPECT_TRUE(children_.is_one_over());
  std::vector<std::pair<char, Generation>> seen;
  children_.settle([&](Child& child) { seen.emplace_back('a', child.gen()); },
                   [&](Child dead) { seen.emplace_back('o', dead.gen()); });
  EXPECT_FALSE(children_.is_one_over());
  EXPECT_EQ(seen, (std::vector<std::pair<char, Generation>>{{'a', 1}, {'o', 1}, {'a', 2}}));
  EXPECT_NE(children_.find(2), nullptr);
}

TEST_F(GenerationsTest, ReleasesAllChildren) {
  serve();
  begin();
  while (out_.poll()) {
  }
  children_.release(out_);
  EXPECT_EQ(std::get<order::ReleaseChild>(*out_.poll()).gen, 1);
  EXPECT_EQ(std::get<order::ReleaseChild>(*out_.poll()).gen, 2);
  EXPECT_TRUE(children_.is_empty());
  EXPECT_EQ(children_.last(), 2);
}

}  // namespace
}  // namespace sitter
