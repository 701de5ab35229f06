#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sitter {

/// Which processes sitter_kill ends besides the child and its descendants.
enum class KillScope {
  /// Other processes that run the file under development with the server's arguments, and that no
  /// other living mcp-sitter supervises: what an earlier session has left behind. A running file
  /// can be replaced, so nothing else is in the way of a build. None if that file is a script or is
  /// not known.
  automatic,
  child,
  /// All other processes that run the file under development.
  same_file,
  /// The same as same_file. If there is no such file, other processes that run the child's
  /// interpreter or system tool, although they have nothing to do with the server.
  same_executable,
};

/// The interpreter or system tool that is the child's only executable file, and the other processes
/// that run it.
struct SharedImage {
  struct Process {
    std::int64_t pid = 0;
    std::string command;
  };

  std::string path;
  std::vector<Process> others;
};

}  // namespace sitter
