#pragma once

#include <string>
#include <utility>

#include "io/files/binary_info.hpp"
#include "io/process/launch_plan.hpp"
#include "io/process/process_table.hpp"
#include "sitter/binary_facts.hpp"
#include "sitter/kill_scope.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// Knows the file under development over the lives of its processes: what the last child was
/// started from, and whether that is still what is on disk.
class LoadedBinary {
 public:
  explicit LoadedBinary(LaunchRequest command) : command_(std::move(command)) {}

  /// Just before this launch: takes note of the file as it will be loaded.
  void before_start(const PlannedLaunch& planned);
  /// The launch worked.
  void on_started(long pid, WallTime started);

  /// As of the last start; absolute if there was such a file.
  const std::string& path() const { return loaded_.path; }

  /// The file as it is now. `pid` is the running child, or 0.
  BinaryFacts look(long pid);

  /// What the processes that are swept with this scope run. Unknown if nothing may be swept.
  ImageIdentity image_to_sweep(KillScope scope) const;

  /// The interpreter or tool of the system that is swept with `KillScope::same_executable`. Unknown
  /// if that scope finds a file of the server's own, or nothing.
  ImageIdentity shared_image() const;

 private:
  ImageIdentity own_image() const;

  LaunchRequest command_;
  /// As of the last start. A wrapper shows its program only later, and then this is the first look
  /// at it.
  BinaryInfo loaded_;
  WallTime started_;
  bool was_started_ = false;
  /// The executable of the last child itself, as it was seen last, and of what it turned out to
  /// run.
  ImageIdentity image_;
  ImageIdentity inner_image_;
};

}  // namespace sitter
