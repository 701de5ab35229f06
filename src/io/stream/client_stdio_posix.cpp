#include <fcntl.h>
#include <unistd.h>

#include "io/stream/client_stdio.hpp"
#include "io/system/posix.hpp"

namespace sitter {
namespace {

/// A separate, non-blocking descriptor for the stream.
FileDescriptor own(int stream, int flags) {
  if (flags < 0) return FileDescriptor(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (isatty(stream) != 0) {
    if (const char* const name = ttyname(stream)) {
      FileDescriptor opened(open(name, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
      if (opened.is_open()) return opened;
    }
    return FileDescriptor(fcntl(stream, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  }
  platform::enlarge_pipe(stream);
  fcntl(stream, F_SETFL, flags | O_NONBLOCK);
  return FileDescriptor(fcntl(stream, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

}  // namespace

// Both flags are read first, because the two streams may be the same.
ClientStdio::ClientStdio()
    : input_flags_(fcntl(STDIN_FILENO, F_GETFL)), output_flags_(fcntl(STDOUT_FILENO, F_GETFL)) {
  input_ = own(STDIN_FILENO, input_flags_);
  output_ = own(STDOUT_FILENO, output_flags_);
}

ClientStdio::~ClientStdio() {
  if (input_flags_ >= 0) fcntl(STDIN_FILENO, F_SETFL, input_flags_);
  if (output_flags_ >= 0) fcntl(STDOUT_FILENO, F_SETFL, output_flags_);
}

}  // namespace sitter
