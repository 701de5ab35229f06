#pragma once

#include <functional>
#include <memory>

namespace sitter {

class EventLoop;

/// What the system and other processes tell this process. There may be only one such object at a
/// time.
class SystemSignals {
 public:
  /// Called from the loop.
  struct Events {
    /// The program is to end with this exit code: SIGTERM or SIGINT, or the terminal is gone.
    std::function<void(int exit_code)> on_stop;
    /// A process wants a reload: SIGHUP.
    std::function<void()> on_reload;
    /// A process wants the status: SIGUSR1.
    std::function<void()> on_status;
    /// Children may have ended, to be taken with `reap`: SIGCHLD.
    std::function<void()> on_child_ended;
  };

  SystemSignals(EventLoop& loop, Events events);
  SystemSignals(const SystemSignals&) = delete;
  SystemSignals& operator=(const SystemSignals&) = delete;
  ~SystemSignals();

 private:
  struct State;

  std::unique_ptr<State> state_;
};

/// Calls `on_child_ended` soon, for the end of a process that is no child of this one.
void signal_child_ended();

}  // namespace sitter
