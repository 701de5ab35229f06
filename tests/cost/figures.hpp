#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// What the built program costs, in figures that do not depend on how fast or how busy the machine
/// is. The program stands between a client that makes one call after the other, and
/// `fake-mcp --fast`.
namespace sitter::cost {

struct Situation {
  std::string_view name;
  std::size_t result_bytes;
  /// The calls before those that count. Without any, what counts is a start with the first call.
  std::size_t first;
  std::size_t further;
  /// System calls that do not count, as options of strace.
  std::vector<std::string> left_out{};
};

/// For the start, or for a further call. Only the first thread of the program is seen; it has no
/// other while it passes calls on.
double system_calls(const Situation& situation);
/// The pages that the system gives to the process without reading them from a file.
double page_faults(const Situation& situation);
double instructions(const Situation& situation);

}  // namespace sitter::cost
