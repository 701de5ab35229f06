#pragma once

#include <fcntl.h>
#include <sys/socket.h>

#include "io/system/file_descriptor.hpp"

namespace sitter::testing {

/// A TCP socket that is closed at an exec. `flags` may be O_NONBLOCK.
inline FileDescriptor tcp_socket(int family, int flags = 0) {
  FileDescriptor made(socket(family, SOCK_STREAM, 0));
  fcntl(made.number(), F_SETFD, FD_CLOEXEC);
  fcntl(made.number(), F_SETFL, flags);
  return made;
}

}  // namespace sitter::testing
