#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>

#include "io/stream/event_loop.hpp"
#include "io/system/file_descriptor.hpp"
#include "support/processes.hpp"
#include "support/sockets.hpp"

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

/// Returns when everything that this process has sent so far on loopback has arrived, also the ends
/// of connections. On Linux it arrives in the call that sends it. On macOS, a thread of the kernel
/// carries it, in its order.
inline void let_bytes_arrive() {
  static const FileDescriptor own = [] {
    FileDescriptor made = open_socket(AF_INET, SOCK_DGRAM);
    EXPECT_TRUE(connects(made, bind_to_loopback(made)));
    return made;
  }();
  char byte = 0;
  EXPECT_EQ(send(own.number(), &byte, 1, 0), 1);
  EXPECT_EQ(recv(own.number(), &byte, 1, 0), 1);
}

/// Runs everything that follows from what was done so far, on this machine and without waiting.
inline void run_what_is_due(EventLoop& loop) {
  // Each round handles what the last one has sent. No test has a longer dialogue than this.
  int rounds = 20;
  runs_until(loop, [&] {
    let_bytes_arrive();
    return --rounds == 0;
  });
}

}  // namespace sitter::testing
