#pragma once

#include <optional>
#include <string>

#include "sitter/bridge_config.hpp"

namespace sitter {

/// The first line on each connection of `mcp-sitter ctl`, which says what this bridge is for.
std::string greeting(const BridgeConfig& config, const std::string& name,
                     const std::optional<std::string>& folder);

}  // namespace sitter
