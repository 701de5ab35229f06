#include "io/stream/stream_reader.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <thread>

#include "pipe_reader.hpp"

namespace sitter {
namespace {

/// How many pages this process had to be given so far.
long page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

TEST(StreamReaderTest, FurtherLongLinesTakeNoNewMemory) {
  constexpr int kFirst = 2;
  constexpr int kLines = 7;
  constexpr std::size_t kSize = 10'000'000;
  constexpr long kFaultsMax = 50;
  EventLoop loop;
  Pipe pipe;
  fcntl(pipe.input.number(), F_SETFL, 0);
  long before = 0;
  int lines = 0;
  const StreamReader reader(loop, std::move(pipe.output), LineFramer(),
                            StreamReader::Events{[&](LineFramer& framer) {
                                                   while (const auto frame = framer.next()) {
                                                     EXPECT_EQ(frame->line.text().size(), kSize);
                                                     if (++lines == kFirst) before = page_faults();
                                                     if (lines == kLines) loop.stop();
                                                   }
                                                 },
                                                 [](LineFramer&) {},
                                                 {}});
  std::thread writer([&] {
    const std::string line = std::string(kSize, 'x') + "\n";
    for (int i = 0; i < kLines; ++i) {
      for (std::string_view rest = line; !rest.empty();) {
        const ssize_t count = write(pipe.input.number(), rest.data(), rest.size());
        ASSERT_GT(count, 0);
        rest.remove_prefix(static_cast<std::size_t>(count));
      }
    }
  });
  loop.run();
  writer.join();
  EXPECT_LT(page_faults() - before, kFaultsMax * (kLines - kFirst));
}

}  // namespace
}  // namespace sitter
