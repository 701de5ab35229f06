#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "input.hpp"
#include "journal.hpp"
#include "options.hpp"
#include "receiver.hpp"
#include "session.hpp"
#include "sink.hpp"

namespace sitter::fake {

/// Reads lines from stdin and answers on stdout.
class Server {
 public:
  /// The options must outlive this object.
  explicit Server(const Options& options);

  /// Serves until the end of input, or for ever if the options say so. Returns the exit code. Many
  /// faults end the process instead.
  int run();

 private:
  bool wait_for_input(std::optional<std::chrono::milliseconds> limit);
  bool read_input();
  int end();

  const Options& options_;
  Journal journal_;
  StdoutSink sink_;
  Session session_;
  Receiver receiver_;
  Input input_;
  std::string bytes_;  ///< read, and not handled
  bool at_end_ = false;
};

}  // namespace sitter::fake
