#include "io/stream/event_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/stream/stream_reader.hpp"
#include "io/stream/stream_writer.hpp"
#include "io/stream/timer.hpp"
#include "pipe_reader.hpp"
#include "support/temporary_directory.hpp"

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// What a pipe holds by default, and what a reader takes at once.
constexpr std::size_t kPipe = 65536;

class EventLoopTest : public ::testing::Test {
 protected:
  /// A reader that collects lines, and stops the loop at the end of its input.
  std::unique_ptr<StreamReader> reader(FileDescriptor source) {
    return std::make_unique<StreamReader>(
        loop_, std::move(source), LineFramer(),
        StreamReader::Events{[this](LineFramer& framer) {
                               while (const auto frame = framer.next()) {
                                 lines_.emplace_back(frame->line.text());
                               }
                               if (on_lines_) on_lines_();
                             },
                             [this](LineFramer&) {
                               lines_.emplace_back("end");
                               loop_.stop();
                             },
                             {}});
  }

  EventLoop loop_;
  std::vector<std::string> lines_;
  std::function<void()> on_lines_;
};

TEST_F(EventLoopTest, AnEndThatCameWithTheLastBytesIsNoticed) {
  Pipe pipe;
  const auto reading = reader(std::move(pipe.output));
  pipe.write("one\ntwo\n");
  pipe.input.close();
  loop_.run();
  EXPECT_THAT(lines_, ElementsAre("one", "two", "end"));
}

TEST_F(EventLoopTest, KeepsReadingAfterAFullBuffer) {
  Pipe pipe;
  const auto reading = reader(std::move(pipe.output));
  pipe.write(std::string(kPipe - 1, 'x') + '\n');
  bool wrote = false;
  on_lines_ = [&] {
    if (std::exchange(wrote, true)) return;
    pipe.write("more\n");
    pipe.input.close();
  };
  loop_.run();
  ASSERT_THAT(lines_, SizeIs(3));
  EXPECT_EQ(lines_[0].size(), kPipe - 1);
  EXPECT_EQ(lines_[1], "more");
}

TEST_F(EventLoopTest, ReadsWhatArrivesBetweenTwoEvents) {
  Pipe pipe;
  const auto reading = reader(std::move(pipe.output));
  pipe.write("0\n");
  int count = 0;
  on_lines_ = [&] {
    if (++count == 1000) {
      pipe.input.close();
    } else {
      pipe.write(std::to_string(count) + "\n");
    }
  };
  loop_.run();
  EXPECT_THAT(lines_, SizeIs(1001));
}

TEST_F(EventLoopTest, WhatCameDuringAPauseIsReadAfterIt) {
  Pipe pipe;
  const auto reading = reader(std::move(pipe.output));
  reading->set_paused(true);
  pipe.write("early\n");
  // By then the loop knows of the line.
  loop_.post([&] {
    EXPECT_THAT(lines_, IsEmpty());
    loop_.post([&] {
      EXPECT_THAT(lines_, IsEmpty());
      reading->set_paused(false);
      pipe.input.close();
    });
  });
  loop_.run();
  EXPECT_THAT(lines_, ElementsAre("early", "end"));
}

TEST_F(EventLoopTest, WhatHasArrivedIsReadBeforeADeadlineAndAtTheSameTime) {
  Pipe pipe;
  const auto reading = reader(std::move(pipe.output));
  Instant read_at;
  on_lines_ = [&] { read_at = loop_.now(); };
  loop_.post([&] {
    // More than one read takes.
    pipe.write(std::string(kPipe / 2, 'x') + '\n' + std::string(kPipe / 2 - 2, 'y') + '\n');
    pipe.input.close();
    loop_.call_due([&] {
      lines_.emplace_back("due");
      EXPECT_EQ(loop_.now(), read_at);
    });
  });
  loop_.run();
  EXPECT_THAT(lines_, ElementsAre(SizeIs(kPipe / 2), SizeIs(kPipe / 2 - 2), "end", "due"));
}

TEST_F(EventLoopTest, ATimerComesAfterWhatHasArrived) {
  Pipe pipe;
  Timer timer(loop_, [&] {
    lines_.emplace_back("due");
    pipe.input.close();
  });
  const auto reading = reader(std::move(pipe.output));
  loop_.post([&] {
    pipe.write("early\n");
    timer.set(loop_.now());
  });
  loop_.run();
  EXPECT_THAT(lines_, ElementsAre("early", "due", "end"));
}

TEST_F(EventLoopTest, WhatIsReadBeforeATimerMayCancelIt) {
  Pipe pipe;
  Timer timer(loop_, [&] { lines_.emplace_back("due"); });
  const auto reading = reader(std::move(pipe.output));
  on_lines_ = [&] {
    timer.cancel();
    pipe.input.close();
  };
  loop_.post([&] {
    pipe.write("early\n");
    timer.set(loop_.now());
  });
  loop_.run();
  EXPECT_THAT(lines_, ElementsAre("early", "end"));
}

TEST_F(EventLoopTest, AReaderGetsATurnAfterEachHandler) {
  Pipe pipe;
  const auto reading = reader(std::move(pipe.output));
  pipe.write("one\n");
  int handlers = 0;
  std::function<void()> again = [&] {
    if (++handlers < 1000 && lines_.empty()) boost::asio::post(loop_.io(), again);
  };
  on_lines_ = [&] { pipe.input.close(); };
  boost::asio::post(loop_.io(), again);
  loop_.run();
  EXPECT_LE(handlers, 2);
}

TEST_F(EventLoopTest, AFileIsReadToItsEnd) {
  const testing::TemporaryDirectory directory;
  const std::string file = directory.write("input", std::string(3 * kPipe, 'x') + "\nlast\n");
  const auto reading = reader(FileDescriptor(open(file.c_str(), O_RDONLY | O_CLOEXEC)));
  loop_.run();
  ASSERT_THAT(lines_, SizeIs(3));
  EXPECT_EQ(lines_[0].size(), 3 * kPipe);
  EXPECT_EQ(lines_[1], "last");
}

TEST_F(EventLoopTest, AnInvalidDescriptorIsAnEnd) {
  const auto reading = reader(FileDescriptor());
  loop_.run();
  EXPECT_THAT(lines_, ElementsAre("end"));
}

TEST_F(EventLoopTest, AReaderMayBeForgottenInItsOwnEvent) {
  Pipe gone, other;
  auto first = reader(std::move(gone.output));
  const auto second = reader(std::move(other.output));
  gone.write("of the first\n");
  on_lines_ = [&] {
    if (!first) return;
    first.reset();
    other.write("of the second\n");
    other.input.close();
  };
  loop_.run();
  EXPECT_THAT(lines_, ElementsAre("of the first", "of the second", "end"));
}

TEST_F(EventLoopTest, NowIsTheTimeOfTheReadersCall) {
  const auto wait_for_later_than = [](Instant then) {
    while (Instant::clock::now() <= then) continue;
  };
  Pipe pipe;
  const auto reading = reader(std::move(pipe.output));
  pipe.write("line\n");
  const Instant before = loop_.now();
  wait_for_later_than(before);
  Instant called{};
  on_lines_ = [&] {
    called = loop_.now();
    EXPECT_GT(called, before);
    wait_for_later_than(called);
    EXPECT_EQ(loop_.now(), called);
    pipe.input.close();
  };
  loop_.run();
  ASSERT_THAT(lines_, ElementsAre("line", "end"));
  EXPECT_GT(loop_.now(), called);
}

TEST_F(EventLoopTest, WhatAReaderPostsIsCalled) {
  Pipe pipe;
  const auto reading = reader(std::move(pipe.output));
  pipe.write("line\n");
  on_lines_ = [&] { loop_.post([&] { loop_.stop(); }); };
  loop_.run();
  EXPECT_THAT(lines_, ElementsAre("line"));
}

TEST_F(EventLoopTest, AFunctionThatRepostsItselfDelaysNothing) {
  Pipe pipe;
  const auto reading = reader(std::move(pipe.output));
  int calls = 0;
  std::function<void()> again = [&] {
    if (++calls == 1000) {
      loop_.stop();
      return;
    }
    if (calls == 10) pipe.write("line\n");
    loop_.post(again);
  };
  on_lines_ = [&] { loop_.stop(); };
  loop_.post(again);
  loop_.run();
  EXPECT_THAT(lines_, ElementsAre("line"));
  EXPECT_LT(calls, 20);
}

TEST_F(EventLoopTest, RunsWhatAPostedFunctionPostsToAsio) {
  boost::asio::steady_timer timer(loop_.io());
  timer.expires_after(std::chrono::milliseconds(1));
  timer.async_wait([&](boost::system::error_code) {
    loop_.post([&] { boost::asio::post(loop_.io(), [&] { loop_.stop(); }); });
  });
  loop_.run();
}

TEST_F(EventLoopTest, AFunctionThatIsNeverCalledMayOwnAReader) {
  auto loop = std::make_unique<EventLoop>();
  Pipe pipe;
  auto reading = std::make_shared<StreamReader>(*loop, std::move(pipe.output), LineFramer(),
                                                StreamReader::Events{});
  loop->post([owned = std::move(reading)] {});
  loop.reset();
}

TEST_F(EventLoopTest, ATimerSetByAReaderExpires) {
  Pipe pipe;
  const auto reading = reader(std::move(pipe.output));
  pipe.write("line\n");
  boost::asio::steady_timer timer(loop_.io());
  on_lines_ = [&] {
    timer.expires_after(std::chrono::milliseconds(1));
    timer.async_wait([&](boost::system::error_code) { loop_.stop(); });
  };
  loop_.run();
  EXPECT_THAT(lines_, ElementsAre("line"));
}

TEST_F(EventLoopTest, ALargePieceThatIsNotTakenAtOnceIsHeldAndNotCopied) {
  Pipe pipe;
  StreamWriter writer(loop_, std::move(pipe.input), {[] {}, [] {}});
  auto text = std::make_shared<std::string>(20 * kPipe, 'x');
  const std::weak_ptr<std::string> held = text;
  writer.append("before\n");
  writer.append_line(*text, text);
  writer.append_line("after", {});
  writer.flush();
  text.reset();
  EXPECT_FALSE(held.expired());
  EXPECT_GT(writer.queued(), 0u);

  const auto reading = reader(std::move(pipe.output));
  on_lines_ = [&] {
    if (lines_.back() == "after") loop_.stop();
  };
  loop_.run();
  ASSERT_THAT(lines_, SizeIs(3));
  EXPECT_EQ(lines_[0], "before");
  EXPECT_EQ(lines_[1], std::string(20 * kPipe, 'x'));
  EXPECT_TRUE(held.expired());
  EXPECT_EQ(writer.queued(), 0u);
}

}  // namespace
}  // namespace sitter
