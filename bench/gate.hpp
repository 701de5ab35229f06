#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "program.hpp"

namespace sitter::bench {

/// Stands in front of a daemon on this machine and copies bytes. While the gate is shut, nothing
/// listens at its port, as if the daemon were away.
class Gate {
 public:
  /// It is open at first.
  explicit Gate(std::uint16_t daemon);
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate() { shut(); }

  std::uint16_t port() const { return port_; }

  void open();
  /// Also closes all connections.
  void shut();
  /// When the first connection since `open` was accepted. Only after `shut`.
  std::optional<Clock::time_point> first_accept() const { return first_accept_; }

 private:
  void run();
  void accept_one();
  void drop(std::size_t pair);
  bool copy(int from, int to);

  /// The connections of a client and of the daemon, one behind the other.
  std::vector<int> pairs_;
  std::uint16_t daemon_;
  std::uint16_t port_ = 0;
  int listener_ = -1;
  std::optional<Clock::time_point> first_accept_;
  std::atomic<bool> is_open_ = false;
  std::thread thread_;
};

}  // namespace sitter::bench
