#pragma once

#include <cstdint>

namespace sitter {

/// Names a connection from `mcp-sitter ctl`. Never 0.
using ControlId = std::uint64_t;

}  // namespace sitter
