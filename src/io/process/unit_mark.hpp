#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "io/process/process_table.hpp"
#include "sitter/generation.hpp"

namespace sitter {

// What every process of a unit carries and its children inherit, so that it shows whose it is after
// it has left its session and its parents. Some programs rewrite their environment, and some (sudo)
// reset limits; few do both.

/// An entry of the environment, NAME=VALUE. The name is unlike that of any other bridge, so that a
/// bridge behind a bridge does not hide it.
std::string unit_variable(const ProcessRecord& bridge, Generation gen);

/// What `lock_limit_of` is to find. Nothing for a generation beyond half a million, which does not
/// fit in beside the bridge.
std::optional<std::uint64_t> unit_lock_limit(const ProcessRecord& bridge, Generation gen);

/// The generation of `bridge` whose mark the process carries.
std::optional<Generation> marked_generation(long pid, const ProcessRecord& bridge);

}  // namespace sitter
