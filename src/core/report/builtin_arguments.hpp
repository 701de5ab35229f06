#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "core/child/stderr_ring.hpp"
#include "core/rebuild/rebuild.hpp"
#include "core/report/catalog.hpp"
#include "sitter/bytes.hpp"
#include "sitter/kill_scope.hpp"

namespace sitter {

namespace limits {

/// The arguments of a built-in tool, as raw text. This is far more than the tools need. Deep
/// nesting in so little text costs next to nothing.
inline constexpr std::size_t kArgumentsBytesMax = 64 * kKiB;

}  // namespace limits

struct KillArguments {
  KillScope scope = KillScope::automatic;
  /// Whether the server is started again at once.
  bool restart = false;

  friend bool operator==(const KillArguments&, const KillArguments&) = default;
};

struct CallArguments {
  std::string tool;
  /// A raw object.
  std::string arguments = "{}";

  friend bool operator==(const CallArguments&, const CallArguments&) = default;
};

struct NoArguments {
  friend bool operator==(const NoArguments&, const NoArguments&) = default;
};

/// A sentence that names the wrong argument.
using ArgumentError = std::string;

/// These functions read the raw JSON text of `arguments`. An empty text, null or `""` means no
/// arguments, and such a member counts as missing. Whole numbers may be spelled in any way, also as
/// a string.
std::variant<KillArguments, ArgumentError> parse_kill_arguments(std::string_view raw);
std::variant<StderrRing::Query, ArgumentError> parse_stderr_arguments(std::string_view raw);
std::variant<RebuildArguments, ArgumentError> parse_rebuild_arguments(std::string_view raw);
std::variant<StderrRing::Query, ArgumentError> parse_build_log_arguments(std::string_view raw);
std::variant<CallArguments, ArgumentError> parse_call_arguments(std::string_view raw);
/// Some clients send a member that means nothing, so any is taken.
std::variant<NoArguments, ArgumentError> parse_no_arguments(std::string_view raw);

/// What is wrong with a call, as far as the list of the tools shows; empty if nothing is wrong.
std::string complaint_about(const CallArguments& call, const Catalog& tools);

}  // namespace sitter
