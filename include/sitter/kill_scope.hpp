#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sitter {

/// What else sitter_kill ends besides the child and its descendants.
enum class KillScope {
  /// Other processes that run the file under development, so that it is unlocked; none where that
  /// file is a script, or is not known.
  automatic,
  child,
  /// As automatic, and where that finds no file, other processes of the interpreter or the tool of
  /// the system that the child runs. Strangers run those too.
  same_executable,
};

/// The interpreter or tool of the system that is the only executable file of the child, and who
/// else runs it.
struct SharedImage {
  struct Process {
    std::int64_t pid = 0;
    std::string command;
  };

  std::string path;
  std::vector<Process> others;
};

}  // namespace sitter
