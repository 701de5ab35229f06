#pragma once

#include <variant>

#include "io/process/launch_plan.hpp"
#include "io/system/file_descriptor.hpp"
#include "sitter/generation.hpp"

namespace sitter {

class Keeper;

/// A process that was started, and the bridge's ends of its three pipes. The ends are non-blocking,
/// and later children do not inherit them.
struct Launched {
  /// The pid is also the number of its session and of its process group.
  long pid = 0;
  FileDescriptor input;
  FileDescriptor output;
  FileDescriptor error;
};

/// Starts a child in a session of its own, marked as a process of `gen`. The child gets no
/// descriptors but its three pipes, default signal dispositions, and no blocked signals. The
/// keeper, if there is one, knows the child before the child can start anything, so that the end of
/// the bridge never leaves the child behind. `launch` returns when the program runs or has failed
/// to start. A child that could not be executed is already reaped. Only `reap()` reports the exit
/// of a child that was executed.
///
/// If the plan has failed, its failure is returned.
///
/// Call it only on the main thread: on Linux, the child is killed when the thread that started it
/// ends.
std::variant<Launched, LaunchFailure> launch(const PlannedLaunch& planned, Generation gen,
                                             Keeper* keeper);

}  // namespace sitter
