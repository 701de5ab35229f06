#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sitter/builtin.hpp"
#include "sitter/limits.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// What the user chose on the command line, as far as decisions depend on it.
struct BridgeConfig {
  /// Whether sitter_call is offered.
  enum class CallTool {
    automatic,  ///< to clients that are known to list the tools only once
    on,
    off,
  };
  /// When a child that has ended comes back without a request.
  enum class Restarts {
    lazy,      ///< never
    on_crash,  ///< when nobody has asked it to end, and it has not ended in good order
    eager,     ///< whatever it has ended of
  };

  std::string command;
  std::vector<std::string> arguments;
  /// As given; empty for the bridge's own.
  std::string working_directory;
  /// From a child's start to its answer to the opening or, of a respawn without one, to its first
  /// message. Zero: it is waited for without end.
  Milliseconds startup_timeout{50000};
  /// How long the client's opening waits for a slow child. Zero: it is answered at once without it.
  Milliseconds answer_within{8000};
  /// From closing a child's stdin to SIGTERM, and from there to SIGKILL. Zero: all at once.
  Milliseconds kill_grace{500};
  /// Whether sitter_kill may end what runs an interpreter or a tool of the system, when it is asked
  /// for that.
  bool allows_wide_kill = false;
  /// Lines of the children's stderr that are kept, 1 at least.
  std::size_t stderr_lines = limits::kStderrLinesDefault;
  /// Whether notices are written into tool results.
  bool writes_notices = true;
  /// The command of sitter_rebuild, which is there only with one.
  std::string build_command;
  /// How long a child that is to be replaced may finish what it has been asked.
  Milliseconds on_busy_wait{10000};
  /// Names of built-in tools that are offered under others.
  std::map<Builtin, std::string> tool_names;
  CallTool call_tool = CallTool::automatic;
  Restarts restarts = Restarts::lazy;
  /// Tools whose last successful call is made again at each new child, in this order.
  std::vector<std::string> replayed_tools;
  /// What is watched, as given; only to be shown.
  std::vector<std::string> watch_patterns;
  bool watches_binary = false;
  bool watches() const { return watches_binary || !watch_patterns.empty(); }
  /// How long nothing watched must have changed before a reload.
  Milliseconds debounce{300};
  /// Restarts in a row, without a minute of good running between.
  int restarts_max = 10;
  std::string sitter_version;
  /// Random, for the ids of the bridge's own requests.
  std::uint64_t seed = 0;
};

}  // namespace sitter
