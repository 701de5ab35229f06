#include "core/base/polled_queue.hpp"

#include <gtest/gtest.h>

#include <string>

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

TEST(PolledQueueTest, AQueueThatWasEmptyGoesOn) {
  PolledQueue<std::string> queue;
  queue.push_back("a");
  EXPECT_NE(queue.poll(), nullptr);
  EXPECT_EQ(queue.poll(), nullptr);
  queue.push_back("b");
  const std::string* const value = queue.poll();
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(*value, "b");
}

}  // namespace
}  // namespace sitter
