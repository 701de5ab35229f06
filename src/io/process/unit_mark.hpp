#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/process/process_table.hpp"
#include "sitter/generation.hpp"

namespace sitter {

/// The calling process: its pid and its start time, read at the first call.
const ProcessRecord& this_process();

// Every process of a unit carries the mark, and its children inherit it. So the mark shows the unit
// of a process that has left its session and its parents. Some programs rewrite their environment,
// and some (sudo) reset limits, but few do both.

/// An entry of the environment, NAME=VALUE. Each bridge uses a different name, so that a bridge
/// that another bridge has started does not hide this entry.
std::string unit_variable(const ProcessRecord& bridge, Generation gen);

/// The value that `lock_limit_of` should find. Nothing for a generation above half a million, which
/// does not fit beside the number of the bridge.
std::optional<std::uint64_t> unit_lock_limit(const ProcessRecord& bridge, Generation gen);

/// The generation of `bridge` whose mark the process carries.
std::optional<Generation> marked_generation(long pid, const ProcessRecord& bridge);

/// A living mcp-sitter of this user, and its generation.
struct Supervisor {
  long pid = 0;
  Generation gen = kNoGeneration;
};

/// The mcp-sitter whose mark the process carries: of several, the one that was started last. Those
/// in `not_these` do not count.
std::optional<Supervisor> supervisor_of(long pid, const std::vector<long>& not_these);

}  // namespace sitter
