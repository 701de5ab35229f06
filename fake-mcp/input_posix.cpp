#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "input.hpp"
#include "process.hpp"

namespace sitter::fake {

struct Input::State {};

Input::Input() = default;
Input::~Input() = default;

bool Input::wait(std::optional<std::chrono::milliseconds> limit) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + limit.value_or(std::chrono::milliseconds(0));
  while (true) {
    int left = -1;
    if (limit) {
      const auto time = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
      left = static_cast<int>(std::max<long long>(time.count(), 0));
    }
    pollfd input{kStdin, POLLIN, 0};
    const int ready = ::poll(&input, 1, left);
    if (ready >= 0 || errno != EINTR) return ready > 0;
  }
}

std::size_t Input::read(char* bytes, std::size_t size) { return read_stdin(bytes, size); }

std::size_t read_stdin(char* bytes, std::size_t size) {
  while (true) {
    const ssize_t count = ::read(kStdin, bytes, size);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR && errno != EAGAIN) return 0;
    pollfd input{kStdin, POLLIN, 0};
    ::poll(&input, 1, -1);
  }
}

void close_stdin() { ::close(kStdin); }

}  // namespace sitter::fake
