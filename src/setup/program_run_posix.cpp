#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>
#include <vector>

#include "io/system/posix.hpp"
#include "setup/program_run.hpp"

extern char** environ;

namespace sitter::setup {
namespace {

/// Whether the program has ended. Its group stays known until it is waited for.
bool has_ended(pid_t pid) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid;
}

/// Reads what the program writes until the program itself has ended: what it has started may keep
/// the pipe open, or write into it for ever. At the limits, the program is killed with its group.
ProgramRun read_until_end(pid_t pid, FileDescriptor from, std::chrono::milliseconds time,
                          ProgramRun::Kind kind) {
  fcntl(from.number(), F_SETFL, O_NONBLOCK);
  const auto deadline = std::chrono::steady_clock::now() + time;
  ProgramRun run;
  int status = 0;
  bool is_over = false;
  while (!run.is_late && !run.is_too_long) {
    pollfd end{from.number(), POLLIN, 0};
    if (!is_over) poll(&end, 1, static_cast<int>(kProgramRound.count()));
    std::array<char, 65536> buffer;
    const ssize_t count = from.is_open() ? read(from.number(), buffer.data(), buffer.size()) : 0;
    if (count > 0) run.output.append(buffer.data(), static_cast<std::size_t>(count));
    // At its end, a pipe would let no poll wait.
    if (count == 0) from.close();
    if (is_over && count <= 0) break;
    if (!is_over && has_ended(pid)) {
      is_over = true;
      if (kind == ProgramRun::Kind::tool) kill(-pid, SIGKILL);
    }
    // One that has ended was in time, however late this process looks.
    run.is_late = !is_over && std::chrono::steady_clock::now() >= deadline;
    run.is_too_long = run.output.size() > kProgramOutputMax;
  }
  if (!is_over) kill(-pid, SIGKILL);
  waitpid(pid, &status, 0);
  run.is_failed = status != 0;
  return run;
}

}  // namespace

ProgramRun run_in(const std::string& folder, const Words& words, ProgramRun::Kind kind,
                  std::chrono::milliseconds time) {
  auto pipe = platform::open_pipe();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  if (pipe) {
    posix_spawn_file_actions_adddup2(&actions, pipe->write_end.number(), STDOUT_FILENO);
    if (kind == ProgramRun::Kind::client)
      posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  }
  posix_spawnattr_t group;
  posix_spawnattr_init(&group);
  posix_spawnattr_setflags(&group, POSIX_SPAWN_SETPGROUP);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::vector<char*> environment;
  if (kind == ProgramRun::Kind::tool) {
    // Of two entries with the same name, the first counts.
    for (const char* const entry : kToolVariables) environment.push_back(const_cast<char*>(entry));
  }
  for (char** entry = environ; *entry != nullptr; ++entry) environment.push_back(*entry);
  environment.push_back(nullptr);
  pid_t pid = -1;
  const int problem =
      pipe ? posix_spawn(&pid, arguments[0], &actions, &group, arguments.data(), environment.data())
           : errno;
  posix_spawnattr_destroy(&group);
  posix_spawn_file_actions_destroy(&actions);
  if (problem != 0) {
    throw Failure{fmt::format("{} cannot be started: {}", words.front(), std::strerror(problem))};
  }
  pipe->write_end.close();
  return read_until_end(pid, std::move(pipe->read_end), time, kind);
}

}  // namespace sitter::setup
