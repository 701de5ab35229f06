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
#include <variant>
#include <vector>

#include "core/base/text.hpp"
#include "io/process/launch_plan.hpp"
#include "io/system/posix.hpp"
#include "setup/client_program.hpp"

extern char** environ;

namespace sitter::setup {
namespace {

/// Of the words of a program, this much is shown.
constexpr std::size_t kShownMax = 500;

/// A client that registers a server needs a second or two.
constexpr std::chrono::seconds kWait{30};

constexpr std::chrono::milliseconds kRound{20};

/// `cargo metadata` writes some MiB about the largest workspaces.
constexpr std::size_t kOutputMax = std::size_t{32} << 20;

enum class Runs {
  client,  ///< its stderr counts, and what it has started may stay
  tool,    ///< what it has started is killed at its end
};

/// A tool that is only asked downloads nothing: neither modules of Go nor a toolchain of Rust.
constexpr std::array<const char*, 2> kToolVariables = {"GOPROXY=off", "RUSTUP_AUTO_INSTALL=0"};

struct Run {
  int status = 0;
  bool is_late = false;
  bool is_too_long = false;
  std::string output;
};

/// Whether the program has ended. Its group stays known until it is waited for.
bool has_ended(pid_t pid) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid;
}

/// Reads what the program writes until the program itself has ended: what it has started may keep
/// the pipe open, or write into it for ever. At the limits, the program is killed with its group.
Run read_until_end(pid_t pid, FileDescriptor from, std::chrono::milliseconds time, Runs kind) {
  fcntl(from.number(), F_SETFL, O_NONBLOCK);
  const auto deadline = std::chrono::steady_clock::now() + time;
  Run run;
  bool is_over = false;
  while (!run.is_late && !run.is_too_long) {
    pollfd end{from.number(), POLLIN, 0};
    if (!is_over) poll(&end, 1, static_cast<int>(kRound.count()));
    std::array<char, 65536> buffer;
    const ssize_t count = from.is_open() ? read(from.number(), buffer.data(), buffer.size()) : 0;
    if (count > 0) run.output.append(buffer.data(), static_cast<std::size_t>(count));
    // At its end, a pipe would let no poll wait.
    if (count == 0) from.close();
    if (is_over && count <= 0) break;
    if (!is_over && has_ended(pid)) {
      is_over = true;
      if (kind == Runs::tool) kill(-pid, SIGKILL);
    }
    // One that has ended was in time, however late this process looks.
    run.is_late = !is_over && std::chrono::steady_clock::now() >= deadline;
    run.is_too_long = run.output.size() > kOutputMax;
  }
  if (!is_over) kill(-pid, SIGKILL);
  waitpid(pid, &run.status, 0);
  return run;
}

Run run_in(const std::string& folder, const Words& words, Runs kind,
           std::chrono::milliseconds time) {
  auto pipe = platform::open_pipe();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  if (pipe) {
    posix_spawn_file_actions_adddup2(&actions, pipe->write_end.number(), STDOUT_FILENO);
    if (kind == Runs::client)
      posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  }
  posix_spawnattr_t group;
  posix_spawnattr_init(&group);
  posix_spawnattr_setflags(&group, POSIX_SPAWN_SETPGROUP);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::vector<char*> environment;
  if (kind == Runs::tool) {
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

}  // namespace

std::string program_in_path(const std::string& name) {
  LaunchRequest request;
  request.command = name;
  const PlannedLaunch planned = plan_launch(request);
  const auto* const plan = std::get_if<LaunchPlan>(&planned);
  return plan == nullptr ? std::string() : plan->program;
}

void run_program(const Words& words) {
  const Run run = run_in(".", words, Runs::client, kWait);
  if (run.status != 0) {
    throw Failure{fmt::format("{}: {}", words.front(), brief(run.output, kShownMax))};
  }
}

std::string output_of(const Words& words, const std::string& folder,
                      std::chrono::milliseconds time) {
  Words found = words;
  found.front() = program_in_path(words.front());
  if (found.front().empty()) throw Failure{fmt::format("there is no {} in PATH", words.front())};
  Run run = run_in(folder, found, Runs::tool, time);
  if (run.is_late) throw Failure{fmt::format("{} takes too long", words.front())};
  if (run.is_too_long) throw Failure{fmt::format("{} says too much", words.front())};
  if (run.status != 0) throw Failure{fmt::format("{} fails here", words.front())};
  return std::move(run.output);
}

}  // namespace sitter::setup
