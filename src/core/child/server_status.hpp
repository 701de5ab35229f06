#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/child/history.hpp"
#include "core/child/restart_policy.hpp"
#include "sitter/generation.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// What a status shows of the child and of those before it.
struct ServerStatus {
  struct Failure {
    /// One clause, as end_clause returns it.
    std::string what;
    std::optional<std::int64_t> exit_code;
    /// Empty if no signal ended the child.
    std::string signal;
    std::string stderr_tail;
    /// Since the end.
    Milliseconds age{};
    /// Where the core dump is, and the functions that were running, if that is known.
    std::string core = {};
    std::string stack = {};
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

  struct RestartFacts {
    RestartPolicy::When policy = RestartPolicy::When::lazy;
    int in_a_row = 0;
    int max = 0;
  };

  /// The server is a command-line tool, and a child is a description that was read.
  bool is_tool = false;
  /// The same words as in mcp-sitter 0.2.0, because its users may compare them.
  std::string child_state;
  bool child_alive = false;
  bool child_ready = false;
  std::optional<std::int64_t> child_pid;
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
  /// How to let the child run, as `Servers::stopped_clause` returns it.
  std::string stopped;
  std::optional<Absent> absence;
  /// Who is attached to the child; empty if nobody is.
  std::string debugger;
  /// What the child does, as `fact::ProcessSeen` tells it.
  std::string activity;
  std::optional<Milliseconds> last_startup;
  std::optional<Milliseconds> child_uptime;
  std::optional<std::int64_t> previous_exit_code;
  std::optional<Milliseconds> previous_lifetime;
  /// The raw JSON text of the child's serverInfo.
  std::optional<std::string> server_info;
  std::optional<Failure> last_failure;
  /// The last generations, the oldest first.
  std::vector<History::Life> history;
  std::optional<History::Noise> stdout_pollution;
  /// What the running child answered to its opening. A rebuild may have changed it, and the client
  /// can't be told.
  std::optional<std::string> child_protocol_version;
  RestartFacts restart;
};

}  // namespace sitter
