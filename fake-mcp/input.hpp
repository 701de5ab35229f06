#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>

namespace sitter::fake {

/// Waits for bytes on stdin. Returns their number; 0 at the end of input.
std::size_t read_stdin(char* bytes, std::size_t size);

/// Nothing can be read from stdin any more, and the other end sees that.
void close_stdin();

/// Stdin for a reader that has other work too. It reads nothing ahead: what nobody has waited for
/// stays in the pipe.
class Input {
 public:
  Input();
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  ~Input();

  /// Waits until there are bytes, or the end of input. False if they do not come within this time.
  bool wait(std::optional<std::chrono::milliseconds> limit);

  /// Takes bytes that have come. Returns their number; 0 at the end of input.
  std::size_t read(char* bytes, std::size_t size);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace sitter::fake
