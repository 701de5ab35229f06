#pragma once

#include <string>
#include <variant>

#include "sitter/control_id.hpp"
#include "sitter/generation.hpp"
#include "sitter/kill_scope.hpp"
#include "sitter/line.hpp"
#include "sitter/look.hpp"

namespace sitter {

struct Message;

/// The orders that the shell carries out, in the order in which the core gives them.
namespace order {

struct SendToClient {
  Outgoing line;
};
struct SendToChild {
  Generation gen = kNoGeneration;
  Outgoing line;
  /// What the line says, if it was read to be sent; null otherwise. Valid until the next fact.
  const Message* message = nullptr;
};

/// Start a child. The shell answers with `ChildStarted` or `ChildStartFailed`, at once or later.
struct StartChild {
  Generation gen = kNoGeneration;
};
/// Start the build command. Its stdin is at its end, and its output goes to the pipe that is stderr
/// for a child. The shell answers as it answers `StartChild`.
struct StartBuild {
  Generation gen = kNoGeneration;
};
/// The server of child `from` was started anew behind the same process and pipes. Everything that
/// comes from this process from now on comes from child `gen`.
struct RenumberChild {
  Generation from = kNoGeneration;
  Generation gen = kNoGeneration;
};
/// Close the child's stdin. Queued lines are written first, as far as the child takes them without
/// waiting.
struct CloseChildInput {
  Generation gen = kNoGeneration;
  /// The session with the client ends. A daemon that others may use goes on.
  bool is_at_end = false;
};
/// Signal every process of the child's unit, or only list its processes. The shell answers with
/// `UnitSignalled`, also if the unit is empty.
struct SignalUnit {
  enum class How { look, terminate, kill };
  Generation gen = kNoGeneration;
  How how = How::terminate;
};
/// The child is over: close its pipes, kill the rest of its unit, and forget the child. Later
/// events of the child do not matter.
struct ReleaseChild {
  Generation gen = kNoGeneration;
};

/// Signal the other processes that run the same executable as the last child, as far as the scope
/// reaches. A server of another mcp-sitter is ended by that one, which is asked before the first
/// signal, so that it knows why; the last signal comes from here. The shell answers with
/// `ImageSwept`.
struct SweepImage {
  KillScope scope = KillScope::automatic;
  SignalUnit::How how = SignalUnit::How::terminate;
};
/// Inspect the file under development, as this child runs it. The shell answers with
/// `BinaryInspected`.
struct InspectBinary {
  Generation gen = kNoGeneration;
  /// Also find the processes that a sweep with `KillScope::same_executable` would end.
  bool finds_strangers = false;
  /// Also look at the sources of an interpreted program, so that `BinaryFacts::stale` counts them.
  bool finds_changes = false;
  Look look;
};
/// Check whether the command's files have changed since the last start. The shell answers with
/// `CommandFilesChecked`.
struct CheckCommandFiles {};
/// Look for a moment whether the sources of this child have changed since it was started. The shell
/// answers with `SourcesChecked`, after the lines for the child have left.
struct LookAtSources {
  Generation gen = kNoGeneration;
};

/// Look what this child does, and whether a debugger is attached to it. The shell answers with
/// `ProcessSeen`, also for a child that is gone.
struct LookAtProcess {
  Generation gen = kNoGeneration;
};

/// Let a debugger read where this child has crashed, if there is one and a core dump. The shell
/// answers with `StackRead` later, or not at all.
struct ReadStack {
  Generation gen = kNoGeneration;
};

/// Keep for later bridges what the server has shown of its era.
struct RememberEra {
  enum class Sign {
    knows_no_probe,  ///< it knows no server/discover, so it speaks only revisions with initialize
    fails_probe,     ///< server/discover has failed in another way, which may have other causes
    opens,           ///< it has opened a session; if it fails the probe too, that is its era
    opens_nothing,   ///< it has refused to open a session
    answers_probe,   ///< it has answered server/discover
  };
  Sign sign = Sign::opens;
};

/// Send a line over a connection of `mcp-sitter ctl`, which may be closed already.
struct SendToControl {
  ControlId connection = 0;
  std::string line;
};

struct Log {
  enum class Level { debug, info, warn, error };
  Level level = Level::info;
  std::string text;
};

/// End the program. Lines that are queued for the client are still written: with `may_wait` for as
/// long as the client takes them, otherwise only without waiting.
struct Exit {
  int code = 0;
  bool may_wait = true;
};

}  // namespace order

using Order =
    std::variant<order::SendToClient, order::SendToChild, order::StartChild, order::StartBuild,
                 order::RenumberChild, order::CloseChildInput, order::SignalUnit,
                 order::ReleaseChild, order::SweepImage, order::InspectBinary,
                 order::CheckCommandFiles, order::LookAtSources, order::SendToControl, order::Log,
                 order::Exit, order::LookAtProcess, order::ReadStack, order::RememberEra>;

}  // namespace sitter
