#pragma once

#include <memory>
#include <string_view>

namespace sitter {

/// Our stderr. A second thread writes to it while there is something to write: a client that never
/// reads stderr would otherwise block the bridge. stderr cannot be non-blocking, because other
/// programs may share it and could not handle that. Bytes that arrive while 1 MiB waits are lost,
/// and a message reports the loss.
class ErrorOutput {
 public:
  ErrorOutput();
  ErrorOutput(const ErrorOutput&) = delete;
  ErrorOutput& operator=(const ErrorOutput&) = delete;
  /// Waits at most 20 ms for the queued bytes, then drops them.
  ~ErrorOutput();

  /// Any thread may call it. Never waits.
  void write(std::string_view bytes);

 private:
  struct State;

  std::shared_ptr<State> state_;
};

}  // namespace sitter
