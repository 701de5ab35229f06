#include "core/client/client_requests.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/client/internal_ids.hpp"

namespace sitter {
namespace {

using State = ClientRequest::State;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ClientRequestsTest : public ::testing::Test {
 protected:
  ClientRequest& sent(std::string_view id, Generation gen = 1) {
    ClientRequest& entry = requests_.add(id);
    requests_.mark_sent(entry, gen, OwnedLine(std::string("line of ") + std::string(id)));
    return entry;
  }

  ClientRequests requests_;
};

TEST_F(ClientRequestsTest, ARequestIsOwedFromItsLineToItsAnswer) {
  ClientRequest& entry = requests_.add("7");
  EXPECT_EQ(requests_.owed_count(), 1u);
  EXPECT_EQ(requests_.in_flight_count(), 0u);
  requests_.mark_sent(entry, 1, {});
  EXPECT_EQ(requests_.in_flight_count(), 1u);
  requests_.take(entry);
  EXPECT_EQ(requests_.owed_count(), 0u);
  EXPECT_EQ(requests_.in_flight_count(), 0u);
  EXPECT_FALSE(requests_.uses("7"));
}

TEST_F(ClientRequestsTest, TheSpellingIsKept) {
  EXPECT_EQ(requests_.add("1.0").id(), "1.0");
  EXPECT_EQ(requests_.add(R"json("\u00fc")json").id(), R"json("\u00fc")json");
  EXPECT_EQ(requests_.add("12345678901234567890").id(), "12345678901234567890");
}

TEST_F(ClientRequestsTest, AnAnswerFindsItsRequestByMeaning) {
  ClientRequest& entry = sent("1.0");
  EXPECT_EQ(requests_.find_sent("1", 1), &entry);
  EXPECT_EQ(requests_.find_sent("1e0", 1), &entry);
  EXPECT_EQ(requests_.find_sent("\"1\"", 1), nullptr);
  EXPECT_EQ(requests_.find_sent("1", 2), nullptr);
}

TEST_F(ClientRequestsTest, PrefersTheSameSpellingThenTheOldestRequest) {
  ClientRequest& first = sent("1");
  ClientRequest& spelled = sent("1.0");
  ClientRequest& second = sent("1");
  EXPECT_EQ(requests_.find_sent("1.0", 1), &spelled);
  EXPECT_EQ(requests_.find_sent("1", 1), &first);
  requests_.take(first);
  EXPECT_EQ(requests_.find_sent("1", 1), &second);
  requests_.take(second);
  EXPECT_EQ(requests_.find_sent("1", 1), &spelled);
}

TEST_F(ClientRequestsTest, OnlyWhatWasSentIsFoundByAnAnswer) {
  ClientRequest& waiting = requests_.add("1");
  EXPECT_EQ(requests_.find_sent("1", 1), nullptr);
  requests_.mark_sent(waiting, 1, {});
  requests_.hold(waiting, "{}");
  EXPECT_EQ(requests_.find_sent("1", 1), nullptr);
  ClientRequest& ours = requests_.add("2");
  ours.state = State::ours;
  EXPECT_EQ(requests_.find_sent("2", 1), nullptr);
}

TEST_F(ClientRequestsTest, ACancellationMeansTheNewestOpenRequest) {
  ClientRequest& first = sent("1");
  ClientRequest& second = sent("1");
  EXPECT_EQ(requests_.find_open("1"), &second);
  requests_.cancel(second);
  EXPECT_EQ(requests_.find_open("1"), &first);
  requests_.cancel(first);
  EXPECT_EQ(requests_.find_open("1"), nullptr);
}

TEST_F(ClientRequestsTest, ACancelledRequestIsOwedNothingButRemembered) {
  ClientRequest& entry = sent("1");
  requests_.cancel(entry);
  EXPECT_EQ(requests_.owed_count(), 0u);
  EXPECT_EQ(requests_.in_flight_count(), 0u);
  EXPECT_EQ(requests_.find_sent("1", 1), &entry);
  requests_.take(entry);
  EXPECT_EQ(requests_.owed_count(), 0u);
  EXPECT_EQ(requests_.find_sent("1", 1), nullptr);
}

TEST_F(ClientRequestsTest, ForgetsACancelledRequestThatTheChildNeverSaw) {
  ClientRequest& waiting = requests_.add("1");
  requests_.enqueue(waiting, "line", {});
  requests_.cancel(waiting);
  EXPECT_EQ(requests_.waiting_count(), 0u);
  EXPECT_EQ(requests_.waiting_bytes(), 0u);
  EXPECT_FALSE(requests_.uses("1"));
  ClientRequest& ours = requests_.add("2");
  ours.state = State::ours;
  requests_.cancel(ours);
  EXPECT_FALSE(requests_.uses("2"));
  ClientRequest& held = sent("3");
  requests_.hold(held, "{}");
  requests_.cancel(held);
  EXPECT_FALSE(requests_.uses("3"));
  EXPECT_EQ(requests_.owed_count(), 0u);
}

TEST_F(ClientRequestsTest, CancelledRequestsAreForgottenTheOldestFirst) {
  for (std::size_t n = 0; n <= limits::kCancelledCountMax; ++n) {
    requests_.cancel(sent(std::to_string(n)));
  }
  EXPECT_EQ(limits::kCancelledCountMax, 1000u);
  EXPECT_FALSE(requests_.uses("0"));
  EXPECT_TRUE(requests_.uses("1"));
  EXPECT_THAT(requests_.all(State::cancelled), SizeIs(1000));
}

TEST_F(ClientRequestsTest, QueuedRequestsLeaveInTheirOrder) {
  ClientRequest& a = requests_.add("1");
  requests_.enqueue(a, "first", {});
  requests_.enqueue_notification("second");
  ClientRequest& b = requests_.add("2");
  requests_.enqueue(b, "third", {});
  EXPECT_EQ(requests_.waiting_count(), 3u);
  EXPECT_EQ(requests_.waiting_bytes(), 16u);
  EXPECT_EQ(requests_.first_waiting_request(), &a);
  auto waiting = requests_.next_waiting();
  EXPECT_EQ(waiting.request, &a);
  EXPECT_EQ(waiting.line.text(), "first");
  requests_.mark_sent(a, 1, {});
  EXPECT_EQ(requests_.first_waiting_request(), &b);
  EXPECT_EQ(requests_.next_waiting().request, nullptr);
  EXPECT_EQ(requests_.next_waiting().line.text(), "third");
  EXPECT_EQ(requests_.waiting_bytes(), 0u);
}

TEST_F(ClientRequestsTest, NotificationsAloneAreNoRequest) {
  requests_.enqueue_notification("x");
  EXPECT_EQ(requests_.first_waiting_request(), nullptr);
}

TEST_F(ClientRequestsTest, NotificationsMakeRoomForARequestOnlyIfThereIsNone) {
  requests_.enqueue_notification("first");
  ClientRequest& entry = requests_.add("1");
  requests_.enqueue(entry, "line", {});
  requests_.enqueue_notification("last");
  EXPECT_EQ(requests_.make_room(limits::kWaitingBytesMax - 13), 0u);
  EXPECT_EQ(requests_.waiting_count(), 3u);
  EXPECT_EQ(requests_.make_room(limits::kWaitingBytesMax - 12), 2u);
  EXPECT_EQ(requests_.waiting_bytes(), 4u);
  EXPECT_EQ(requests_.next_waiting().request, &entry);
  EXPECT_EQ(requests_.make_room(1), 0u);
}

TEST_F(ClientRequestsTest, ARequestThatIsSentAgainWaitsBeforeWhatCameLater) {
  ClientRequest& first = sent("1");
  ClientRequest& second = sent("2");
  requests_.enqueue_notification("note");
  ClientRequest& third = requests_.add("3");
  requests_.enqueue(third, "line of 3", {});
  requests_.retry(second, {});
  requests_.retry(first, {});
  EXPECT_TRUE(first.is_retried);
  EXPECT_EQ(requests_.in_flight_count(), 0u);
  EXPECT_EQ(requests_.owed_count(), 3u);
  EXPECT_EQ(requests_.waiting_bytes(), 31u);
  std::vector<std::string> lines;
  while (requests_.waiting_count() > 0) lines.push_back(requests_.next_waiting().line.text());
  EXPECT_THAT(lines, ElementsAre("line of 1", "line of 2", "note", "line of 3"));
}

TEST_F(ClientRequestsTest, OpeningsAndNotificationsDoNotCountAmongThoseThatWait) {
  const auto at = [](int second) { return Instant() + std::chrono::seconds(second); };
  EXPECT_EQ(requests_.waits_since(), std::nullopt);
  requests_.enqueue_notification("note");
  ClientRequest& opening = requests_.add("0");
  opening.method = Method::initialize;
  requests_.enqueue(opening, "line", at(1));
  EXPECT_EQ(requests_.waits_since(), std::nullopt);
  ClientRequest& first = sent("1");
  ClientRequest& second = requests_.add("2");
  requests_.enqueue(second, "line", at(2));
  requests_.retry(first, at(3));
  EXPECT_EQ(requests_.waits_since(), at(2));
  EXPECT_THAT(requests_.waiting_since(at(1)), IsEmpty());
  EXPECT_THAT(requests_.waiting_since(at(2)), ElementsAre(&second));
  EXPECT_THAT(requests_.waiting_since(at(3)), ElementsAre(&first, &second));
}

TEST_F(ClientRequestsTest, CountsTheBytesOfIdsAndLinesOfSentRequests) {
  ClientRequest& entry = requests_.add("1.0");
  EXPECT_EQ(requests_.bytes(), 0u);
  entry.tool = "echo";
  entry.more().progress_token = "77";
  requests_.mark_sent(entry, 1, OwnedLine(std::string("a line")));
  EXPECT_EQ(requests_.bytes(), 1u + 3u + 4u + 2u + 6u);
  requests_.retry(entry, {});
  EXPECT_EQ(requests_.bytes(), 0u);
  const auto waiting = requests_.next_waiting();
  requests_.mark_sent(entry, 2, {});
  EXPECT_EQ(requests_.bytes(), 10u);
  requests_.take(entry);
  EXPECT_EQ(requests_.bytes(), 0u);
  requests_.mark_ours(requests_.add("12"));
  EXPECT_EQ(requests_.bytes(), 2u);
}

TEST_F(ClientRequestsTest, AHandleFindsWhatTheBridgeAnswersUntilThatIsTaken) {
  ClientRequest& first = requests_.add("1");
  const RequestHandle handle = first.handle();
  EXPECT_EQ(requests_.find(handle), nullptr);
  requests_.mark_ours(first);
  EXPECT_EQ(requests_.find(handle), &first);
  requests_.hold(first, "an answer");
  EXPECT_EQ(requests_.find(handle), &first);
  requests_.take(first);
  EXPECT_EQ(requests_.find(handle), nullptr);

  ClientRequest& again = requests_.add("1");
  requests_.mark_ours(again);
  const RequestHandle second = again.handle();
  EXPECT_NE(second, handle);
  EXPECT_EQ(requests_.find(handle), nullptr);
  requests_.cancel(again);
  EXPECT_EQ(requests_.find(second), nullptr);
}

TEST_F(ClientRequestsTest, CancelledRequestsAreForgottenForTheirBytesToo) {
  const std::string half(limits::kInFlightBytesMax / 2, '1');
  ClientRequest& first = sent(half);
  requests_.cancel(first);
  ClientRequest& second = sent("\"" + half + "\"");
  EXPECT_GT(requests_.bytes(), limits::kInFlightBytesMax);
  requests_.cancel(second);
  EXPECT_FALSE(requests_.uses(half));
  EXPECT_TRUE(requests_.uses("\"" + half + "\""));
}

TEST_F(ClientRequestsTest, AnIdOfTheClientNeverMatchesAControlRequest) {
  ClientRequest& control = requests_.add_control(7);
  EXPECT_EQ(control.state, State::ours);
  EXPECT_TRUE(control.is_control());
  EXPECT_EQ(requests_.find_open(control.id()), nullptr);
  EXPECT_FALSE(requests_.uses(control.id()));
  EXPECT_EQ(requests_.owed_count(), 1u);
}

TEST_F(ClientRequestsTest, ARoundedIdMatchesTheOldestPendingRequest) {
  ClientRequest& first = sent("12345678901234567890");
  ClientRequest& second = sent("12345678901234567891");
  const std::string rounded = "12345678901234567168";
  EXPECT_EQ(requests_.find_rounded(rounded, 1), &first);
  EXPECT_EQ(requests_.find_rounded(rounded, 2), nullptr);
  EXPECT_EQ(requests_.find_rounded("12345678901234567892", 1), nullptr)
      << "no double is printed like this";
  requests_.cancel(first);
  EXPECT_EQ(requests_.find_rounded(rounded, 1), &second);
  requests_.take(second);
  EXPECT_EQ(requests_.find_rounded(rounded, 1), &first);
}

TEST_F(ClientRequestsTest, AHeldAnswerIsKept) {
  ClientRequest& entry = sent("1");
  requests_.hold(entry, "answer");
  EXPECT_EQ(requests_.in_flight_count(), 0u);
  EXPECT_EQ(requests_.owed_count(), 1u);
  EXPECT_EQ(entry.extra->answer.text(), "answer");
  requests_.take(entry);
  EXPECT_EQ(requests_.owed_count(), 0u);
}

TEST_F(ClientRequestsTest, AllComeInTheOrderInWhichTheyCame) {
  std::vector<ClientRequest*> expected;
  for (int n = 0; n < 100; ++n) expected.push_back(&sent(std::to_string(n), n % 2 + 1));
  EXPECT_EQ(requests_.all(State::sent), expected);
  EXPECT_THAT(requests_.all(State::sent, 2), SizeIs(50));
  EXPECT_THAT(requests_.all(State::waiting), IsEmpty());
}

TEST_F(ClientRequestsTest, AReferenceStaysValidWhileOthersComeAndGo) {
  ClientRequest& entry = sent("\"mine\"");
  for (int n = 0; n < 1000; ++n) sent(std::to_string(n));
  for (int n = 0; n < 1000; ++n) requests_.take(*requests_.find_sent(std::to_string(n), 1));
  EXPECT_EQ(requests_.find_sent("\"mine\"", 1), &entry);
}

TEST_F(ClientRequestsTest, TheTokenOfItsProgress) {
  ClientRequest& entry = requests_.add("1.0");
  EXPECT_EQ(entry.progress_token(), "");
  entry.wants_progress = true;
  EXPECT_EQ(entry.progress_token(), "1.0");
  entry.more().progress_token = "\"t\"";
  EXPECT_EQ(entry.progress_token(), "\"t\"");
}

TEST(InternalIdsTest, TheyAreOfTheTypeOfTheLastOpening) {
  InternalIds ids(0);
  ids.match_id_style("\"a\"");
  EXPECT_EQ(ids.next({}), "\"mcp-sitter-1125899906842624\"");
  ids.match_id_style("7");
  EXPECT_EQ(ids.next({}), "1125899906842625");
}

}  // namespace
}  // namespace sitter
