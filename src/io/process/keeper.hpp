#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "io/process/process_unit.hpp"
#include "io/system/file_descriptor.hpp"

namespace sitter {

/// The log message if there is no keeper.
inline constexpr std::string_view kNoKeeper =
    "there is no keeper: if mcp-sitter is killed with SIGKILL, parts of the server may be left "
    "behind";

/// How many keepers a bridge starts in all. If so many keepers were killed, the next one would be
/// killed too.
inline constexpr int kKeeperStartsMax = 10;

/// A process that outlives the bridge for a moment, to kill what the bridge could not. It waits on
/// a pipe that only the bridge writes. When the pipe ends, the keeper sends SIGKILL to every unit
/// that it still knows, and exits. Only SIGKILL ends it earlier; then the bridge should start
/// another keeper. The keeper holds none of the bridge's descriptors, so that a client sees the end
/// of the bridge's output when the bridge ends.
///
/// Every two seconds, while a child is known, the keeper looks at the families of bridge and child.
/// It does so because a session that a descendant of the child opened can no longer be found when
/// the process between them has ended. Sessions that were opened after the last look are found by
/// their mark.
class Keeper {
 public:
  /// Forks the keeper. Start the first keeper before the first thread and before much memory is
  /// allocated: a later keeper holds a copy of all that memory. `socket` is the absolute path of
  /// the control socket, which must not outlive the bridge, or empty. Returns nothing if the system
  /// has no free process or pipe.
  static std::optional<Keeper> start(const std::string& socket);

  Keeper(Keeper&&) = default;
  Keeper& operator=(Keeper&&) = delete;
  /// Lets the keeper end, and waits at most 100 ms for that.
  ~Keeper();

  long pid() const { return pid_; }
  const std::string& socket() const { return socket_; }

  /// The leader itself calls this between its fork and its exec. False if the keeper is gone. For
  /// this function and `child_over`, SIGPIPE must be ignored.
  bool child_started(Generation gen, const ProcessRecord& leader);

  /// The whole unit is gone, or its start failed. From now on, an unrelated process may get the pid
  /// of its leader. False if the keeper is gone.
  bool child_over(Generation gen);

  /// Kills the keeper before it can kill anything. To be used for a keeper that no longer takes
  /// messages. Its exit must not have been reaped.
  void abandon();

 private:
  Keeper(long pid, std::string socket, FileDescriptor pipe)
      : pid_(pid), socket_(std::move(socket)), pipe_(std::move(pipe)) {}

  long pid_;
  std::string socket_;
  FileDescriptor pipe_;
};

}  // namespace sitter
