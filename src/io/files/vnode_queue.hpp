#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "io/stream/event_loop.hpp"

namespace sitter {

/// Reports changes of open files and folders (kqueue(2), EVFILT_VNODE).
class VnodeQueue {
 public:
  /// Tells watched descriptors apart, since the number of a closed one is used again.
  using Id = std::uintptr_t;

  struct Change {
    Id id;
    /// Whether bytes of the file or entries of the folder have changed. Otherwise it was moved or
    /// deleted, or something about it has changed, such as its times.
    bool is_written;
  };

  /// How a file is opened only to be watched (open(2)).
  static const int kOpenFile;

  /// Several changes of one descriptor may be reported as one. `on_changes` is called from the
  /// loop, and may call `add`.
  VnodeQueue(EventLoop& loop, std::function<void(const std::vector<Change>&)> on_changes);
  VnodeQueue(const VnodeQueue&) = delete;
  VnodeQueue& operator=(const VnodeQueue&) = delete;
  ~VnodeQueue();

  /// Returns 0, or the reason why nothing can be watched (errno).
  int start();
  bool is_started() const;
  /// Reports the changes that have come, without waiting for the loop. They may still be on their
  /// way from the system.
  void read_pending();
  /// Watches the descriptor until it is closed. Returns 0 or the reason. A change that was on its
  /// way may be reported after the close.
  int add(int descriptor, Id id);

 private:
  struct System;

  std::unique_ptr<System> system_;
};

}  // namespace sitter
