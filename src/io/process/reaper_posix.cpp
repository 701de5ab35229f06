#include <sys/types.h>
#include <sys/wait.h>

#include <csignal>
#include <utility>

#include "io/process/reaper.hpp"

namespace sitter {
namespace {

// Not every system has sigabbrev_np.
constexpr std::pair<int, const char*> kSignalNames[] = {
    {SIGHUP, "SIGHUP"},       {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"},   {SIGILL, "SIGILL"},
    {SIGTRAP, "SIGTRAP"},     {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},     {SIGFPE, "SIGFPE"},
    {SIGKILL, "SIGKILL"},     {SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"},   {SIGUSR2, "SIGUSR2"},
    {SIGPIPE, "SIGPIPE"},     {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"},   {SIGCHLD, "SIGCHLD"},
    {SIGCONT, "SIGCONT"},     {SIGSTOP, "SIGSTOP"}, {SIGTSTP, "SIGTSTP"},   {SIGTTIN, "SIGTTIN"},
    {SIGTTOU, "SIGTTOU"},     {SIGURG, "SIGURG"},   {SIGXCPU, "SIGXCPU"},   {SIGXFSZ, "SIGXFSZ"},
    {SIGVTALRM, "SIGVTALRM"}, {SIGPROF, "SIGPROF"}, {SIGWINCH, "SIGWINCH"}, {SIGIO, "SIGIO"},
    {SIGSYS, "SIGSYS"},
};

ExitStatus to_exit_status(int status) {
  if (WIFSIGNALED(status)) return {128 + WTERMSIG(status), signal_name(WTERMSIG(status))};
  return {WEXITSTATUS(status), {}};
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
  for (const auto& [number, name] : kSignalNames) {
    if (number == signal) return name;
  }
  return "signal " + std::to_string(signal);
}

}  // namespace sitter
