#pragma once

#include <string>
#include <utility>
#include <vector>

#include "io/files/binary_info.hpp"
#include "io/process/launch_plan.hpp"
#include "io/process/process_table.hpp"
#include "sitter/binary_facts.hpp"
#include "sitter/kill_scope.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// Knows the file under development across all children: which file the last child was started
/// from, and whether the file on disk is still the same.
class LoadedBinary {
 public:
  explicit LoadedBinary(LaunchRequest command) : command_(std::move(command)) {}

  /// Records the file just before this launch, as it will be loaded.
  void before_start(const PlannedLaunch& planned);
  /// The launch has succeeded.
  void on_started(WallTime started);

  /// The process was started by an earlier bridge, when the file was as it is here.
  void on_taken(WallTime started, BinaryInfo loaded);

  /// The path at the last start; absolute if there was such a file.
  const std::string& path() const { return loaded_.path; }
  /// The file as it was when the last child was started, and when that was.
  const BinaryInfo& loaded() const { return loaded_; }
  WallTime started() const { return started_; }

  /// The present state of the file. `pid` is the running child, or 0.
  BinaryFacts look(long pid);

  /// A program, and the arguments with which the server runs it, without its name.
  struct Program {
    ImageIdentity image;
    std::vector<std::string> arguments;
  };
  /// The program whose processes a kill with this scope ends. Its image is unknown if the scope
  /// allows no such kill.
  Program program_to_sweep(KillScope scope) const;

  /// The interpreter or system tool whose processes `KillScope::same_executable` would end. Unknown
  /// if that scope finds a file of the server's own, or finds nothing.
  ImageIdentity shared_image() const;

 private:
  Program own_program() const;

  LaunchRequest command_;
  /// The state at the last start. Behind a wrapper, the program is visible only later; then this is
  /// its state at the first look.
  BinaryInfo loaded_;
  WallTime started_;
  bool was_started_ = false;
  /// The last child itself, and the program that the child turned out to run, as seen at the last
  /// look. Nothing is seen at the start, because that would delay the first answer of the server.
  Program own_;
  Program inner_;
};

}  // namespace sitter
