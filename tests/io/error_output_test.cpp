#include "io/stream/error_output.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "io/system/file_descriptor.hpp"
#include "sitter/bytes.hpp"
#include "support/processes.hpp"

namespace sitter {
namespace {

using testing::eventually;

/// During a test, the stderr of this process is a pipe that is read only when the test says so.
class ErrorOutputTest : public ::testing::Test {
 protected:
  ErrorOutputTest() : own_(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    pipe_ = FileDescriptor(ends[0]);
    room_ = static_cast<std::size_t>(fcntl(ends[1], F_GETPIPE_SZ));
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    output_.emplace();
  }
  ~ErrorOutputTest() override {
    output_.reset();
    dup2(own_.number(), STDERR_FILENO);
  }

  /// Reads this many bytes. If no more bytes come, returns what has come so far.
  std::string read(std::size_t size) const {
    std::string text(size, '\0');
    std::size_t filled = 0;
    while (filled < size) {
      pollfd readable{pipe_.number(), POLLIN, 0};
      const auto limit = std::chrono::milliseconds(testing::kPatience).count();
      if (poll(&readable, 1, static_cast<int>(limit)) <= 0) break;
      const ssize_t count = ::read(pipe_.number(), text.data() + filled, size - filled);
      if (count <= 0) break;
      filled += static_cast<std::size_t>(count);
    }
    text.resize(filled);
    return text;
  }
  std::size_t in_pipe() const {
    int bytes = 0;
    ioctl(pipe_.number(), FIONREAD, &bytes);
    return static_cast<std::size_t>(bytes);
  }
  /// Makes the thread hang in its write, with everything taken from the queue.
  void block() {
    output_->write(std::string(room_ + 1, '-'));
    ASSERT_TRUE(eventually([this] { return in_pipe() == room_; }));
  }

  std::optional<ErrorOutput> output_;
  std::size_t room_ = 0;

 private:
  FileDescriptor own_;
  FileDescriptor pipe_;
};

TEST_F(ErrorOutputTest, WhatIsWrittenComesInOrder) {
  output_->write("one\n");
  output_->write("two\n");
  EXPECT_EQ(read(8), "one\ntwo\n");
  output_->write("three\n");
  EXPECT_EQ(read(6), "three\n");
}

TEST_F(ErrorOutputTest, QueuesOneMiBAndReportsWhatItDrops) {
  block();
  const std::string most(limits::kMiB, 'x');
  output_->write(most);
  output_->write("y");
  output_->write("zz");
  const std::string told =
      "\n[mcp-sitter] 3 bytes of stderr were not written: nobody was reading it\n";
  const std::string expected = std::string(room_ + 1, '-') + most + told;
  EXPECT_TRUE(read(expected.size()) == expected);
  output_->write("next\n");
  EXPECT_EQ(read(5), "next\n");
}

TEST_F(ErrorOutputTest, DropsATooLargeTextWholeAndKeepsTheNext) {
  block();
  output_->write(std::string(limits::kMiB + 1, 'x'));
  output_->write("fits");
  const std::string expected =
      std::string(room_ + 1, '-') +
      "fits\n[mcp-sitter] 1048577 bytes of stderr were not written: nobody was reading it\n";
  EXPECT_EQ(read(expected.size()), expected);
}

TEST_F(ErrorOutputTest, WaitsForANonBlockingStderr) {
  fcntl(STDERR_FILENO, F_SETFL, fcntl(STDERR_FILENO, F_GETFL) | O_NONBLOCK);
  block();
  output_->write("next");
  const std::string expected = std::string(room_ + 1, '-') + "next";
  EXPECT_EQ(read(expected.size()), expected);
}

TEST_F(ErrorOutputTest, LinesOfManyThreadsStayWhole) {
  constexpr int kThreads = 4;
  constexpr int kLines = 200;
  std::vector<std::thread> threads;
  std::size_t size = 0;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([this, number] {
      for (int line = 0; line < kLines; ++line) {
        output_->write(std::to_string(number) + " " + std::to_string(1000 + line) + "\n");
      }
    });
    size += kLines * std::string("0 1000\n").size();
  }
  std::istringstream text(read(size));
  for (std::thread& thread : threads) thread.join();
  std::map<int, int> lines;
  for (int number = 0, line = 0; text >> number >> line;) {
    ASSERT_EQ(line, 1000 + lines[number]++);
  }
  for (int number = 0; number < kThreads; ++number) EXPECT_EQ(lines[number], kLines);
}

TEST_F(ErrorOutputTest, CanBeDestroyedWhileNobodyReads) {
  block();
  output_->write("late");
  output_.reset();
  // The pipe is emptied for the thread, which must not outlive the pipe.
  const std::string expected = std::string(room_ + 1, '-') + "late";
  EXPECT_EQ(read(expected.size()), expected);
}

}  // namespace
}  // namespace sitter
