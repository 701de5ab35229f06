#include "io/stream/stream_writer.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <string>

#include "support/processes.hpp"

namespace sitter {
namespace {

/// A piece of this size counts as large.
constexpr std::size_t kLarge = 256 * 1024;

/// A writer with a pipe. Each event of the writer is counted, and stops the loop.
class StreamWriterTest : public ::testing::Test {
 protected:
  StreamWriterTest() : sigpipe_(signal(SIGPIPE, SIG_IGN)) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
    output_ = FileDescriptor(ends[0]);
    room_ = static_cast<std::size_t>(fcntl(ends[1], F_GETPIPE_SZ));
    writer_ = std::make_unique<StreamWriter>(loop_, FileDescriptor(ends[1]),
                                             StreamWriter::Events{[this] {
                                                                    ++moved_;
                                                                    loop_.stop();
                                                                    if (on_moved_) on_moved_();
                                                                  },
                                                                  [this] {
                                                                    ++broken_;
                                                                    loop_.stop();
                                                                  }});
  }
  ~StreamWriterTest() override { signal(SIGPIPE, sigpipe_); }

  /// What the pipe holds, followed by "(end)" if the pipe has ended.
  std::string read_all() const {
    std::string text;
    char buffer[4096];
    while (true) {
      const ssize_t count = ::read(output_.number(), buffer, sizeof buffer);
      if (count == 0) return text + "(end)";
      if (count < 0) return text;
      text.append(buffer, static_cast<std::size_t>(count));
    }
  }
  std::size_t in_pipe() const {
    int bytes = 0;
    ioctl(output_.number(), FIONREAD, &bytes);
    return static_cast<std::size_t>(bytes);
  }
  /// Runs the loop until the next event.
  void run() {
    boost::asio::steady_timer limit(loop_.io(), testing::kPatience);
    limit.async_wait([this](boost::system::error_code error) {
      if (error) return;
      ADD_FAILURE() << "no event came";
      loop_.stop();
    });
    loop_.io().restart();
    loop_.post([] {});  // the last run may have left something in the context
    loop_.run();
  }
  /// Runs everything that is due now.
  void run_what_is_due() {
    loop_.io().restart();
    loop_.post([this] { loop_.post([this] { loop_.stop(); }); });
    loop_.run();
  }
  /// Everything that the pipe and the queue hold.
  std::string read_queue() {
    std::string text;
    while (writer_->queued() > 0 && !HasFailure()) {
      text += read_all();
      run();
    }
    return text + read_all();
  }
  /// Appends a piece that only the writer holds.
  std::weak_ptr<std::string> append_held(std::string text) {
    const auto piece = std::make_shared<std::string>(std::move(text));
    writer_->append(*piece, piece);
    return piece;
  }
  void fill() {
    writer_->append(std::string(room_, '-'));
    writer_->flush();
    ASSERT_EQ(in_pipe(), room_);
    ASSERT_EQ(writer_->queued(), 0u);
  }

  EventLoop loop_;
  FileDescriptor output_;
  std::size_t room_ = 0;
  int moved_ = 0;
  int broken_ = 0;
  std::function<void()> on_moved_;
  std::unique_ptr<StreamWriter> writer_;

 private:
  sighandler_t sigpipe_;
};

TEST_F(StreamWriterTest, SmallPiecesAreCollectedUntilTheFlush) {
  writer_->append("a");
  writer_->append_line("b");
  EXPECT_EQ(writer_->queued(), 3u);
  EXPECT_EQ(in_pipe(), 0u);
  writer_->flush();
  EXPECT_EQ(writer_->queued(), 0u);
  EXPECT_EQ(read_all(), "ab\n");
  run_what_is_due();
  EXPECT_EQ(moved_, 0);
}

TEST_F(StreamWriterTest, ALargePieceIsWrittenAtOnceBehindWhatWasCollected) {
  fcntl(output_.number(), F_SETPIPE_SZ, static_cast<int>(2 * kLarge));
  const std::string large(kLarge, 'x');
  writer_->append_line("small");
  writer_->append(large);
  EXPECT_EQ(writer_->queued(), 0u);
  EXPECT_EQ(read_all(), "small\n" + large);
}

TEST_F(StreamWriterTest, QueuesTheRestOfALargePieceUntilThereIsRoom) {
  std::string text;
  while (text.size() < 3 * room_ + kLarge) text += std::to_string(text.size()) + ' ';
  const auto held = append_held(text);
  std::size_t left = text.size() - room_;
  EXPECT_EQ(writer_->queued(), left);
  writer_->flush();

  std::string got;
  for (int events = 1; left > 0; ++events) {
    EXPECT_FALSE(held.expired());
    got += read_all();
    run();
    left -= std::min(left, room_);
    ASSERT_EQ(moved_, events);
    ASSERT_EQ(writer_->queued(), left);
  }
  EXPECT_TRUE(held.expired());
  EXPECT_TRUE(got + read_all() == text);
  EXPECT_EQ(broken_, 0);
}

TEST_F(StreamWriterTest, OfALargePieceWithoutAHolderTheRestIsCopied) {
  std::string text(room_ + kLarge, 'x');
  writer_->append_line(text);
  writer_->flush();
  text.assign(text.size(), '!');
  EXPECT_TRUE(read_queue() == std::string(text.size(), 'x') + '\n');
}

TEST_F(StreamWriterTest, WritesLaterOutputAfterAQueuedPiece) {
  fill();
  const auto held = std::make_shared<std::string>(kLarge, 'x');
  writer_->append_line("one");
  writer_->flush();
  writer_->append_line(*held, held);
  writer_->append_line("two");
  writer_->flush();
  EXPECT_EQ(writer_->queued(), 4 + kLarge + 1 + 4);
  EXPECT_TRUE(read_queue() == std::string(room_, '-') + "one\n" + *held + "\ntwo\n");
}

TEST_F(StreamWriterTest, TriesToWriteTheQueueAtTheClose) {
  fill();
  writer_->append_line("last words");
  writer_->flush();
  EXPECT_EQ(read_all(), std::string(room_, '-'));
  writer_->close();
  EXPECT_EQ(read_all(), "last words\n(end)");
}

TEST_F(StreamWriterTest, WhatIsNotTakenAtTheCloseIsLost) {
  writer_->watch();
  fill();
  const auto held = append_held(std::string(kLarge, 'x'));
  writer_->flush();
  writer_->close();
  EXPECT_EQ(writer_->queued(), 0u);
  EXPECT_TRUE(held.expired());
  EXPECT_EQ(read_all(), std::string(room_, '-') + "(end)");
  writer_->append_line("too late");
  writer_->flush();
  EXPECT_EQ(writer_->queued(), 0u);
  writer_->close();
  run_what_is_due();
  EXPECT_EQ(moved_ + broken_, 0);
}

TEST_F(StreamWriterTest, ReportsALostReaderOnceAndDropsTheQueue) {
  writer_->watch();
  fill();
  const auto held = append_held(std::string(kLarge, 'x'));
  writer_->flush();
  EXPECT_EQ(writer_->queued(), kLarge);
  output_.close();
  run();
  EXPECT_EQ(broken_, 1);
  EXPECT_EQ(moved_, 0);
  EXPECT_EQ(writer_->queued(), 0u);
  EXPECT_TRUE(held.expired());

  writer_->append_line("for nobody");
  writer_->append(std::string(kLarge, 'x'));
  writer_->flush();
  EXPECT_EQ(writer_->queued(), 0u);
  run_what_is_due();
  EXPECT_EQ(broken_, 1);
}

TEST_F(StreamWriterTest, ReportsABrokenWriteOnceAndAsynchronously) {
  writer_->watch();
  output_.close();
  writer_->append_line("for nobody");
  writer_->flush();
  EXPECT_EQ(writer_->queued(), 0u);
  EXPECT_EQ(broken_, 0);
  run();
  run_what_is_due();
  EXPECT_EQ(broken_, 1);
}

TEST_F(StreamWriterTest, AWatchReportsTheEndOfTheReaderWithoutAWrite) {
  writer_->watch();
  run_what_is_due();
  EXPECT_EQ(broken_, 0);
  output_.close();
  run();
  EXPECT_EQ(broken_, 1);
}

TEST_F(StreamWriterTest, MayBeDestroyedWithinItsEvent) {
  on_moved_ = [this] { writer_.reset(); };
  fill();
  writer_->append_line("one");
  writer_->flush();
  EXPECT_EQ(read_all(), std::string(room_, '-'));
  run();
  EXPECT_EQ(moved_, 1);
  EXPECT_EQ(read_all(), "one\n(end)");
}

TEST_F(StreamWriterTest, ReportsNothingOnceDestroyed) {
  writer_->watch();
  writer_->append(std::string(room_ + kLarge, 'x'));
  writer_->flush();
  writer_.reset();
  output_.close();
  run_what_is_due();
  EXPECT_EQ(moved_ + broken_, 0);
}

}  // namespace
}  // namespace sitter
