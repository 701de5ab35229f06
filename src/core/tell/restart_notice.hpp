#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/child/child_end.hpp"
#include "core/client/session.hpp"
#include "core/tell/catalog.hpp"
#include "sitter/limits.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// What the model is told after a restart. Texts that come from the child may hold anything; they
/// are cleaned and shortened where the notice is written.
struct RestartNotice {
  struct Change {
    std::string before;
    std::string after;
  };

  int spawn = 0;
  std::int64_t pid = 0;
  Milliseconds startup{};
  /// Left out when empty.
  std::string path;
  std::string version;
  std::optional<Milliseconds> build_age;
  std::optional<ChildEnd> previous;

  /// How many restarts this one notice stands for.
  int restarts = 1;
  CatalogDiff tools;
  CatalogDiff prompts;
  CatalogDiff resources;
  std::vector<CatalogKind> not_compared;

  std::optional<Change> protocol_version;
  /// Name and version of the server.
  std::optional<Change> server_info;
  std::vector<std::string> capabilities_added;
  std::vector<std::string> capabilities_removed;
  bool instructions_changed = false;

  /// Starts that failed before this one, and what the last of them died of.
  int failed_starts = 0;
  std::optional<ChildEnd> last_failure;

  /// Lines on stdout that were no messages, and the first of them.
  std::size_t stdout_line_count = 0;
  std::string stdout_line;

  /// Uris whose subscription the new child refused.
  std::vector<std::string> subscriptions_lost;

  /// The tool that calls what the client does not list; empty if it is not offered.
  std::string call_tool;

  /// The tool to ask for what does not fit.
  std::string status_tool = "sitter_status";
};

/// The text of the notice: the line that readers of mcp-sitter 0.2.0 know, then one line for each
/// further thing there is to say, never more than `bytes_max` (512 at least) bytes in all.
std::string notice_text(const RestartNotice& notice,
                        std::size_t bytes_max = limits::kNoticeBytesMax);

/// Adds what the client was told at the opening and is no longer true; no message of the protocol
/// can say it. A child that was not opened has no protocol version.
void describe_changes(const OpeningResult& told, const OpeningResult& now_open,
                      RestartNotice& notice);

}  // namespace sitter
