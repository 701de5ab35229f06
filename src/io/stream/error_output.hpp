#pragma once

#include <memory>
#include <string_view>

namespace sitter {

/// Our stderr, written by a thread of its own while there is something to write: a client that
/// never reads it would block the bridge otherwise, and it may be shared with programs that could
/// not bear it to be non-blocking. What comes while 1 MiB waits is lost, and the loss is told.
class ErrorOutput {
 public:
  ErrorOutput();
  ErrorOutput(const ErrorOutput&) = delete;
  ErrorOutput& operator=(const ErrorOutput&) = delete;
  /// Waits at most 20 ms for what is queued, then lets go of it.
  ~ErrorOutput();

  /// From any thread. Never waits.
  void write(std::string_view bytes);

 private:
  struct State;

  std::shared_ptr<State> state_;
};

}  // namespace sitter
