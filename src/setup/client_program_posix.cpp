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
#include <variant>

#include "core/base/text.hpp"
#include "io/process/launch_plan.hpp"
#include "io/system/platform.hpp"
#include "setup/client_program.hpp"

extern char** environ;

namespace sitter::setup {
namespace {

/// Of the words of a program, this much is shown.
constexpr std::size_t kShownMax = 500;

/// A client that registers a server needs a second or two.
constexpr std::chrono::seconds kWait{30};

constexpr std::chrono::milliseconds kRound{20};

struct Run {
  int status = 0;
  bool is_late = false;
  std::string output;
};

/// Reads what the program writes until the program itself has ended: what it has started may keep
/// the pipe open. Kills the group of the program at the limit.
Run read_until_end(pid_t pid, const FileDescriptor& from, std::chrono::milliseconds time) {
  fcntl(from.number(), F_SETFL, O_NONBLOCK);
  const auto deadline = std::chrono::steady_clock::now() + time;
  Run run;
  bool has_ended = false;
  while (true) {
    pollfd end{from.number(), POLLIN, 0};
    if (!has_ended) poll(&end, 1, static_cast<int>(kRound.count()));
    std::array<char, 4096> buffer;
    ssize_t count = 0;
    while ((count = read(from.number(), buffer.data(), buffer.size())) > 0) {
      run.output.append(buffer.data(), static_cast<std::size_t>(count));
    }
    if (has_ended) return run;
    if (std::chrono::steady_clock::now() >= deadline) {
      run.is_late = true;
      kill(-pid, SIGKILL);
    }
    has_ended = waitpid(pid, &run.status, WNOHANG) == pid;
  }
}

Run run_in(const std::string& folder, const Words& words, bool takes_errors,
           std::chrono::milliseconds time) {
  auto pipe = platform::open_pipe();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  if (pipe) {
    posix_spawn_file_actions_adddup2(&actions, pipe->write_end.number(), STDOUT_FILENO);
    if (takes_errors) posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  }
  posix_spawnattr_t group;
  posix_spawnattr_init(&group);
  posix_spawnattr_setflags(&group, POSIX_SPAWN_SETPGROUP);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = -1;
  const int problem =
      pipe ? posix_spawn(&pid, arguments[0], &actions, &group, arguments.data(), environ) : errno;
  posix_spawnattr_destroy(&group);
  posix_spawn_file_actions_destroy(&actions);
  if (problem != 0) {
    throw Failure{fmt::format("{} cannot be started: {}", words.front(), std::strerror(problem))};
  }
  pipe->write_end.close();
  return read_until_end(pid, pipe->read_end, time);
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
  const Run run = run_in(".", words, true, kWait);
  if (run.status != 0) {
    throw Failure{fmt::format("{}: {}", words.front(), brief(run.output, kShownMax))};
  }
}

std::string output_of(const Words& words, const std::string& folder,
                      std::chrono::milliseconds time) {
  Words found = words;
  found.front() = program_in_path(words.front());
  if (found.front().empty()) throw Failure{fmt::format("there is no {} in PATH", words.front())};
  Run run = run_in(folder, found, false, time);
  if (run.is_late) throw Failure{fmt::format("{} takes too long", words.front())};
  if (run.status != 0) throw Failure{fmt::format("{} fails here", words.front())};
  return std::move(run.output);
}

}  // namespace sitter::setup
