#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "io/system/file_descriptor.hpp"

namespace sitter::testing {

/// A socket that is closed at an exec. `flags` may be O_NONBLOCK.
inline FileDescriptor open_socket(int family, int type, int flags = 0) {
  FileDescriptor made(socket(family, type, 0));
  fcntl(made.number(), F_SETFD, FD_CLOEXEC);
  fcntl(made.number(), F_SETFL, flags);
  return made;
}

inline FileDescriptor tcp_socket(int family, int flags = 0) {
  return open_socket(family, SOCK_STREAM, flags);
}

/// Gives the socket a free port of 127.0.0.1, and returns this address.
inline sockaddr_in bind_to_loopback(const FileDescriptor& socket) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const place = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(bind(socket.number(), place, size), 0);
  EXPECT_EQ(getsockname(socket.number(), place, &size), 0);
  return address;
}

/// False if the connection has failed, or is only begun.
inline bool connects(const FileDescriptor& socket, const sockaddr_in& to) {
  return connect(socket.number(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
}

}  // namespace sitter::testing
