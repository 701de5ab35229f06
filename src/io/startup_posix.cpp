#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <csignal>
#include <initializer_list>

#include "sitter/io/startup.hpp"

namespace sitter {

void open_standard_streams() {
  int opened = 0;
  while (opened >= 0 && opened <= STDERR_FILENO) opened = open("/dev/null", O_RDWR);
  if (opened > STDERR_FILENO) close(opened);
}

void unblock_signals() {
  sigset_t ours;
  sigemptyset(&ours);
  for (const int signal : {SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGUSR1}) sigaddset(&ours, signal);
  pthread_sigmask(SIG_UNBLOCK, &ours, nullptr);
}

std::uint64_t random_seed() {
  std::uint64_t seed = 0;
  return getentropy(&seed, sizeof seed) == 0 ? seed : 0;
}

}  // namespace sitter
