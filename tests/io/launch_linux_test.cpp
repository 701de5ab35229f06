#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <variant>

#include "process_support.hpp"

namespace sitter {
namespace {

TEST(LaunchOnLinux, TheChildEndsWithItsParent) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  FileDescriptor from_bridge(ends[0]);
  pid_t bridge = fork();
  if (bridge == 0) {
    auto result = testing::launch({"sleep", {"1000"}, {}, {}, {}});
    long pid = std::get<Launched>(result).pid;
    if (write(ends[1], &pid, sizeof pid) < 0) _exit(1);
    pause();
    _exit(0);
  }
  close(ends[1]);
  long pid = 0;
  ASSERT_EQ(read(from_bridge.number(), &pid, sizeof pid), ssize_t{sizeof pid});
  ASSERT_TRUE(testing::is_alive(pid));
  kill(bridge, SIGKILL);
  waitpid(bridge, nullptr, 0);
  EXPECT_TRUE(testing::eventually([&] { return !testing::is_alive(pid); }));
}

TEST(LaunchOnLinux, AFileThatIsBeingWrittenIsNamedBusy) {
  testing::TemporaryDirectory dir;
  std::string file = dir.copy_program("tool", "/bin/true");
  FileDescriptor writer(open(file.c_str(), O_WRONLY | O_CLOEXEC));
  EXPECT_THAT(testing::reason(testing::launch({file, {}, {}, {}, {}})),
              ::testing::HasSubstr("text file busy"));
}

}  // namespace
}  // namespace sitter
