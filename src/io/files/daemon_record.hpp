#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/files/binary_info.hpp"
#include "io/process/launch_plan.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// A daemon that a bridge of this user has started and that may outlive it, for later bridges. The
/// record is a file beside the control sockets, which only the user can read.
struct DaemonRecord {
  std::string url;
  std::string command;
  std::vector<std::string> arguments;
  /// Absolute, with all links resolved.
  std::string cwd;
  long pid = 0;
  /// See `ProcessRecord::start`.
  std::uint64_t start = 0;
  WallTime started;
  /// The file under development, as it was when the daemon was started.
  BinaryInfo binary;

  /// The record is of a daemon that this request would start.
  bool is_of(const LaunchRequest& request) const;

  /// The record of a process that was just started.
  static DaemonRecord of(const LaunchRequest& request, long pid, WallTime started,
                         const BinaryInfo& binary);
  /// False on failure.
  bool write(const std::string& path) const;
  /// Empty records, of pid 0, stand for files that are no records.
  static DaemonRecord read(const std::string& path);
};

/// The paths of the files for a daemon with this pid: `DaemonRecord`, and `OutputDrain::Files`.
std::string daemon_record_path(long pid);
std::string daemon_socket_path(long pid);
/// The socket that belongs to this record.
std::string daemon_socket_of(const std::string& record_path);
/// All such records that belong to the user.
std::vector<std::string> daemon_records();

}  // namespace sitter
