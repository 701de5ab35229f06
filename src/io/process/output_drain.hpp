#pragma once

#include <optional>
#include <utility>

#include "io/process/launch.hpp"
#include "io/system/file_descriptor.hpp"

namespace sitter {

/// A small process for a daemon that may outlive the bridge. Without a reader the daemon would die
/// of SIGPIPE, or hang, when it writes to its stdout or stderr after the end of the bridge. So from
/// then on this process reads both and drops what it reads. It also keeps the daemon's stdin open.
/// It ends when the daemon has closed its outputs.
class OutputDrain {
 public:
  /// Forks the process, which gets copies of the three pipes. Returns nothing if the system has no
  /// free process or pipe.
  static std::optional<OutputDrain> start(const Launched& daemon);

  long pid() const { return pid_; }

 private:
  OutputDrain(long pid, FileDescriptor life) : pid_(pid), life_(std::move(life)) {}

  long pid_;

  /// The process begins to read when this end of a pipe is closed.
  FileDescriptor life_;
};

}  // namespace sitter
