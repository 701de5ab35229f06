#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/child/child_end.hpp"
#include "core/client/session.hpp"
#include "core/rebuild/build.hpp"
#include "core/report/catalog.hpp"
#include "sitter/bytes.hpp"
#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// A notice must leave room for the result that follows it.
inline constexpr std::size_t kNoticeBytesMax = 4 * kKiB;

/// Builds that can be repeated byte for byte give their files a time of long ago, such as 1980. A
/// file that seems older than this says nothing about when it was built.
inline constexpr Milliseconds kKnownAgeMax = std::chrono::hours(24 * 365 * 20);

}  // namespace limits

inline constexpr std::string_view kUnknownAge = "of unknown age";

/// How long ago a file was changed; nothing if that is unknown.
std::optional<Milliseconds> known_age(WallTime modified, WallTime now);

/// What the model is told after a restart. Texts from the child may hold anything; they are cleaned
/// and shortened when the notice is written.
struct RestartNotice {
  struct Change {
    std::string before;
    std::string after;
  };

  /// No server has served before this one.
  bool is_first = false;
  /// The server is the description of a tool that runs anew for each call.
  bool is_description = false;
  int spawn = 0;
  std::int64_t pid = 0;
  Milliseconds startup{};
  /// Left out of the notice if empty.
  std::string path;
  std::string version;
  std::optional<Milliseconds> build_age;
  /// The file is a script, which is not built.
  bool is_script = false;
  std::optional<ChildEnd> previous;
  std::int64_t previous_pid = 0;
  /// The end of the stderr of that child; empty if the model knows it.
  std::string last_words;

  /// How many restarts this notice stands for.
  int restarts = 1;
  CatalogDiff tools;
  /// The size of the definitions of all tools, before and after the change.
  std::size_t tool_bytes_before = 0;
  std::size_t tool_bytes = 0;
  CatalogDiff prompts;
  CatalogDiff resources;
  std::vector<CatalogKind> not_compared;

  std::optional<Change> protocol_version;
  /// Name and version of the server.
  std::optional<Change> server_info;
  std::vector<std::string> capabilities_added;
  std::vector<std::string> capabilities_removed;
  bool instructions_changed = false;

  /// How many starts failed before this one, and how the last of them ended.
  int failed_starts = 0;
  std::optional<ChildEnd> last_failure;

  /// The last build, if it failed and the server is still the program from before it.
  std::optional<BuildResult> failed_build;
  /// The tool that shows the output of the build. A tool that is not offered has no name, here and
  /// below.
  std::string log_tool = "sitter_build_log";

  /// The URIs of subscriptions that the new child refused.
  std::vector<std::string> subscriptions_lost;

  /// The tool that calls tools which the client has not listed.
  std::string call_tool;

  /// The tool that shows what does not fit into the notice, and the tool that shows stderr.
  std::string status_tool = "sitter_status";
  std::string stderr_tool = "sitter_child_stderr";
};

/// The text of the notice: the line that readers of mcp-sitter 0.2.0 know, then one line for each
/// further fact. The text has at most `bytes_max` bytes, which must be at least 512.
std::string notice_text(const RestartNotice& notice,
                        std::size_t bytes_max = limits::kNoticeBytesMax);

/// Adds what the client was told at the opening and is no longer true. No message of the protocol
/// can correct it. A child that was not opened has no protocol version.
void describe_changes(const OpeningResult& told, const OpeningResult& now_open,
                      RestartNotice& notice);

}  // namespace sitter
