#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <variant>

#include "io/system/posix.hpp"
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
  const ssize_t size = read(from_bridge.number(), &pid, sizeof pid);
  const bool has_begun = size == ssize_t{sizeof pid} && testing::is_alive(pid);
  kill(bridge, SIGKILL);
  waitpid(bridge, nullptr, 0);
  ASSERT_TRUE(has_begun);
  EXPECT_TRUE(testing::eventually([&] { return !testing::is_alive(pid); }));
}

TEST(LaunchOnLinux, AFileThatIsBeingWrittenIsNamedBusy) {
  testing::TemporaryDirectory dir;
  std::string file = dir.copy_program("tool", "/bin/true");
  FileDescriptor writer(open(file.c_str(), O_WRONLY | O_CLOEXEC));
  EXPECT_THAT(testing::reason(testing::launch({file, {}, {}, {}, {}})),
              ::testing::HasSubstr("text file busy"));
}

TEST(Reaper, CollectsAdoptedOrphansToo) {
  ASSERT_TRUE(platform::become_subreaper());
  testing::Child wrapper("sh", testing::shell("(setsid sleep 1000 & echo $!)"));
  ASSERT_TRUE(wrapper.started()) << wrapper.failure();
  long orphan = std::stol(testing::read_line(wrapper->output));
  wrapper.wait();
  kill(static_cast<pid_t>(orphan), SIGKILL);
  ExitStatus status;
  EXPECT_TRUE(testing::eventually([&] {
    for (const Reaped& ended : reap()) {
      if (ended.pid == orphan) status = ended.status;
    }
    return status.by_signal();
  }));
  EXPECT_EQ(status, (ExitStatus{137, "SIGKILL"}));
}

}  // namespace
}  // namespace sitter
