#pragma once

#include <string>
#include <vector>

#include "sitter/exit_status.hpp"

namespace sitter {

/// A process that has ended: a direct child, or an orphan that this process had adopted.
struct Reaped {
  long pid = 0;
  ExitStatus status;
  /// The system has made a core dump of it.
  bool left_core = false;
};

/// Collects every child that has ended, without waiting. Call it after each SIGCHLD, on the main
/// thread. After that, another process may get a pid that it has returned.
std::vector<Reaped> reap();

/// "SIGSEGV", for example; "signal 40" for a signal without a name.
std::string signal_name(int signal);

}  // namespace sitter
