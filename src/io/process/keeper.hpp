#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "io/process/process_unit.hpp"
#include "io/stream/file_descriptor.hpp"

namespace sitter {

/// What the log says when there is none.
inline constexpr std::string_view kNoKeeper =
    "there is no keeper: if mcp-sitter is killed with SIGKILL, parts of the server may be left "
    "behind";

/// How many keepers a bridge starts in all. Whatever ends so many of them ends the next one too.
inline constexpr int kKeeperStartsMax = 10;

/// A process that outlives the bridge by a moment, to kill what the bridge could not: it waits on a
/// pipe that only the bridge writes, and when the pipe ends it sends SIGKILL to every unit that it
/// still knows of, and exits. Nothing but SIGKILL ends it earlier, and then the bridge is to start
/// another one. It holds none of the bridge's descriptors, so that a client sees the end of the
/// bridge's output when the bridge ends.
///
/// Every two seconds, while a child is known, it looks at the processes, because sessions that the
/// child's descendants opened can't be found any more when the process between has ended. What
/// opened one since is found by its mark.
class Keeper {
 public:
  /// Forks the keeper. Start the first one before the first thread and before memory is taken: a
  /// later one holds a copy of all that memory. `socket` is the control socket, which is not to
  /// outlive the bridge, absolute, or empty. Empty if there was no process or pipe to be had.
  static std::optional<Keeper> start(const std::string& socket);

  Keeper(Keeper&&) = default;
  Keeper& operator=(Keeper&&) = delete;
  /// Lets the keeper end, and waits at most 100 ms until it has.
  ~Keeper();

  long pid() const { return pid_; }
  const std::string& socket() const { return socket_; }

  /// To be called by the leader itself, between its fork and its exec. False if the keeper is gone.
  /// SIGPIPE must be ignored, here and below.
  bool child_started(Generation gen, const ProcessRecord& leader);

  /// The whole unit is gone, or its start failed; the number of its leader may be used by strangers
  /// from now on. False if the keeper is gone.
  bool child_over(Generation gen);

  /// Ends the keeper before it can kill anything, for one that takes no word any more. Its exit
  /// must not have been reaped.
  void abandon();

 private:
  Keeper(long pid, std::string socket, FileDescriptor pipe)
      : pid_(pid), socket_(std::move(socket)), pipe_(std::move(pipe)) {}

  long pid_;
  std::string socket_;
  FileDescriptor pipe_;
};

}  // namespace sitter
