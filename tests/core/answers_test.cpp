#include "core/client/answers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/client/batches.hpp"

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class AnswersTest : public ::testing::Test {
 protected:
  Turn turn() { return {now_, out_, answers_.output()}; }

  ClientRequest& add(std::string_view id, bool wants_progress = false) {
    ClientRequest& request = requests_.add(id);
    request.wants_progress = wants_progress;
    if (wants_progress) answers_.on_request(request.progress_token());
    if (answers_.batch() != Batches::kNone) request.more().batch = answers_.batch();
    return request;
  }

  std::vector<std::string> client_got() {
    answers_.output().flush(out_);
    std::vector<std::string> lines;
    while (auto order = out_.poll()) {
      if (auto* const line = std::get_if<order::SendToClient>(&*order)) {
        lines.push_back(line->line.text());
      } else if (auto* const control = std::get_if<order::SendToControl>(&*order)) {
        lines.push_back("control: " + control->line);
      }
    }
    return lines;
  }

  Now now_;
  Orders out_;
  ClientRequests requests_;
  Answers answers_;
};

TEST_F(AnswersTest, AnAnswerGoesToTheConnectionThatHasAsked) {
  answers_.send(add("1"), Outgoing::own("a"), turn());
  answers_.send(requests_.add_control(5), Outgoing::own("b"), turn());
  EXPECT_THAT(client_got(), ElementsAre("a", "control: b"));
}

TEST_F(AnswersTest, ABatchIsAnsweredInOneArray) {
  answers_.begin_batch(3);
  const ClientRequest& first = add("1");
  const ClientRequest& second = add("2");
  answers_.send_in_batch("{\"e\":1}", turn());
  answers_.end_batch();
  EXPECT_EQ(answers_.batch(), Batches::kNone);
  answers_.send(second, Outgoing::own("{\"b\":1}"), turn());
  EXPECT_THAT(client_got(), IsEmpty());
  answers_.leave(first, turn());
  EXPECT_THAT(client_got(), ElementsAre("[{\"e\":1},{\"b\":1}]"));
}

TEST_F(AnswersTest, SendsNoArrayForABatchWithoutRequests) {
  answers_.begin_batch(0);
  EXPECT_EQ(answers_.batch(), Batches::kNone);
}

TEST_F(AnswersTest, AnAnswerWithoutRoomInItsBatchIsAnError) {
  answers_.begin_batch(2);
  const ClientRequest& first = add("1");
  const ClientRequest& second = add("2");
  answers_.send(first, Outgoing::own(std::string(limits::kBatchBytesMax / 2, '1')), turn());
  answers_.begin_batch(1);
  const ClientRequest& third = add("3");
  answers_.send(second, Outgoing::own(std::string(limits::kBatchBytesMax / 2, '2')), turn());
  answers_.send(third, Outgoing::own("{}"), turn());
  const auto got = client_got();
  ASSERT_EQ(got.size(), 2);
  EXPECT_THAT(got[0], HasSubstr("send the request alone"));
  EXPECT_EQ(got[1], "[{}]");
}

TEST_F(AnswersTest, NoProgressFollowsAnAnswer) {
  const ClientRequest& request = add("1", true);
  EXPECT_TRUE(answers_.passes_progress("1", now_));
  answers_.send(request, Outgoing::own("a"), turn());
  EXPECT_FALSE(answers_.passes_progress("1", now_));
}

TEST_F(AnswersTest, KeepsPassingProgressOfATaskAfterTheAnswer) {
  ClientRequest& request = add("1", true);
  request.goes_on = true;
  answers_.send(request, Outgoing::own("a"), turn());
  EXPECT_TRUE(answers_.passes_progress("1", now_));
}

TEST_F(AnswersTest, ACancelledRequestMayStillBeToldOfExceptInTheStatelessRevision) {
  answers_.on_cancelled(add("1", true));
  EXPECT_TRUE(answers_.passes_progress("1", now_));
  ClientRequest& stateless = add("2", true);
  stateless.is_stateless = true;
  answers_.on_cancelled(stateless);
  EXPECT_FALSE(answers_.passes_progress("2", now_));
}

TEST_F(AnswersTest, ALateAnswerEndsTheProgressOfACancelledRequest) {
  const ClientRequest& request = add("1", true);
  answers_.on_cancelled(request);
  answers_.send_late(request, Outgoing::own("late"), turn());
  EXPECT_THAT(client_got(), ElementsAre("late"));
  EXPECT_FALSE(answers_.passes_progress("1", now_));
}

TEST_F(AnswersTest, DropsALateAnswerInABatchOrInTheStatelessRevision) {
  ClientRequest& stateless = add("1");
  stateless.is_stateless = true;
  answers_.send_late(stateless, Outgoing::own("late"), turn());
  answers_.begin_batch(1);
  answers_.send_late(add("2"), Outgoing::own("late"), turn());
  EXPECT_THAT(client_got(), IsEmpty());
}

TEST_F(AnswersTest, ProgressOfASecondAttemptIsNotTold) {
  const ClientRequest& request = add("1", true);
  answers_.on_retried(request);
  EXPECT_FALSE(answers_.passes_progress("1", now_));
  EXPECT_TRUE(answers_.passes_progress("2", now_));
}

TEST(BatchesTest, TheLastAnswerCompletesTheArray) {
  Batches batches;
  const auto batch = batches.open(2);
  EXPECT_NE(batch, Batches::kNone);
  EXPECT_EQ(batches.add(batch, "1"), std::nullopt);
  EXPECT_EQ(batches.add(batch, "2"), "[1,2]");
}

TEST(BatchesTest, KeepsBatchesApart) {
  Batches batches;
  const auto first = batches.open(2);
  const auto second = batches.open(1);
  EXPECT_EQ(batches.add(first, "1"), std::nullopt);
  EXPECT_EQ(batches.add(second, "2"), "[2]");
  EXPECT_EQ(batches.add(first, "3"), "[1,3]");
}

TEST(BatchesTest, DoesNotWaitForAnAnswerThatIsNoLongerOwed) {
  Batches batches;
  const auto batch = batches.open(3);
  EXPECT_EQ(batches.drop(batch), std::nullopt);
  EXPECT_EQ(batches.add(batch, "1"), std::nullopt);
  EXPECT_EQ(batches.drop(batch), "[1]");
}

TEST(BatchesTest, SeveralAnswersAreBoundedAndOneIsNot) {
  Batches batches(10);
  const auto batch = batches.open(2);
  EXPECT_TRUE(batches.has_room(batch, 11));
  batches.add(batch, "123");
  EXPECT_FALSE(batches.has_room(batch, 5));
  EXPECT_TRUE(batches.has_room(batch, 4));
  EXPECT_EQ(batches.add(batch, "4567"), "[123,4567]");
}

TEST(BatchesTest, LimitsTheBytesKeptByAllBatches) {
  Batches batches(10);
  const auto first = batches.open(2);
  const auto second = batches.open(3);
  batches.add(first, "1234");
  EXPECT_FALSE(batches.has_room(second, 4));
  EXPECT_TRUE(batches.has_room(second, 3));
  batches.add(second, "123");
  EXPECT_FALSE(batches.has_room(second, 0));
  // The last answer completes its batch, so it is not kept.
  EXPECT_TRUE(batches.has_room(first, 3));
  EXPECT_EQ(batches.add(first, "567"), "[1234,567]");
  EXPECT_TRUE(batches.has_room(second, 4));
  EXPECT_EQ(batches.drop(second), std::nullopt);
  EXPECT_EQ(batches.drop(second), "[123]");
  EXPECT_TRUE(batches.has_room(batches.open(2), 11));
}

TEST(BatchesTest, OneAnswerThatIsNotKeptMayHaveAnySize) {
  Batches batches(10);
  batches.add(batches.open(2), "1234567");
  EXPECT_TRUE(batches.has_room(batches.open(1), 11));
}

TEST(BatchesTest, WithoutAnyAnswerThereIsNoArray) {
  Batches batches;
  EXPECT_EQ(batches.drop(batches.open(1)), std::nullopt);
}

}  // namespace
}  // namespace sitter
