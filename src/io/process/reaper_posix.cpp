#include <sys/types.h>
#include <sys/wait.h>

#include <csignal>
#include <utility>

#include "io/process/reaper.hpp"

namespace sitter {
namespace {

// The signals that end a program. Not every system has sigabbrev_np.
constexpr std::pair<int, const char*> kSignalNames[] = {
    {SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"},     {SIGILL, "SIGILL"},
    {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},       {SIGFPE, "SIGFPE"},
    {SIGKILL, "SIGKILL"}, {SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"},     {SIGUSR2, "SIGUSR2"},
    {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"},     {SIGXCPU, "SIGXCPU"},
    {SIGXFSZ, "SIGXFSZ"}, {SIGIO, "SIGIO"},     {SIGVTALRM, "SIGVTALRM"}, {SIGPROF, "SIGPROF"},
    {SIGSYS, "SIGSYS"},
};

std::string known_name(int signal) {
  for (const auto& [number, name] : kSignalNames) {
    if (number == signal) return name;
  }
  return {};
}

ExitStatus to_exit_status(int status) {
  if (WIFSIGNALED(status)) return {128 + WTERMSIG(status), signal_name(WTERMSIG(status))};
  const int code = WEXITSTATUS(status);
  return {.code = code, .passed_on = known_name(code - 128)};
}

}  // namespace

std::vector<Reaped> reap() {
  std::vector<Reaped> ended;
  while (true) {
    int status = 0;
    pid_t pid = waitpid(-1, &status, WNOHANG);
    if (pid <= 0) return ended;
    ended.push_back({pid, to_exit_status(status), WIFSIGNALED(status) && WCOREDUMP(status)});
  }
}

std::string signal_name(int signal) {
  const std::string name = known_name(signal);
  return name.empty() ? "signal " + std::to_string(signal) : name;
}

}  // namespace sitter
