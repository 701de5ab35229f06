#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <thread>
#include <utility>

#include "io/stream/error_stream.hpp"
#include "io/system/signals.hpp"

namespace sitter {

bool write_to_stderr(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(STDERR_FILENO, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      // Another process that shares stderr has made it non-blocking.
      pollfd wait{STDERR_FILENO, POLLOUT, 0};
      poll(&wait, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

void start_thread(std::function<void()> run) {
  // Only the main thread handles signals.
  const SignalsBlocked blocked;
  std::thread(std::move(run)).detach();
}

}  // namespace sitter
