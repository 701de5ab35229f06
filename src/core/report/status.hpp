#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/child/child_end.hpp"
#include "core/child/history.hpp"
#include "core/child/restart_policy.hpp"
#include "core/rebuild/build.hpp"
#include "core/rebuild/watch.hpp"
#include "core/report/catalog.hpp"
#include "sitter/binary_facts.hpp"
#include "sitter/generation.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// What sitter_status shows. Texts may hold anything; they are made valid UTF-8 when they are
/// shown.
struct StatusFacts {
  struct Failure {
    /// One clause, as end_clause returns it.
    std::string what;
    std::optional<int> exit_code;
    /// Empty if no signal ended the child.
    std::string signal;
    std::string stderr_tail;
    /// Since the end.
    Milliseconds age{};
  };

  /// A child that does not serve yet.
  struct Starting {
    Generation gen = kNoGeneration;
    /// Since its start.
    Milliseconds age{};
    /// What caused the start, in a few words.
    std::string cause;
  };

  /// A daemon that cannot be reached.
  struct Absent {
    std::string why;
    WallTime since;
    Milliseconds age{};
    /// Until the next try; empty while it is being tried.
    std::optional<Milliseconds> again_in;
  };

  struct BuildFacts {
    std::string command;
    bool is_running = false;
    /// The last build that has ended.
    std::optional<BuildResult> last;
  };

  struct WatchFacts {
    std::vector<std::string> patterns;
    bool watches_binary = false;
    Milliseconds debounce{};
    std::size_t folder_count = 0;
    /// Empty if every change is seen.
    std::string problem;
    /// The patterns that no file matches.
    std::vector<std::string> unmatched;
    std::optional<Watch::Trigger> last;
    /// The files that reloads write themselves.
    std::vector<std::string> own;
  };

  struct RestartFacts {
    RestartPolicy::When policy = RestartPolicy::When::lazy;
    int in_a_row = 0;
    int max = 0;
  };

  std::string child_command;
  std::vector<std::string> child_args;
  std::optional<std::string> working_directory;
  std::optional<std::string> binary_path;
  std::optional<std::string> binary_version;
  /// The server is a command-line tool, and a child is a description that was read.
  bool is_tool = false;
  std::string child_state;
  bool child_alive = false;
  bool child_ready = false;
  std::optional<std::int64_t> child_pid;
  std::int64_t child_tool_count = 0;
  /// The size of the definitions of those tools.
  std::int64_t child_tool_bytes = 0;
  std::int64_t spawn_count = 0;
  std::int64_t kill_count = 0;
  std::optional<WallTime> last_kill;
  std::optional<std::string> last_kill_reason;
  /// The same end as a clause, as end_clause returns it, and the time since then.
  std::string last_end;
  /// That child was a daemon whose process is not ours.
  bool was_foreign = false;
  std::optional<Milliseconds> last_end_age;
  std::optional<Starting> starting;
  std::optional<Absent> absence;
  /// The rebuild that is on its way, as progress_clause returns it; empty if there is none.
  std::string rebuild;
  std::optional<Milliseconds> last_startup;
  std::optional<Milliseconds> child_uptime;
  std::optional<int> previous_exit_code;
  std::optional<Milliseconds> previous_lifetime;
  /// Shown twice: as the summary that mcp-sitter 0.2.0 has, and completely.
  std::optional<CatalogDiff> tools_diff;
  Milliseconds sitter_uptime{};

  std::string sitter_version;
  /// "legacy" or "modern".
  std::optional<std::string> protocol_era;
  std::optional<std::string> protocol_version;
  /// The raw JSON text of the child's serverInfo.
  std::optional<std::string> server_info;
  std::optional<bool> binary_stale;
  std::int64_t requests_in_flight = 0;
  std::int64_t requests_waiting = 0;
  std::optional<Failure> last_failure;
  /// The last generations, the oldest first.
  std::vector<History::Life> history;
  std::optional<History::Noise> stdout_pollution;
  /// What the running child answered to its opening. A rebuild may have changed it, and the client
  /// can't be told.
  std::optional<std::string> child_protocol_version;
  /// Set if there is a build command.
  std::optional<BuildFacts> build;
  /// Set if something is watched.
  std::optional<WatchFacts> watch;
  RestartFacts restart;
  /// The findings of the lint. Left out if there is none.
  std::vector<std::string> lint;
};

/// The members that mcp-sitter 0.2.0 has are always there. The others are left out if they are
/// null, zero or empty.
std::string status_text(const StatusFacts& facts);

/// The words that mcp-sitter 0.2.0 uses for lastKillReason: "sitter_kill", "external (exit 0)",
/// "external/crash (exit 3)".
std::string kill_reason_words(const ChildEnd& end);

/// What sitter_binary_info shows. Ages are counted from `now`.
std::string binary_text(const BinaryFacts& facts, WallTime now);

}  // namespace sitter
