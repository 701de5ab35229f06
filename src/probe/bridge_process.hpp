#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sitter {

/// A bridge in a process of its own, which is the same program as this one. The system kills it if
/// this program is killed.
class BridgeProcess {
 public:
  struct Start {
    /// The command line of the bridge, without the program's name.
    std::vector<std::string> words;
    /// Empty: the working directory of this program.
    std::string cwd = {};
    /// NAME=VALUE entries: the whole environment of the bridge. Nothing: that of this program.
    std::optional<std::vector<std::string>> environment = {};
  };

  /// What is on its way between this program and the bridge.
  struct Texts {
    std::string input;
    std::string output;
    std::string error;
  };

  /// Throws std::runtime_error if the bridge cannot be started.
  explicit BridgeProcess(const Start& start);
  BridgeProcess(const BridgeProcess&) = delete;
  BridgeProcess& operator=(const BridgeProcess&) = delete;
  /// Does not wait for the end.
  ~BridgeProcess();

  long pid() const;

  /// Waits until there is something to move, but no longer than this, and moves it: from the front
  /// of `input` to the stdin of the bridge, and from its stdout and stderr to the ends of the
  /// others. If nobody reads the stdin any more, drops `input`.
  void move(Texts& texts, std::chrono::milliseconds wait);

  /// Whether its stdout has not ended yet.
  bool may_write() const;

  void close_input();

  /// Its exit code, or 128 + N for signal N, once it has ended.
  std::optional<int> exit_code();

  void kill();

 private:
  struct System;

  std::unique_ptr<System> system_;
};

}  // namespace sitter
