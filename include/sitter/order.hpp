#pragma once

#include <string>
#include <variant>

#include "sitter/control_id.hpp"
#include "sitter/generation.hpp"
#include "sitter/kill_scope.hpp"
#include "sitter/line.hpp"
#include "sitter/look.hpp"

namespace sitter {

/// The orders that the shell carries out, in the order in which they come.
namespace order {

struct SendToClient {
  Outgoing line;
};
struct SendToChild {
  Generation gen = kNoGeneration;
  Outgoing line;
};

/// Start a child. Answered by `ChildStarted` or `ChildStartFailed`, at once or later.
struct StartChild {
  Generation gen = kNoGeneration;
};
/// Start the build command, with an end of input and with its output on what is a child's stderr.
/// Answered as `StartChild` is.
struct StartBuild {
  Generation gen = kNoGeneration;
};
/// Close the child's stdin, after what is queued for it where it takes that without waiting.
struct CloseChildInput {
  Generation gen = kNoGeneration;
};
/// Signal every process of the child's unit, or only look who is in it. Answered by
/// `UnitSignalled`, also when the unit is empty.
struct SignalUnit {
  enum class How { look, terminate, kill };
  Generation gen = kNoGeneration;
  How how = How::terminate;
};
/// The child is over: close its pipes, kill what is left of its unit, forget it. Nothing that comes
/// from it afterwards is of interest.
struct ReleaseChild {
  Generation gen = kNoGeneration;
};

/// Signal every other process that runs the same executable as the last child. Answered by
/// `ImageSwept` with those that were signalled.
struct SweepImage {
  KillScope scope = KillScope::automatic;
  SignalUnit::How how = SignalUnit::How::terminate;
};
/// Look at the file under development, as this child runs it. Answered by `BinaryInspected`.
struct InspectBinary {
  Generation gen = kNoGeneration;
  /// Also whom a sweep of `KillScope::same_executable` would meet.
  bool finds_strangers = false;
  Look look;
};
/// See whether the command's files changed since the last start. Answered by `CommandFilesChecked`.
struct CheckCommandFiles {};

/// A line for somebody who controls the bridge, who may have gone.
struct SendToControl {
  ControlId connection = 0;
  std::string line;
};

struct Log {
  enum class Level { debug, info, warn, error };
  Level level = Level::info;
  std::string text;
};

/// End the program. What is queued for the client is still written: for as long as the client
/// takes it, or only without waiting.
struct Exit {
  int code = 0;
  bool may_wait = true;
};

}  // namespace order

using Order = std::variant<order::SendToClient, order::SendToChild, order::StartChild,
                           order::StartBuild, order::CloseChildInput, order::SignalUnit,
                           order::ReleaseChild, order::SweepImage, order::InspectBinary,
                           order::CheckCommandFiles, order::SendToControl, order::Log, order::Exit>;

}  // namespace sitter
