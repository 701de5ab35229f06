#include "io/stream/stream_reader.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <thread>

#include "io/stream/line_relay.hpp"
#include "io/stream/message_framer.hpp"
#include "io/stream/stream_writer.hpp"
#include "io/system/posix.hpp"
#include "pipe_reader.hpp"
#include "sitter/bytes.hpp"

namespace sitter {
namespace {

/// How many pages this process had to be given so far.
long page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

constexpr long kFaultsMax = 50;

/// Waits until all of it is taken.
void write_all(const FileDescriptor& input, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(input.number(), text.data(), text.size());
    ASSERT_GT(count, 0);
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

TEST(StreamReaderTest, FurtherLongLinesTakeNoNewMemory) {
  constexpr int kFirst = 2;
  constexpr int kLines = 7;
  constexpr std::size_t kSize = 10'000'000;
  EventLoop loop;
  Pipe pipe;
  long before = 0;
  int lines = 0;
  const StreamReader reader(loop, std::move(pipe.output), message_framer(),
                            StreamReader::Events{[&](LineFramer& framer) {
                                                   while (const auto frame = framer.next()) {
                                                     EXPECT_EQ(frame->line.text().size(), kSize);
                                                     if (++lines == kFirst) before = page_faults();
                                                     if (lines == kLines) loop.stop();
                                                   }
                                                 },
                                                 [](LineFramer&) {},
                                                 {}});
  fcntl(pipe.input.number(), F_SETFL, 0);
  std::thread writer([&] {
    const std::string line = std::string(kSize, 'x') + "\n";
    for (int i = 0; i < kLines; ++i) write_all(pipe.input, line);
  });
  loop.run();
  writer.join();
  EXPECT_LT(page_faults() - before, kFaultsMax * (kLines - kFirst));
}

TEST(StreamReaderTest, FurtherLongLinesForASlowReaderTakeNoNewMemory) {
  constexpr int kFirst = 5;
  constexpr int kLines = 25;
  constexpr std::size_t kSize = 1'000'000;
  // As at the start of the program. Otherwise the C library keeps what was freed.
  platform::give_back_freed_memory();
  EventLoop loop;
  Pipe from;
  Pipe to;
  long before = 0;
  int lines = 0;
  StreamWriter slow(loop, std::move(to.input), {[] {}, [] {}});
  LineRelay relay;
  const StreamReader reader(loop, std::move(from.output), message_framer(),
                            StreamReader::Events{[&](LineFramer& framer) {
                                                   relay.each_frame(framer, [&](const auto& frame) {
                                                     relay.put(Outgoing::passed(frame.line), slow);
                                                     if (++lines == kFirst) before = page_faults();
                                                   });
                                                   slow.flush();
                                                 },
                                                 [&](LineFramer&) { loop.stop(); },
                                                 {}});
  fcntl(from.input.number(), F_SETFL, 0);
  fcntl(to.output.number(), F_SETFL, 0);
  std::thread writer([&] {
    const std::string line = std::string(kSize, 'x') + "\n";
    std::string piece(64 * limits::kKiB, '\0');
    for (int i = 0; i < kLines; ++i) {
      write_all(from.input, line);
      for (std::size_t left = line.size(); left > 0;) {
        const ssize_t count = read(to.output.number(), piece.data(), piece.size());
        ASSERT_GT(count, 0);
        left -= static_cast<std::size_t>(count);
      }
    }
    from.input.close();
  });
  loop.run();
  writer.join();
  EXPECT_EQ(lines, kLines);
  EXPECT_LT(page_faults() - before, kFaultsMax * (kLines - kFirst));
}

}  // namespace
}  // namespace sitter
