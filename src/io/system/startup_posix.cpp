#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <csignal>
#include <initializer_list>

#include "io/system/startup.hpp"

namespace sitter {

namespace {

void change_mask(int how, std::initializer_list<int> signals) {
  sigset_t changed;
  sigemptyset(&changed);
  for (const int signal : signals) sigaddset(&changed, signal);
  pthread_sigmask(how, &changed, nullptr);
}

}  // namespace

void hold_signals() { change_mask(SIG_BLOCK, {SIGHUP, SIGUSR1}); }

void open_standard_streams() {
  int opened = 0;
  while (opened >= 0 && opened <= STDERR_FILENO) opened = open("/dev/null", O_RDWR);
  if (opened > STDERR_FILENO) close(opened);
}

void unblock_signals() { change_mask(SIG_UNBLOCK, {SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGUSR1}); }

std::uint64_t random_seed() {
  std::uint64_t seed = 0;
  return getentropy(&seed, sizeof seed) == 0 ? seed : 0;
}

}  // namespace sitter
