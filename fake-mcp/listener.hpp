#pragma once

#include <cstdint>
#include <vector>

#include "options.hpp"

namespace sitter::fake {

/// A socket that listens.
class Listener {
 public:
  /// Says on stderr where it listens, and writes the port into a file if the options request that.
  /// Exits with 1 and a sentence on stderr if it cannot listen.
  explicit Listener(const HttpOptions& options);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() { close(); }

  int descriptor() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }

  /// The connections that have come, as non-blocking descriptors.
  std::vector<int> accept() const;
  void close();

 private:
  int descriptor_ = -1;
};

}  // namespace sitter::fake
