#pragma once

#include <vector>

#include "options.hpp"
#include "sockets.hpp"

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

  Socket socket() const { return socket_; }
  bool is_open() const { return socket_ != kNoSocket; }

  /// The connections that have come.
  std::vector<Socket> accept() const;
  void close();

 private:
  Socket socket_ = kNoSocket;
};

}  // namespace sitter::fake
