#pragma once

#include "io/backend.hpp"

namespace sitter {

/// A server that is a process and speaks on its stdin and stdout.
class StdioBackend final : public Backend {
 public:
  explicit StdioBackend(const Parts& parts) : Backend(parts), relay_(parts.relay) {}

 private:
  bool takes(const Order& order) override;
  ChildProcess::Events events_of(const Children::Number& gen) override;
  void tell(Generation gen, const LineFramer::Frame& frame, bool is_unfinished = false);

  LineRelay& relay_;
};

}  // namespace sitter
