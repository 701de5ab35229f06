#pragma once

#include <chrono>

namespace sitter {

/// Keeps SIGINT, SIGTERM and SIGHUP from ending the program at once, so that it can clear up; on
/// Windows, Ctrl-C, which counts as SIGINT, and the end of the console, which counts as SIGTERM.
/// There may be one at a time; its destructor gives the signals their former effect.
class Interruption {
 public:
  /// A signal has come.
  struct Interrupted {
    int signal = 0;
  };

  /// Throws std::runtime_error if the system has no pipe left.
  Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption();

  /// Waits for this time. Throws Interrupted as soon as a signal has come, also before the call.
  void wait(std::chrono::milliseconds time);
};

}  // namespace sitter
