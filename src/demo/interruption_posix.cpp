#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <optional>
#include <stdexcept>

#include "demo/interruption.hpp"
#include "io/system/posix.hpp"

namespace sitter {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

// A handler has no arguments of its own.
std::optional<platform::Pipe> signal_pipe;
std::array<struct sigaction, kSignals.size()> actions_before;

void on_signal(int signal) {
  const int error = errno;
  const auto byte = static_cast<unsigned char>(signal);
  // If the pipe is full, it holds signals enough.
  [[maybe_unused]] const ssize_t count = ::write(signal_pipe->write_end.number(), &byte, 1);
  errno = error;
}

}  // namespace

Interruption::Interruption() {
  signal_pipe = platform::open_pipe();
  if (!signal_pipe) throw std::runtime_error("the system has no pipe left");
  fcntl(signal_pipe->write_end.number(), F_SETFL, O_NONBLOCK);
  struct sigaction action {};
  action.sa_handler = on_signal;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &actions_before[i]);
    // `nohup` and a shell's `&` make a program ignore them.
    if (actions_before[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
}

Interruption::~Interruption() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], &actions_before[i], nullptr);
  }
  signal_pipe.reset();
}

void Interruption::wait(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  do {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd ready{signal_pipe->read_end.number(), POLLIN, 0};
    if (poll(&ready, 1, left.count() > 0 ? static_cast<int>(left.count()) : 0) <= 0) continue;
    unsigned char signal = 0;
    if (read(ready.fd, &signal, 1) == 1) throw Interrupted{signal};
  } while (std::chrono::steady_clock::now() < end);
}

}  // namespace sitter
