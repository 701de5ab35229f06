#include <fcntl.h>
#include <sys/time.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "io/system/posix.hpp"
#include "io/system/short_program.hpp"
#include "io/system/signals.hpp"

namespace sitter {
namespace {

constexpr int kNotExecuted = 127;

itimerval timer_of(Milliseconds limit) {
  return {.it_interval = {},
          .it_value = {static_cast<time_t>(limit.count() / 1000),
                       static_cast<suseconds_t>(limit.count() % 1000 * 1000)}};
}

/// What the forked child needs. Between fork and exec it may neither allocate nor lock.
struct ShortSetup {
  const char* program;
  char* const* arguments;
  int nothing;
  int output;
  pid_t parent;
  itimerval timer;

  [[noreturn]] void run() const {
    setpgid(0, 0);
    if (!platform::die_with_parent(parent)) _exit(kNotExecuted);
    if (dup2(nothing, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
        dup2(nothing, STDERR_FILENO) < 0) {
      _exit(kNotExecuted);
    }
    platform::close_from_at_exec(STDERR_FILENO + 1);
    // The timer stays over the exec, and SIGALRM ends the program. A signal from the bridge could
    // meet another process, since the pid is free as soon as anybody has reaped the program.
    setitimer(ITIMER_REAL, &timer, nullptr);
    reset_signals();
    execv(program, arguments);
    _exit(kNotExecuted);
  }
};

}  // namespace

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : "";
  const char* const path = std::getenv("PATH");
  std::string_view folders = path == nullptr ? "/usr/bin:/bin" : path;
  while (!folders.empty()) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    folders.remove_prefix(std::min(folder.size() + 1, folders.size()));
    if (folder.empty()) continue;
    const std::string program = std::string(folder) + '/' + name;
    if (access(program.c_str(), X_OK) == 0) return program;
  }
  return {};
}

FileDescriptor start_short_program(const std::string& program, std::vector<std::string> words,
                                   Milliseconds limit, long* pid) {
  auto pipe = platform::open_pipe();
  const FileDescriptor nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!pipe || !nothing.is_open()) return {};
  fcntl(pipe->read_end.number(), F_SETFL, O_NONBLOCK);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const ShortSetup setup{program.c_str(),          arguments.data(), nothing.number(),
                         pipe->write_end.number(), getpid(),         timer_of(limit)};
  // No handler of the bridge may run in the forked child.
  const SignalsBlocked blocked;
  const pid_t forked = fork();
  if (forked == 0) setup.run();
  if (pid != nullptr) *pid = forked;
  return forked < 0 ? FileDescriptor() : std::move(pipe->read_end);
}

}  // namespace sitter
