#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

#include "io/stream/event_loop.hpp"
#include "support/processes.hpp"

namespace sitter::testing {

/// Runs the loop until the condition holds, which is asked in each round. False if it does not hold
/// in time.
inline bool runs_until(EventLoop& loop, const std::function<bool()>& condition) {
  const auto give_up_at = std::chrono::steady_clock::now() + kPatience;
  bool holds = false;
  std::function<void()> ask = [&] {
    holds = condition();
    if (holds || std::chrono::steady_clock::now() > give_up_at) {
      loop.stop();
    } else {
      loop.post(ask);
    }
  };
  loop.io().restart();
  loop.post(ask);
  loop.run();
  return holds;
}

/// Runs everything that follows from what was done so far, on this machine and without waiting.
inline void run_what_is_due(EventLoop& loop) {
  // Each round handles what the last one has sent. No test has a longer dialogue than this.
  int rounds = 20;
  runs_until(loop, [&] {
    // On Linux, bytes have arrived on the other side of a connection when they are sent. On macOS,
    // another thread of the kernel carries them.
    if (!kIsLinux) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return --rounds == 0;
  });
}

/// Waits, without running the loop, until bytes or the end of a connection of this process to this
/// port have arrived.
inline bool has_come_from(std::uint16_t port) {
  return eventually([port] {
    for (const int number : descriptors_of(getpid())) {
      sockaddr_in peer{};
      socklen_t size = sizeof peer;
      const bool is_it = getpeername(number, reinterpret_cast<sockaddr*>(&peer), &size) == 0 &&
                         ntohs(peer.sin_port) == port;
      pollfd readable{number, POLLIN, 0};
      if (is_it && poll(&readable, 1, 0) > 0) return true;
    }
    return false;
  });
}

}  // namespace sitter::testing
