#include <fcntl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <initializer_list>
#include <optional>

#include "io/system/posix.hpp"
#include "io/system/startup.hpp"

namespace sitter {
namespace {

/// The limit before the first raise that had an effect. A limit belongs to the whole process.
/// Only the thread of the loop writes it, and only that thread starts children.
std::optional<rlimit> limit_before;

void change_mask(int how, std::initializer_list<int> signals) {
  sigset_t changed;
  sigemptyset(&changed);
  for (const int signal : signals) sigaddset(&changed, signal);
  pthread_sigmask(how, &changed, nullptr);
}

}  // namespace

void hold_signals() { change_mask(SIG_BLOCK, {SIGHUP, SIGUSR1}); }

std::vector<std::string> program_words(int argc, char** argv) { return {argv + 1, argv + argc}; }

bool has_done_errand(const std::vector<std::string>&) { return false; }

void open_standard_streams() {
  int opened = 0;
  while (opened >= 0 && opened <= STDERR_FILENO) opened = open("/dev/null", O_RDWR);
  if (opened > STDERR_FILENO) close(opened);
}

void unblock_signals() { change_mask(SIG_UNBLOCK, {SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGUSR1}); }

void survive_failed_writes() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

std::uint64_t random_seed() {
  std::uint64_t seed = 0;
  return getentropy(&seed, sizeof seed) == 0 ? seed : 0;
}

std::size_t raise_descriptor_limit(std::size_t wanted) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  rlimit raised = limit;
  raised.rlim_cur = std::min<rlim_t>(wanted, limit.rlim_max);
  // macOS may refuse a number below the hard limit (setrlimit(2), EINVAL).
  for (; raised.rlim_cur > limit.rlim_cur; raised.rlim_cur /= 2) {
    if (setrlimit(RLIMIT_NOFILE, &raised) != 0) continue;
    if (!limit_before) limit_before = limit;
    return getrlimit(RLIMIT_NOFILE, &raised) == 0 ? raised.rlim_cur : limit.rlim_cur;
  }
  return limit.rlim_cur;
}

void restore_descriptor_limit() {
  if (limit_before) setrlimit(RLIMIT_NOFILE, &*limit_before);
}

void leave_the_bridge(const char* title, std::span<int> kept) {
  setsid();
  for (int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2}) {
    std::signal(signal, SIG_IGN);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  platform::set_process_title(title);
  if (chdir("/") != 0) _exit(1);
  // Move the kept descriptors above all that are overwritten below.
  const int above = STDERR_FILENO + 1 + static_cast<int>(kept.size());
  for (int& descriptor : kept) descriptor = fcntl(descriptor, F_DUPFD, above);
  const int null = open("/dev/null", O_RDWR);
  int place = STDIN_FILENO;
  while (place <= STDERR_FILENO) dup2(null, place++);
  for (const int descriptor : kept) {
    if (dup2(descriptor, place++) < 0) _exit(1);
  }
  platform::close_from(above);
}

}  // namespace sitter
