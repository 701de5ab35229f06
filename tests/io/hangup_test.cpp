#include "io/process/hangup.hpp"

#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

#include "process_support.hpp"

namespace sitter {
namespace {

using Sender = HangupSignals::Sender;

/// The sender of a SIGHUP, as a process with a terminal of its own sees it. 0 stands for the
/// system.
int sender_seen(const std::function<void(pid_t process, int terminal)>& hang_up) {
  int ready[2];
  EXPECT_EQ(pipe(ready), 0);
  int terminal = -1;
  const pid_t pid = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (pid == 0) {
    EventLoop loop;
    int code = 9;
    HangupSignals signals(loop, [&](Sender sender) {
      code = static_cast<int>(sender);
      loop.stop();
    });
    [[maybe_unused]] const ssize_t written = write(ready[1], "x", 1);
    loop.run();
    _exit(code);
  }
  char there = 0;
  EXPECT_EQ(read(ready[0], &there, 1), 1);
  hang_up(pid, terminal);
  int status = 0;
  waitpid(pid, &status, 0);
  for (const int end : ready) close(end);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(HangupSignals, DistinguishALostTerminalFromASendingProcess) {
  EXPECT_EQ(sender_seen([](pid_t, int terminal) { close(terminal); }),
            static_cast<int>(Sender::system));
  EXPECT_EQ(sender_seen([](pid_t process, int terminal) {
              kill(process, SIGHUP);
              // The terminal stays open until the process has received the signal.
              siginfo_t ended{};
              waitid(P_PID, static_cast<id_t>(process), &ended, WEXITED | WNOWAIT);
              close(terminal);
            }),
            static_cast<int>(Sender::somebody));
}

TEST(HangupSignals, AtItsEndTheSignalHasItsDefaultMeaning) {
  const auto ends_by_signal = [] {
    const pid_t pid = fork();
    if (pid == 0) {
      EventLoop loop;
      {
        HangupSignals signals(loop, [](Sender) {});
      }
      raise(SIGHUP);
      _exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGHUP;
  };
  EXPECT_TRUE(ends_by_signal());
}

}  // namespace
}  // namespace sitter
