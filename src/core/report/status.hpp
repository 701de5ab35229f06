#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/child/server_status.hpp"
#include "core/client/client_status.hpp"
#include "core/rebuild/rebuild_status.hpp"
#include "core/report/catalog.hpp"
#include "sitter/binary_facts.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// What a status shows of the server's tools and of its file.
struct NewsStatus {
  std::optional<std::string> binary_path;
  std::optional<std::string> binary_version;
  std::optional<bool> binary_stale;
  std::int64_t child_tool_count = 0;
  /// The size of the definitions of those tools.
  std::int64_t child_tool_bytes = 0;
  /// Shown twice: as the summary that mcp-sitter 0.2.0 has, and completely.
  std::optional<CatalogDiff> tools_diff;
  /// The findings of the lint. Left out if there is none.
  std::vector<std::string> lint;
};

/// What sitter_status shows. Texts may hold anything; they are made valid UTF-8 when they are
/// shown.
struct StatusFacts : ClientStatus, ServerStatus, RebuildStatus, NewsStatus {
  std::string child_command;
  std::vector<std::string> child_args;
  std::optional<std::string> working_directory;
  Milliseconds sitter_uptime{};
  std::string sitter_version;
  /// What shows the stderr of the child; empty for a tool that is not offered.
  std::string stderr_tool;
};

/// Says which call the client has given up last, that it still runs as far as is known, what the
/// server does
/// (`activity`), and what shows its stderr. `calls` must not be empty.
std::string given_up_clause(const std::vector<ClientStatus::GivenUp>& calls,
                            std::string_view activity, std::string_view stderr_tool);

/// The members that mcp-sitter 0.2.0 has are always there. The others are left out if they are
/// null, zero or empty.
std::string status_text(const StatusFacts& facts);

/// What sitter_binary_info shows. Ages are counted from `now`.
std::string binary_text(const BinaryFacts& facts, WallTime now);

}  // namespace sitter
