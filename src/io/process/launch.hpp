#pragma once

#include <variant>

#include "io/process/launch_plan.hpp"
#include "io/stream/file_descriptor.hpp"
#include "sitter/generation.hpp"

namespace sitter {

class Keeper;

/// A process that was started, and the bridge's ends of its three pipes. The ends are non-blocking
/// and not inherited by later children.
struct Launched {
  /// Also its session and its process group.
  long pid = 0;
  FileDescriptor input;
  FileDescriptor output;
  FileDescriptor error;
};

/// Starts a child in a session of its own, with no descriptor but its three pipes, default signal
/// dispositions and no signal blocked, and marked as a process of `gen`. The keeper, if there is
/// one, knows it before it can start anything: there is no moment at which the end of the bridge
/// would leave it behind. It returns when the program runs, or did not come to run. A child that
/// could not be executed is already reaped; the exit of one that could is reported by `reap()` and
/// by nothing else.
///
/// A failed plan is handed back as it is.
///
/// To be called on the main thread only: on Linux the child is killed when the thread that started
/// it ends.
std::variant<Launched, LaunchFailure> launch(const PlannedLaunch& planned, Generation gen,
                                             Keeper* keeper);

}  // namespace sitter
