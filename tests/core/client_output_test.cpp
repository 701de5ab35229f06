#include "core/client/client_output.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/client/progress_tokens.hpp"

namespace sitter {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ClientOutputTest : public ::testing::Test {
 protected:
  void send(const std::string& text) { output_.send(Outgoing::own(text), out_); }
  void progress(const std::string& token) {
    output_.on_progress(token, now_);
    send("progress " + token);
  }
  void answer(const std::string& token) {
    output_.before_answer(token, now_);
    send("answer " + token);
  }
  void passes(microseconds time) {
    now_.steady += time;
    output_.on_timeout(now_, out_);
  }
  std::vector<std::string> written() {
    std::vector<std::string> lines;
    while (const auto order = out_.poll()) {
      lines.push_back(std::get<order::SendToClient>(*order).line.text());
    }
    return lines;
  }

  ClientOutput output_;
  Orders out_;
  Now now_{Instant() + seconds(10), {}};
};

TEST_F(ClientOutputTest, LinesPassAtOnce) {
  send("a");
  send("b");
  EXPECT_THAT(written(), ElementsAre("a", "b"));
  EXPECT_FALSE(output_.deadline());
}

TEST_F(ClientOutputTest, AnAnswerBehindItsProgressWaitsForAMillisecond) {
  progress("1");
  passes(microseconds(400));
  answer("1");
  send("later");
  EXPECT_THAT(written(), ElementsAre("progress 1"));
  EXPECT_EQ(output_.deadline(), now_.steady + microseconds(600));
  passes(microseconds(599));
  EXPECT_THAT(written(), IsEmpty());
  passes(microseconds(1));
  EXPECT_THAT(written(), ElementsAre("answer 1", "later"));
  EXPECT_FALSE(output_.deadline());
}

TEST_F(ClientOutputTest, AfterAMillisecondNothingWaits) {
  progress("1");
  passes(milliseconds(1));
  answer("1");
  EXPECT_THAT(written(), ElementsAre("progress 1", "answer 1"));
}

TEST_F(ClientOutputTest, OtherAnswersDoNotWait) {
  progress("1");
  answer("2");
  answer("\"1\"");
  answer("");
  EXPECT_THAT(written(), SizeIs(4));
}

TEST_F(ClientOutputTest, TheDelayCountsFromTheLastProgress) {
  progress("1");
  passes(microseconds(900));
  progress("1");
  answer("1");
  passes(microseconds(999));
  EXPECT_THAT(written(), ElementsAre("progress 1", "progress 1"));
  passes(microseconds(1));
  EXPECT_THAT(written(), ElementsAre("answer 1"));
}

TEST_F(ClientOutputTest, AnAnswerBehindProgressThatWaitsHasAWriteOfItsOwn) {
  progress("1");
  answer("1");
  progress("2");
  answer("2");
  progress("3");
  answer("3");
  EXPECT_THAT(written(), ElementsAre("progress 1"));
  passes(milliseconds(1));
  EXPECT_THAT(written(), ElementsAre("answer 1", "progress 2"));
  EXPECT_EQ(output_.deadline(), now_.steady + milliseconds(1));
  passes(milliseconds(1));
  EXPECT_THAT(written(), ElementsAre("answer 2", "progress 3"));
  passes(milliseconds(1));
  EXPECT_THAT(written(), ElementsAre("answer 3"));
  EXPECT_FALSE(output_.deadline());
}

TEST_F(ClientOutputTest, AnAnswerThatIsInALaterWriteAnywayNeedsNoOtherOne) {
  progress("1");
  answer("1");
  progress("2");
  progress("3");
  answer("3");
  answer("2");
  written();
  passes(milliseconds(1));
  EXPECT_THAT(written(), ElementsAre("answer 1", "progress 2", "progress 3"));
  passes(milliseconds(1));
  EXPECT_THAT(written(), ElementsAre("answer 3", "answer 2"));
}

TEST_F(ClientOutputTest, ProgressThatWaitedCountsFromItsWrite) {
  progress("1");
  answer("1");
  progress("2");
  passes(milliseconds(1));
  written();
  passes(microseconds(500));
  answer("2");
  EXPECT_THAT(written(), IsEmpty());
  passes(microseconds(500));
  EXPECT_THAT(written(), ElementsAre("answer 2"));
}

TEST_F(ClientOutputTest, HowManyWritesWaitIsBounded) {
  EXPECT_EQ(limits::kWaitingWritesMax, 50u);
  progress("0");
  for (int n = 0; n < 100; ++n) {
    answer(std::to_string(n));
    progress(std::to_string(n + 1));
  }
  written();
  for (int n = 1; n < 50; ++n) {
    passes(milliseconds(1));
    EXPECT_THAT(written(), SizeIs(2));
  }
  passes(milliseconds(1));
  EXPECT_THAT(written(), SizeIs(102));
  EXPECT_FALSE(output_.deadline());
}

TEST_F(ClientOutputTest, AGapSeparatesWrites) {
  send("a");
  output_.gap(now_);
  send("b");
  EXPECT_THAT(written(), ElementsAre("a"));
  output_.gap(now_);
  send("c");
  passes(milliseconds(1));
  EXPECT_THAT(written(), ElementsAre("b"));
  passes(milliseconds(1));
  EXPECT_THAT(written(), ElementsAre("c"));
}

TEST_F(ClientOutputTest, AGapBehindWhichNothingComesEndsQuietly) {
  output_.gap(now_);
  passes(milliseconds(1));
  EXPECT_THAT(written(), IsEmpty());
  EXPECT_FALSE(output_.deadline());
}

TEST_F(ClientOutputTest, TheEndWritesEverything) {
  progress("1");
  answer("1");
  progress("2");
  answer("2");
  output_.flush(out_);
  EXPECT_THAT(written(), ElementsAre("progress 1", "answer 1", "progress 2", "answer 2"));
  EXPECT_FALSE(output_.deadline());
  answer("2");
  EXPECT_THAT(written(), ElementsAre("answer 2"));
}

TEST_F(ClientOutputTest, WhatWaitsOutlivesItsInput) {
  progress("1");
  {
    const OwnedLine line(std::string("answer of a line that is gone"));
    output_.before_answer("1", now_);
    output_.send(Outgoing::passed(line.line()), out_);
  }
  written();
  passes(milliseconds(1));
  EXPECT_THAT(written(), ElementsAre("answer of a line that is gone"));
}

TEST(ProgressTokensTest, ATokenThatNobodyKnowsPasses) {
  EXPECT_TRUE(ProgressTokens().passes("1"));
  ProgressTokens tokens;
  tokens.on_answered("1", true);
  EXPECT_TRUE(tokens.passes("2"));
}

TEST(ProgressTokensTest, DropsProgressAfterTheAnswer) {
  ProgressTokens tokens;
  tokens.on_request("1");
  EXPECT_TRUE(tokens.passes("1"));
  tokens.on_answered("1", true);
  EXPECT_FALSE(tokens.passes("1"));
  EXPECT_FALSE(tokens.passes("1.0"));
  tokens.on_request("1");
  EXPECT_TRUE(tokens.passes("1"));
}

TEST(ProgressTokensTest, PassesProgressOfAnOpenTaskAfterTheAnswer) {
  ProgressTokens tokens;
  tokens.on_answered("1", false);
  EXPECT_TRUE(tokens.passes("1"));
}

TEST(ProgressTokensTest, AMutedTokenIsSilentUntilTheRequestIsAnswered) {
  ProgressTokens tokens;
  tokens.mute("\"\\u0061\"");
  EXPECT_FALSE(tokens.passes("\"a\""));
  tokens.on_answered("\"a\"", false);
  EXPECT_TRUE(tokens.passes("\"a\""));
}

TEST(ProgressTokensTest, TheLossOfTheChildEndsProgressOfOpenTasks) {
  ProgressTokens tokens;
  tokens.on_answered("1", false);
  tokens.on_answered("2", false);
  tokens.on_request("2");
  tokens.on_child_lost();
  EXPECT_FALSE(tokens.passes("1"));
  EXPECT_TRUE(tokens.passes("2"));
}

/// The first token is forgotten after this many other tokens, and not before.
void expect_last_remembered(ProgressTokens& tokens, bool is_over) {
  tokens.on_answered("\"first\"", is_over);
  for (std::size_t i = 1; i < limits::kEndedTokensMax; ++i) {
    tokens.on_answered(std::to_string(i), is_over);
  }
  ProgressTokens one_more = tokens;
  tokens.on_child_lost();
  EXPECT_FALSE(tokens.passes("\"first\""));
  one_more.on_answered("\"last\"", is_over);
  one_more.on_child_lost();
  EXPECT_TRUE(one_more.passes("\"first\""));
  EXPECT_FALSE(one_more.passes("\"last\""));
}

TEST(ProgressTokensTest, OnlyTheLastAreRemembered) {
  ProgressTokens ended;
  expect_last_remembered(ended, true);
  ProgressTokens going_on;
  expect_last_remembered(going_on, false);
}

}  // namespace
}  // namespace sitter
