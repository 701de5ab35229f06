#pragma once

#include <cstdint>

/// Sockets of this machine for the benchmarks.
namespace sitter::bench {

/// A socket that listens on 127.0.0.1. If `port` is 0, the system chooses one.
int listen_at(std::uint16_t& port);
/// A connection to a program on this machine.
int connect_to(std::uint16_t port);
void send_at_once(int socket);

}  // namespace sitter::bench
