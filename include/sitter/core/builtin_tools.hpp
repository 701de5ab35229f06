#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sitter/core/kill.hpp"
#include "sitter/core/stderr_ring.hpp"

namespace sitter {

/// The tools that the bridge adds, in the order in which they are offered.
enum class Builtin { status, kill, binary_info, child_stderr };

inline constexpr std::array kBuiltins = {Builtin::status, Builtin::kill, Builtin::binary_info,
                                         Builtin::child_stderr};

/// "sitter_status" and so on.
std::string_view plain_name(Builtin builtin);

/// The raw JSON of a tool under this name, with the members that every revision of the protocol
/// has.
std::string definition(Builtin builtin, std::string_view name);

/// Under which names the built-in tools are offered. They are the plain ones until the child turns
/// out to have a tool of that name: the child's keeps it, and ours gets `outer_` before it, again
/// until it is free.
class BuiltinNames {
 public:
  BuiltinNames();

  /// To be called with the names of the child's tools whenever they become known.
  void make_way_for(std::span<const std::string> child_names);

  const std::string& name(Builtin builtin) const;
  std::optional<Builtin> find(std::string_view name) const;

  /// The raw JSON of all of them, in order.
  std::vector<std::string> definitions() const;

  /// What is appended to the child's `instructions`.
  std::string instructions() const;

 private:
  std::array<std::string, kBuiltins.size()> names_;
};

struct KillArguments {
  KillScope scope = KillScope::automatic;

  friend bool operator==(const KillArguments&, const KillArguments&) = default;
};

struct NoArguments {
  friend bool operator==(const NoArguments&, const NoArguments&) = default;
};

/// A sentence that names the wrong argument.
using ArgumentError = std::string;

/// These read the raw JSON text of `arguments`; empty text and null are no arguments. Numbers may
/// be spelled in any way and may stand in a string as long as they are whole. Null is a missing
/// value.
std::variant<KillArguments, ArgumentError> parse_kill_arguments(std::string_view raw);
std::variant<StderrRing::Query, ArgumentError> parse_stderr_arguments(std::string_view raw);
std::variant<NoArguments, ArgumentError> parse_no_arguments(std::string_view raw);

}  // namespace sitter
