#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "io/process/launch.hpp"
#include "io/system/file_descriptor.hpp"

namespace sitter {

namespace limits {

/// How much stderr of a daemon is kept from the end of one session until the next, the newest of
/// it: as much as a pipe of Linux holds, a few hundred lines.
inline constexpr std::size_t kLeftErrorMax = 65536;

}  // namespace limits

/// A small process for a daemon that may outlive the bridge. Without a reader the daemon would die
/// of SIGPIPE, or hang, when it writes to its stdout or stderr after the end of the bridge. So from
/// then on this process reads both, and keeps the end of the stderr. It also keeps the daemon's
/// stdin open. A later bridge may take the three pipes and the kept stderr; when that one has ended
/// too, this process goes on as before. It ends when the daemon has closed its outputs, and then
/// removes its two files.
class OutputDrain {
 public:
  struct Files {
    /// Where a later bridge takes the pipes. Empty: none can.
    std::string socket;
    /// What a later bridge reads about the daemon; see `DaemonRecord`.
    std::string record;
  };

  /// Forks the process, which gets copies of the three pipes. Returns nothing if the system has no
  /// free process or pipe.
  static std::optional<OutputDrain> start(const Launched& daemon, const Files& files);

  struct Taken;
  /// Takes the pipes of a daemon whose bridge has ended. Nothing if the process is gone, does not
  /// answer soon, or serves another bridge.
  static std::optional<Taken> take(const std::string& socket);

  /// 0 if the process is no child of this one.
  long pid() const { return pid_; }

 private:
  OutputDrain(long pid, FileDescriptor life) : pid_(pid), life_(std::move(life)) {}

  long pid_;

  /// The process begins to read when this end of a pipe or socket is closed.
  FileDescriptor life_;
};

struct OutputDrain::Taken {
  /// The pid is not set.
  Launched daemon;
  OutputDrain drain;
  /// What the daemon has written to stderr since the end of its last bridge, the end of it.
  std::string error;
};

}  // namespace sitter
