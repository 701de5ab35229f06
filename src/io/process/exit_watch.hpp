#pragma once

#include <functional>
#include <memory>

namespace sitter {

class EventLoop;

/// Sees the exit of a process that this one cannot reap, or not yet.
class ExitWatch {
 public:
  /// `on_exit` is called from the loop, once. Null if the process is gone or the system refuses.
  static std::unique_ptr<ExitWatch> of(long pid, EventLoop& loop, std::function<void()> on_exit);

  ExitWatch(const ExitWatch&) = delete;
  ExitWatch& operator=(const ExitWatch&) = delete;
  ~ExitWatch();

 private:
  struct State;

  explicit ExitWatch(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace sitter
