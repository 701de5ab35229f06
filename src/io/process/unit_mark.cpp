#include "io/process/unit_mark.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <set>

namespace sitter {
namespace {

// No system treats a limit without its highest bit as "unlimited". Only the lower bits of the start
// time fit. They suffice, because no two bridges have the same pid at the same time.
constexpr int kGenerationBits = 20;
constexpr int kStartBits = 21;
constexpr std::int64_t kGenerationOffset = std::int64_t{1} << (kGenerationBits - 1);

const std::string kVariable = "MCP_SITTER_UNIT_";

std::string variable_name(const ProcessRecord& bridge) {
  return kVariable + std::to_string(bridge.pid) + "_" + std::to_string(bridge.start);
}

/// The higher bits of all limits of this bridge.
std::uint64_t limit_of_bridge(const ProcessRecord& bridge) {
  const std::uint64_t start = bridge.start & ((std::uint64_t{1} << kStartBits) - 1);
  return static_cast<std::uint64_t>(bridge.pid) << kStartBits | start;
}

/// The pids of the bridges that may have marked the process.
std::set<long> marking_pids(long pid) {
  std::set<long> pids;
  if (const auto limit = lock_limit_of(pid)) {
    pids.insert(static_cast<long>(*limit >> (kStartBits + kGenerationBits)));
  }
  for (const std::string& entry : environment_entries(pid, kVariable)) {
    pids.insert(std::strtol(entry.c_str() + kVariable.size(), nullptr, 10));
  }
  return pids;
}

}  // namespace

const ProcessRecord& this_process() {
  static ProcessRecord record;
  // A forked process has another pid, so its record is read again.
  if (record.pid != getpid()) {
    record = find_process(getpid()).value_or(ProcessRecord{.pid = getpid()});
  }
  return record;
}

std::string unit_variable(const ProcessRecord& bridge, Generation gen) {
  return variable_name(bridge) + "=" + std::to_string(gen);
}

std::optional<std::uint64_t> unit_lock_limit(const ProcessRecord& bridge, Generation gen) {
  const std::int64_t number = gen + kGenerationOffset;
  if (number < 0 || number >= 2 * kGenerationOffset) return std::nullopt;
  return limit_of_bridge(bridge) << kGenerationBits | static_cast<std::uint64_t>(number);
}

std::optional<Generation> marked_generation(long pid, const ProcessRecord& bridge) {
  const auto limit = lock_limit_of(pid);
  if (limit && *limit >> kGenerationBits == limit_of_bridge(bridge)) {
    const auto number = static_cast<std::int64_t>(*limit & (2 * kGenerationOffset - 1));
    return static_cast<Generation>(number - kGenerationOffset);
  }
  const std::string name = variable_name(bridge) + "=";
  const std::vector<std::string> entries = environment_entries(pid, name);
  if (entries.empty()) return std::nullopt;
  const std::string& entry = entries.front();
  Generation gen = kNoGeneration;
  const char* const end = entry.data() + entry.size();
  if (std::from_chars(entry.data() + name.size(), end, gen).ptr != end) return std::nullopt;
  return gen;
}

std::optional<Supervisor> supervisor_of(long pid, const std::vector<long>& not_these) {
  std::optional<Supervisor> found;
  std::uint64_t start = 0;
  for (const long marking : marking_pids(pid)) {
    const auto bridge = find_process(marking);
    const bool counts = bridge && !bridge->zombie && bridge->user == this_process().user &&
                        std::find(not_these.begin(), not_these.end(), marking) == not_these.end();
    if (!counts || bridge->start < start) continue;
    if (const auto gen = marked_generation(pid, *bridge)) {
      found = Supervisor{marking, *gen};
      start = bridge->start;
    }
  }
  return found;
}

}  // namespace sitter
