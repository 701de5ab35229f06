#pragma once

#include <cstdint>
#include <string>

#include "support/own_descriptor.hpp"

namespace sitter::testing {

/// A port of 127.0.0.1 that only one test uses. Nothing listens on it until a daemon of the test
/// does, and nobody else gets it before or after.
class HeldPort {
 public:
  HeldPort();

  std::uint16_t number() const { return number_; }
  /// The address of the endpoint of fake-mcp.
  std::string url() const;

 private:
  /// Has the port and never listens. Such a socket keeps the system from giving the port away, and
  /// does not hinder a daemon. It is connected to the other socket.
  OwnDescriptor socket_, other_;
  std::uint16_t number_ = 0;
};

}  // namespace sitter::testing
