#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>

#include "io/process/process_look.hpp"

namespace sitter {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// A process that does this until the test ends.
class Doing {
 public:
  explicit Doing(void (*does)()) : pid_(fork()) {
    if (pid_ != 0) return;
    for (;;) does();
  }
  Doing(const Doing&) = delete;
  Doing& operator=(const Doing&) = delete;
  ~Doing() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }
  ProcessInfo info() const { return {pid_, {}}; }

 private:
  pid_t pid_;
};

void rest() { pause(); }
void spin() {}

/// Looks again until the answer is so, or for long enough.
std::string activity_until(ProcessLook& look, const ProcessInfo& process, const std::string& so) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  std::string activity;
  do {
    activity = look.at(1, {process}).activity;
  } while (activity.find(so) == activity.npos && std::chrono::steady_clock::now() < until);
  return activity;
}

TEST(ProcessLook, SaysWhetherAProcessSleepsOrSpins) {
  ProcessLook look, other_look;
  const Doing resting(rest), spinning(spin);
  EXPECT_THAT(activity_until(look, resting.info(), "sleeping"),
              StartsWith("process " + std::to_string(resting.pid()) + " is sleeping"));
  EXPECT_THAT(activity_until(other_look, spinning.info(), "spinning"), HasSubstr(" % CPU"));
  EXPECT_EQ(look.at(1, {}).activity, "");
}

TEST(ProcessLook, NamesAProgramThatHoldsItsOutputBack) {
  for (const bool is_told : {false, true}) {
    int pipes[2];
    ASSERT_EQ(pipe(pipes), 0);
    const pid_t pid = fork();
    if (pid == 0) {
      dup2(pipes[0], STDIN_FILENO);
      close(pipes[1]);
      execlp("sed", "sed", is_told ? "-u" : "-n", "p", nullptr);
      _exit(1);
    }
    close(pipes[0]);
    ProcessLook look;
    const std::string held = ", and sed (pid " + std::to_string(pid) + ") may hold back";
    if (is_told) {
      EXPECT_THAT(activity_until(look, {pid, {}}, "sleeping"), Not(HasSubstr(held)));
    } else {
      EXPECT_THAT(activity_until(look, {pid, {}}, held), HasSubstr(held));
    }
    close(pipes[1]);
    waitpid(pid, nullptr, 0);
  }
}

TEST(ProcessLook, NamesTheProcessThatTraces) {
  const Doing traced(rest);
  if (ptrace(PTRACE_SEIZE, traced.pid(), nullptr, nullptr) != 0) {
    GTEST_SKIP() << "no process may be traced here";
  }
  EXPECT_THAT(ProcessLook().at(1, {traced.info()}).debugger,
              HasSubstr(" (pid " + std::to_string(getpid()) + ")"));
  EXPECT_EQ(ProcessLook().at(1, {{getpid(), {}}, traced.info()}).debugger, "")
      << "a tracer of the server's own that is no debugger";
}

}  // namespace
}  // namespace sitter
