#pragma once

#include <string>
#include <vector>

#include "sitter/exit_status.hpp"

namespace sitter {

/// A direct child, or an orphan that this process had adopted, which has ended.
struct Reaped {
  long pid = 0;
  ExitStatus status;
};

/// Collects every child that has ended, without waiting. To be called after each SIGCHLD, on the
/// main thread; a pid that it has returned may belong to a stranger from then on.
std::vector<Reaped> reap();

/// "SIGSEGV"; "signal 40" for one without a name.
std::string signal_name(int signal);

/// Makes this process the parent of descendants whose parents end. False where the system has no
/// such thing; then only the session and what still hangs on it belong to a child.
bool become_subreaper();

}  // namespace sitter
