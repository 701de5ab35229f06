#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "core/base/text.hpp"
#include "io/system/platform.hpp"
#include "setup/client_program.hpp"
#include "setup/failure.hpp"

extern char** environ;

namespace sitter::setup {
namespace {

/// Of the words of a program, this much is shown.
constexpr std::size_t kShownMax = 500;

std::string read_all(const FileDescriptor& from) {
  std::string text;
  std::array<char, 4096> buffer;
  while (true) {
    const ssize_t count = read(from.number(), buffer.data(), buffer.size());
    if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR)) return text;
  }
}

}  // namespace

void run_program(const Words& words) {
  auto pipe = platform::open_pipe();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (pipe) {
    posix_spawn_file_actions_adddup2(&actions, pipe->write_end.number(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, pipe->write_end.number(), STDERR_FILENO);
  }
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = -1;
  const int problem =
      pipe ? posix_spawn(&pid, arguments[0], &actions, nullptr, arguments.data(), environ) : errno;
  posix_spawn_file_actions_destroy(&actions);
  if (problem != 0) {
    throw Failure{fmt::format("{} cannot be started: {}", words.front(), std::strerror(problem))};
  }
  pipe->write_end.close();
  const std::string output = read_all(pipe->read_end);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  if (status != 0) throw Failure{fmt::format("{}: {}", words.front(), brief(output, kShownMax))};
}

}  // namespace sitter::setup
