#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "io/process/output_drain.hpp"
#include "io/system/platform.hpp"
#include "io/system/signals.hpp"
#include "io/system/startup.hpp"

namespace sitter {
namespace {

/// The descriptors that are kept come right after the standard descriptors: the pipe of the
/// bridge's life, then the input, output and error of the daemon.
constexpr int kFirst = STDERR_FILENO + 1;
constexpr int kLife = kFirst;
constexpr int kOutput = kFirst + 2;
constexpr int kError = kFirst + 3;

void wait_for_end_of_bridge() {
  char byte = 0;
  while (read(kLife, &byte, 1) < 0 && errno == EINTR) {
  }
}

/// False at the end of the output.
bool drop_from(int output) {
  std::array<char, 16384> bytes;
  const ssize_t count = read(output, bytes.data(), bytes.size());
  return count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN));
}

[[noreturn]] void drain() {
  wait_for_end_of_bridge();
  std::array<pollfd, 2> outputs{pollfd{kOutput, POLLIN, 0}, pollfd{kError, POLLIN, 0}};
  while (outputs[0].fd >= 0 || outputs[1].fd >= 0) {
    if (poll(outputs.data(), outputs.size(), -1) < 0) continue;
    for (pollfd& output : outputs) {
      if (output.revents != 0 && !drop_from(output.fd)) output.fd = -1;
    }
  }
  _exit(0);
}

}  // namespace

std::optional<OutputDrain> OutputDrain::start(const Launched& daemon) {
  auto pipe = platform::open_pipe();
  if (!pipe) return std::nullopt;
  SignalsBlocked blocked;
  const pid_t pid = fork();
  if (pid < 0) return std::nullopt;
  if (pid == 0) {
    std::array kept{pipe->read_end.number(), daemon.input.number(), daemon.output.number(),
                    daemon.error.number()};
    leave_the_bridge("sitter-drain", kept);
    drain();
  }
  return OutputDrain(pid, std::move(pipe->write_end));
}

}  // namespace sitter
