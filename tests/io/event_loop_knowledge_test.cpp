// What the loop of Linux knows of its readers without a call of the system.
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "pipe_reader.hpp"

namespace sitter {
namespace {

/// What the loop knows of a second reader when it calls the first one.
class EventLoopKnowledgeTest : public ::testing::Test {
 protected:
  /// Something happens after a few rounds of the loop, when Asio has nothing more to do.
  bool knows_as_quiet_after(const std::function<void()>& happens) {
    // Asio begins to look when something waits for it.
    boost::asio::steady_timer timer(loop_.io(), std::chrono::hours(1));
    timer.async_wait([](boost::system::error_code) {});
    bool knows = false;
    int calls = 0;
    const ByteReader first(loop_, asking_, [&] {
      if (++calls == kCalls - 1) happens();
      if (calls < kCalls) return;
      knows = loop_.knows_as_quiet(*second_);
      loop_.stop();
    });
    second_ = std::make_unique<ByteReader>(loop_, other_, [] {});
    asking_.write(std::string(kCalls, 'x'));
    loop_.run();
    EXPECT_EQ(calls, kCalls);
    second_.reset();
    return knows;
  }

  static constexpr int kCalls = 10;

  EventLoop loop_;
  Pipe asking_, other_;
  std::unique_ptr<ByteReader> second_;
};

TEST_F(EventLoopKnowledgeTest, AReaderIsQuietIfNothingHasComeForIt) {
  EXPECT_TRUE(knows_as_quiet_after([] {}));
}

TEST_F(EventLoopKnowledgeTest, AReaderIsNotQuietIfSomethingHasCome) {
  EXPECT_FALSE(knows_as_quiet_after([this] { other_.write("x"); }));
}

TEST_F(EventLoopKnowledgeTest, AReaderIsNotQuietIfItsEndHasCome) {
  EXPECT_FALSE(knows_as_quiet_after([this] { other_.input.close(); }));
}

TEST_F(EventLoopKnowledgeTest, TheLoopKnowsNothingAfterAnythingElseWasCalled) {
  EXPECT_FALSE(knows_as_quiet_after([this] { loop_.post([] {}); }));
}

TEST_F(EventLoopKnowledgeTest, TheLoopKnowsNothingAfterAnotherReaderWasCalled) {
  Pipe earlier;
  const ByteReader reading(loop_, earlier, [] {});
  EXPECT_FALSE(knows_as_quiet_after([&] { earlier.write("x"); }));
}

TEST_F(EventLoopKnowledgeTest, TheLoopKnowsNothingOfAReaderBeforeItRuns) {
  const ByteReader reading(loop_, other_, [] {});
  EXPECT_FALSE(loop_.knows_as_quiet(reading));
}

}  // namespace
}  // namespace sitter
