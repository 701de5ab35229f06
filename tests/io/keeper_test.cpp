#include "io/process/keeper.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "process_support.hpp"

namespace sitter {
namespace {

using testing::Child;
using testing::descriptors_of;
using ::testing::ElementsAre;
using testing::eventually;
using testing::is_alive;
using testing::read_line;
using testing::shell;

std::string descriptor_target(long pid, int number) {
  return std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/fd/" +
                                       std::to_string(number))
      .string();
}

/// A process that has a keeper and one child, and does nothing else.
class FakeBridge {
 public:
  explicit FakeBridge(const std::string& script) {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    from_bridge_ = FileDescriptor(ends[0]);
    pid_ = fork();
    if (pid_ == 0) run(script, ends[1]);
    close(ends[1]);
  }
  FakeBridge(const FakeBridge&) = delete;
  FakeBridge& operator=(const FakeBridge&) = delete;
  ~FakeBridge() { die(); }

  /// First the pid of the keeper, then the pids that the script prints.
  long next_pid() { return std::stol(read_line(from_bridge_)); }

  void die() {
    if (pid_ == 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  [[noreturn]] static void run(const std::string& script, int to_test) {
    FileDescriptor out(to_test);
    auto keeper = Keeper::start("");
    if (!keeper) _exit(1);
    auto child = launch(plan_launch({"sh", shell(script), {}, {}, {}}), 1, &*keeper);
    auto& launched = std::get<Launched>(child);
    testing::write_line(out, std::to_string(keeper->pid()));
    while (true) testing::write_line(out, read_line(launched.output));
  }

  pid_t pid_ = 0;
  FileDescriptor from_bridge_;
};

TEST(Keeper, KillsWhatASigkilledBridgeLeaves) {
  FakeBridge bridge(
      "trap '' TERM HUP INT; echo $$; sleep 1000 & echo $!; "
      "sh -c 'sleep 1000 & echo $!'; while :; do sleep 1000; done");
  long keeper = bridge.next_pid();
  long wrapper = bridge.next_pid();
  long server = bridge.next_pid();
  long orphan = bridge.next_pid();
  ASSERT_TRUE(is_alive(keeper) && is_alive(wrapper) && is_alive(server) && is_alive(orphan));
  bridge.die();
  for (long pid : {wrapper, server, orphan, keeper}) {
    EXPECT_TRUE(eventually([&] { return !is_alive(pid); })) << pid;
  }
}

TEST(Keeper, KillsADaemonThatWasMadeSinceItsLastLook) {
  for (const std::string environment : {"", "env -i "}) {
    FakeBridge bridge("setsid " + environment +
                      "sh -c 'trap \"\" TERM; sleep 1000 & echo $!'; sleep 1000 & wait");
    bridge.next_pid();
    long daemon = bridge.next_pid();
    ASSERT_TRUE(is_alive(daemon));
    bridge.die();
    EXPECT_TRUE(eventually([&] { return !is_alive(daemon); })) << environment;
  }
}

TEST(Keeper, KnowsAChildThatKillsTheBridgeAtOnce) {
  testing::TemporaryDirectory directory;
  const std::string file = directory / "pid";
  FakeBridge bridge("sleep 1000 & echo $! > '" + file + "'; kill -KILL $PPID; wait");
  long left = 0;
  ASSERT_TRUE(eventually([&] { return static_cast<bool>(std::ifstream(file) >> left); }));
  EXPECT_TRUE(eventually([&] { return !is_alive(left); }));
}

TEST(Keeper, IsNotEndedByTheSignalsThatEndTheBridge) {
  FakeBridge bridge("sleep 1000 & echo $!; wait");
  long keeper = bridge.next_pid();
  long server = bridge.next_pid();
  for (int signal : {SIGTERM, SIGINT, SIGHUP}) kill(static_cast<pid_t>(keeper), signal);
  EXPECT_TRUE(eventually([&] { return getsid(static_cast<pid_t>(keeper)) == keeper; }));
  bridge.die();
  EXPECT_TRUE(eventually([&] { return !is_alive(server) && !is_alive(keeper); }));
}

TEST(Keeper, HoldsNothingOfTheBridgeButItsPipe) {
  FileDescriptor inheritable(open("/dev/zero", O_RDONLY));
  auto keeper = Keeper::start("");
  ASSERT_TRUE(keeper);
  EXPECT_TRUE(eventually([&] { return descriptors_of(keeper->pid()) == std::set{0, 1, 2, 3}; }));
  for (int standard : {0, 1, 2}) {
    EXPECT_EQ(descriptor_target(keeper->pid(), standard), "/dev/null");
  }
  EXPECT_THAT(descriptor_target(keeper->pid(), 3), ::testing::StartsWith("pipe:"));
}

TEST(Keeper, AChildRunsEvenIfTheKeeperIsGone) {
  auto keeper = Keeper::start("");
  ASSERT_TRUE(keeper);
  keeper->abandon();
  ASSERT_EQ(waitpid(static_cast<pid_t>(keeper->pid()), nullptr, 0), keeper->pid());
  const auto result = launch(plan_launch({"sh", shell("echo here"), {}, {}, {}}), 1, &*keeper);
  const auto& child = std::get<Launched>(result);
  EXPECT_EQ(read_line(child.output), "here");
  EXPECT_EQ(waitpid(static_cast<pid_t>(child.pid), nullptr, 0), child.pid);
}

TEST(Keeper, EndsAtOnceWithNothingToKill) {
  auto keeper = Keeper::start("");
  ASSERT_TRUE(keeper);
  long pid = keeper->pid();
  keeper.reset();
  EXPECT_TRUE(eventually([&] { return !is_alive(pid); }));
}

TEST(Keeper, ForgetsAChildThatIsOver) {
  Child child("sleep", {"1000"});
  ASSERT_TRUE(child.started()) << child.failure();
  auto keeper = Keeper::start("");
  ASSERT_TRUE(keeper);
  EXPECT_TRUE(keeper->child_started(1, *find_process(child.pid())));
  EXPECT_TRUE(keeper->child_over(1));
  long pid = keeper->pid();
  keeper.reset();
  EXPECT_TRUE(eventually([&] { return !is_alive(pid); }));
  EXPECT_TRUE(is_alive(child.pid()));
}

TEST(Keeper, KillsNothingWhenItIsAbandonedWhileBlocked) {
  Child child("sleep", {"1000"});
  ASSERT_TRUE(child.started()) << child.failure();
  auto keeper = Keeper::start("");
  ASSERT_TRUE(keeper);
  const long pid = keeper->pid();
  EXPECT_TRUE(keeper->child_started(1, *find_process(child.pid())));
  kill(static_cast<pid_t>(pid), SIGSTOP);
  while (keeper->child_over(2)) {
  }
  keeper->abandon();
  keeper.reset();
  EXPECT_TRUE(eventually([&] { return !is_alive(pid); }));
  EXPECT_TRUE(is_alive(child.pid()));
}

TEST(Keeper, ReportsThatItHasDied) {
  auto before = std::signal(SIGPIPE, SIG_IGN);
  auto keeper = Keeper::start("");
  ASSERT_TRUE(keeper);
  kill(static_cast<pid_t>(keeper->pid()), SIGKILL);
  // A thread of the keeper, which a sanitizer starts, may hold the pipe for a moment longer.
  EXPECT_TRUE(eventually([&] { return !keeper->child_over(1); }));
  std::signal(SIGPIPE, before);
}

}  // namespace
}  // namespace sitter
