#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sitter/time.hpp"

namespace sitter {

/// What a status shows of the client.
struct ClientStatus {
  /// "legacy" or "modern".
  std::optional<std::string> protocol_era;
  std::optional<std::string> protocol_version;
  std::int64_t requests_in_flight = 0;
  std::int64_t requests_waiting = 0;

  /// A call that the client has cancelled, and that the server has not answered.
  struct GivenUp {
    std::string tool;
    Milliseconds age{};
    /// It took too long for the client.
    bool has_timed_out = false;
  };
  /// The oldest first.
  std::vector<GivenUp> given_up;
};

}  // namespace sitter
