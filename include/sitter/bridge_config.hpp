#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sitter/builtin.hpp"
#include "sitter/end_words.hpp"
#include "sitter/http.hpp"
#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// How many lines of the children's stderr are kept by default.
inline constexpr std::size_t kStderrLinesDefault = 1000;

}  // namespace limits

/// What the child is, as far as the model must know it.
enum class ServerKind {
  process,    ///< a process that is started here when it is needed
  elsewhere,  ///< a daemon that is started somewhere else
  tool,       ///< a command-line tool, which runs anew for each call, and has no process of its own
};

/// The user's choices on the command line, as far as decisions of the core depend on them.
struct BridgeConfig {
  /// Whether sitter_call is offered.
  enum class CallTool {
    automatic,  ///< to clients that are known to list the tools only once
    on,
    off,
  };
  /// When a child that has ended is restarted without a request.
  enum class Restarts {
    lazy,      ///< never
    on_crash,  ///< when the child was not asked to end, and did not exit normally
    eager,     ///< however the child has ended
  };

  std::string command;
  std::vector<std::string> arguments;
  /// The address of a daemon that is the child; empty if the child is a process that is started
  /// here. With an address, `command` is a sentence-like name of it for texts.
  std::string url;
  /// The headers that the user has set for this daemon. No text of the bridge shows their values.
  std::vector<HttpHeader> secret_headers;
  /// The command that starts this daemon; empty if it is started elsewhere.
  std::string daemon_command;
  ServerKind kind = ServerKind::process;
  /// How long a request waits for a daemon that cannot be reached.
  Milliseconds wait_for_server{30000};
  /// The server is known to speak only revisions with initialize (`order::RememberEra`), so that a
  /// probe need not start it.
  bool is_of_earlier_era = false;
  /// An edit needs no build: an interpreter or a runner runs the source.
  bool needs_no_build = false;
  /// The endings of the sources that run only after a build: `.cpp` beside a compiled program,
  /// `.ts` beside a script in JavaScript. Without a build command, somebody else builds them.
  std::vector<std::string> built_endings;
  /// As given; empty for the bridge's own working directory.
  std::string working_directory;
  /// How long a child may take from its start to its answer to the opening. For a respawned child
  /// that needs no opening: to its first message. Zero: no limit.
  Milliseconds startup_timeout{50000};
  /// Each child starts stopped, and runs once a debugger or a signal lets it. Then there is no
  /// limit for the start.
  bool starts_stopped = false;
  /// How long the client's opening waits for a slow child. Zero: the bridge answers it at once.
  Milliseconds answer_within{8000};
  /// The time from closing a child's stdin to SIGTERM, and from SIGTERM to SIGKILL. Zero: no pause.
  Milliseconds kill_grace{500};
  /// What texts call these two signals.
  EndWords end_words;
  /// Whether sitter_kill with the scope same_executable may end other processes that run the same
  /// interpreter or system tool.
  bool allows_wide_kill = false;
  /// How many lines of the children's stderr are kept; at least 1.
  std::size_t stderr_lines = limits::kStderrLinesDefault;
  /// Whether notices are written into tool results.
  bool writes_notices = true;
  /// Whether the model is told what clients would refuse of the server.
  bool lints = true;
  /// The build command of sitter_rebuild. If it is empty, that tool is not offered.
  std::string build_command;
  /// How long a child that is to be replaced may finish its requests. Calls of a tool keep their
  /// own limits, unless this is zero.
  Milliseconds on_busy_wait{10000};
  /// The built-in tools that may be offered.
  std::set<Builtin> tools{kBuiltins.begin(), kBuiltins.end()};
  /// Built-in tools that are offered under another name.
  std::map<Builtin, std::string> tool_names;
  CallTool call_tool = CallTool::automatic;
  Restarts restarts = Restarts::lazy;
  /// Tools whose last successful call is repeated at each new child, in this order.
  std::vector<std::string> replayed_tools;
  /// The watched patterns as given; the core only shows them.
  std::vector<std::string> watch_patterns;
  bool watches_binary = false;
  bool watches() const { return watches_binary || !watch_patterns.empty(); }
  /// How long the watched files must stay unchanged before a reload.
  Milliseconds debounce{300};
  /// How long requests wait for the code of a change in the watched files. Zero: not at all.
  Milliseconds fresh_wait{10000};
  /// How many restarts may follow each other without a minute of running in between.
  int restarts_max = 10;
  std::string sitter_version;
  /// A random number for the ids of the bridge's own requests.
  std::uint64_t seed = 0;
};

}  // namespace sitter
