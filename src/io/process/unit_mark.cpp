#include "io/process/unit_mark.hpp"

#include <charconv>

namespace sitter {
namespace {

// No system treats a limit without its highest bit as "unlimited". Only the lower bits of the start
// time fit. They suffice, because no two bridges have the same pid at the same time.
constexpr int kGenerationBits = 20;
constexpr int kStartBits = 21;
constexpr std::int64_t kGenerationOffset = std::int64_t{1} << (kGenerationBits - 1);

std::string variable_name(const ProcessRecord& bridge) {
  return "MCP_SITTER_UNIT_" + std::to_string(bridge.pid) + "_" + std::to_string(bridge.start);
}

/// The higher bits of all limits of this bridge.
std::uint64_t limit_of_bridge(const ProcessRecord& bridge) {
  const std::uint64_t start = bridge.start & ((std::uint64_t{1} << kStartBits) - 1);
  return static_cast<std::uint64_t>(bridge.pid) << kStartBits | start;
}

}  // namespace

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
  const auto value = environment_value(pid, variable_name(bridge));
  Generation gen = kNoGeneration;
  if (!value) return std::nullopt;
  const char* const end = value->data() + value->size();
  if (std::from_chars(value->data(), end, gen).ptr != end) return std::nullopt;
  return gen;
}

}  // namespace sitter
