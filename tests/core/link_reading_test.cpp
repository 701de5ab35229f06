#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "core/base/polled_queue.hpp"
#include "core/http/http_link.hpp"
#include "support/messages.hpp"

namespace sitter {
namespace {

TEST(PolledQueueTest, ValuesComeInTheirOrderAndOnce) {
  PolledQueue<std::string> queue;
  EXPECT_EQ(queue.poll(), nullptr);
  queue.push_back("a");
  queue.emplace_back(2, 'b');
  ASSERT_NE(queue.poll(), nullptr);
  const std::string* const second = queue.poll();
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(*second, "bb");
  EXPECT_EQ(queue.poll(), nullptr);
  EXPECT_EQ(queue.poll(), nullptr);
}

TEST(PolledQueueTest, AValueThatWasPolledStaysUntilTheNextCall) {
  PolledQueue<std::string> queue;
  queue.push_back("a");
  const std::string* const first = queue.poll();
  for (int i = 0; i < 1000; ++i) queue.push_back("b");
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(*first, "a");
  ASSERT_NE(queue.poll(), nullptr);
}

TEST(PolledQueueTest, AnEmptiedQueueAcceptsNewValues) {
  PolledQueue<std::string> queue;
  queue.push_back("a");
  EXPECT_NE(queue.poll(), nullptr);
  EXPECT_EQ(queue.poll(), nullptr);
  queue.push_back("b");
  const std::string* const value = queue.poll();
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(*value, "b");
}

constexpr Generation kGen = 1;

/// A link whose session is open. What is read on one side of it is not read again on the other.
class LinkReadingTest : public ::testing::Test {
 protected:
  LinkReadingTest() {
    link_.handle(order::StartChild{kGen}, {});
    link_.handle(fact::HttpConnected{sent()}, {});
    EXPECT_TRUE(link_.poll_fact());
  }

  /// The exchange of the last order.
  ExchangeId sent() {
    ExchangeId exchange{};
    while (const auto order = link_.poll_order()) {
      std::visit([&](const auto& one) { exchange = one.exchange; }, *order);
    }
    return exchange;
  }
  ExchangeId send(const std::string& line, const Message* message = nullptr) {
    link_.handle(order::SendToChild{kGen, Outgoing::own(line), message}, {});
    return sent();
  }
  void answer(ExchangeId exchange, const std::string& type, const std::string& body) {
    link_.handle(fact::HttpHead{exchange, 200, {{"content-type", type}}}, {});
    link_.handle(fact::HttpBytes{exchange, body}, {});
    link_.handle(fact::HttpEnded{exchange}, {});
  }
  /// The raw id in what the link has read of its next line, or "nothing".
  std::string id_read() {
    const Fact* const fact = link_.poll_fact();
    if (fact == nullptr || !std::holds_alternative<fact::ChildLine>(*fact)) return "no line";
    const Message* const message = std::get<fact::ChildLine>(*fact).message;
    return message == nullptr ? "nothing" : std::string(message->id);
  }

  HttpLink link_{{}};
};

TEST_F(LinkReadingTest, WhatTheBridgeHasReadIsNotReadAgain) {
  Message message;
  message.kind = Message::Kind::request;
  message.id = "2";
  const ExchangeId exchange = send(call(1, "echo"), &message);
  answer(exchange, "application/json", result(2));
  EXPECT_EQ(id_read(), "2");
}

TEST_F(LinkReadingTest, ALineThatTheBridgeHasNotReadIsRead) {
  answer(send(call(1, "echo")), "application/json", result(1));
  EXPECT_EQ(id_read(), "1");
}

TEST_F(LinkReadingTest, PassesTheParsedMessageOnlyWithTheLastLineOfARead) {
  answer(send(call(1, "echo")), "text/event-stream",
         "data: " + request("\"q\"", "ping") + "\n\ndata: " + result(1) + "\n\n");
  EXPECT_EQ(id_read(), "nothing");
  EXPECT_EQ(id_read(), "1");
}

TEST_F(LinkReadingTest, AFactThatWasPolledStaysWhileOthersCome) {
  answer(send(call(1, "echo")), "application/json", result(1));
  const Fact* const fact = link_.poll_fact();
  ASSERT_NE(fact, nullptr);
  for (int id = 2; id < 20; ++id) {
    answer(send(call(id, "echo")), "application/json", result(id));
  }
  EXPECT_EQ(std::get<fact::ChildLine>(*fact).line.text(), result(1));
}

TEST_F(LinkReadingTest, AnOrderThatWasPolledStaysWhileOthersCome) {
  link_.handle(order::SendToChild{kGen, Outgoing::own(call(1, "echo")), nullptr}, {});
  const HttpOrder* const order = link_.poll_order();
  ASSERT_NE(order, nullptr);
  for (int id = 2; id < 20; ++id) {
    link_.handle(order::SendToChild{kGen, Outgoing::own(call(id, "echo")), nullptr}, {});
  }
  EXPECT_EQ(std::get<order::HttpSend>(*order).body, call(1, "echo"));
}

TEST_F(LinkReadingTest, DoesNotPassAnOutdatedParsedMessage) {
  answer(send(call(1, "echo")), "application/json", result(1));
  send(call(2, "echo"));
  EXPECT_EQ(id_read(), "nothing");
}

}  // namespace
}  // namespace sitter
