#pragma once

#include <functional>
#include <memory>

#include "io/stream/event_loop.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// Calls a function from the loop when its time has come, after everything that has arrived by then
/// (`EventLoop::call_due`).
class Timer {
 public:
  Timer(EventLoop& loop, std::function<void()> on_due);
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  /// Nothing is called after that. May be called from within `on_due`.
  ~Timer();

  /// Takes the place of an earlier time.
  void set(Instant when);
  void cancel();

 private:
  struct State;

  std::shared_ptr<State> state_;
};

}  // namespace sitter
