#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sitter {

/// What a status shows of the client.
struct ClientStatus {
  /// "legacy" or "modern".
  std::optional<std::string> protocol_era;
  std::optional<std::string> protocol_version;
  std::int64_t requests_in_flight = 0;
  std::int64_t requests_waiting = 0;
};

}  // namespace sitter
