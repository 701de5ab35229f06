#pragma once

#include <cstdint>

namespace sitter {

/// A connection of somebody who controls the bridge from outside. Never 0.
using ControlId = std::uint64_t;

}  // namespace sitter
