#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sitter/binary_facts.hpp"
#include "sitter/control_id.hpp"
#include "sitter/exit_status.hpp"
#include "sitter/generation.hpp"
#include "sitter/kill_scope.hpp"
#include "sitter/line.hpp"
#include "sitter/look.hpp"
#include "sitter/time.hpp"

namespace sitter {

struct Message;

/// The facts that the shell reports. Lines and texts are views. They are valid until `handle` has
/// returned and all its orders are carried out.
namespace fact {

struct ClientLine {
  Line line;
};
/// A line that is longer than the limit or the free memory allows. Only its two ends were kept.
struct ClientLineTooLong {
  std::string_view head, tail;
  std::uint64_t size = 0;
};
/// The client has closed our stdin: no line will follow.
struct ClientClosedInput {};
/// Nothing reads our stdout any more.
struct ClientClosedOutput {};
/// A signal asks the bridge to end. `exit_code` is 128 + the signal's number.
struct StopSignalled {
  int exit_code = 0;
};

/// A reload is asked for, without a caller that waits for its result. A SIGHUP that comes from a
/// terminal that hung up is no such thing.
struct ReloadAsked {
  /// A few words: "SIGHUP".
  std::string cause;
};
/// SIGUSR1 asks for the status.
struct StatusAsked {};

struct ChildStarted {
  Generation gen = kNoGeneration;
  std::int64_t pid = 0;
};
/// `reason` is a sentence for a person, without a full stop.
struct ChildStartFailed {
  Generation gen = kNoGeneration;
  std::string reason = {};
  /// The program file is still open for writing; a later start may succeed.
  bool is_file_busy = false;
  /// No file has the name of the command; a build may bring it.
  bool is_missing = false;
  /// A daemon that is not started here cannot be reached. It may come later, so the start is to be
  /// ordered again after this time.
  std::optional<Milliseconds> again_after = {};
  /// The bridge may open no more files at this moment; a later start may succeed.
  bool is_out_of_files = false;
};
/// The child is over, and has no exit status, because its process is not ours: the connection to a
/// daemon was lost, or the daemon has forgotten the session. Nothing comes from the child any more.
struct ChildLost {
  enum class Of : std::uint8_t { connection, session };
  Generation gen = kNoGeneration;
  Of of = Of::connection;
  /// A clause for a person, without a full stop; may be empty.
  std::string why;
};
/// The child has refused a request, which had no effect, and may be sent again after some time.
struct RequestRefused {
  Generation gen = kNoGeneration;
  /// The line of the request.
  Line line;
  /// A clause for a person, without a full stop.
  std::string why;
  /// When the child may be asked again; empty if the child is being lost, so that nothing more must
  /// be sent to it.
  std::optional<Milliseconds> again_after = {};
  /// The session is not known any more. A request that is refused for this once more is not sent a
  /// third time.
  bool is_unknown_session = false;
};
/// A request may have been carried out, but its answer is lost. The child still serves.
struct RequestLost {
  Generation gen = kNoGeneration;
  /// The line of the request.
  Line line;
  /// A clause for a person, without a full stop.
  std::string why;
};
struct ChildLine {
  Generation gen = kNoGeneration;
  Line line;
  /// The output ended within this line.
  bool is_unfinished = false;
  /// What the line says, if it was read already; null otherwise. Valid as long as the line.
  const Message* message = nullptr;
};
struct ChildLineTooLong {
  Generation gen = kNoGeneration;
  std::string_view head, tail;
  std::uint64_t size = 0;
};
struct ChildErrorLine {
  Generation gen = kNoGeneration;
  std::string_view line;  ///< ends with a carriage return if the next line overwrites it
  /// The number of bytes that the reader has dropped at the end of the line.
  std::uint64_t bytes_cut = 0;
};
struct ChildOutputEnded {
  Generation gen = kNoGeneration;
};
struct ChildErrorEnded {
  Generation gen = kNoGeneration;
};
struct ChildExited {
  Generation gen = kNoGeneration;
  ExitStatus status;
};
/// Something was read of the output of a child that has exited.
struct ChildOutputMoved {
  Generation gen = kNoGeneration;
};

/// The queue to the child has reached its bound, has moved while it was full, or has room again.
struct ChildInputFull {
  Generation gen = kNoGeneration;
};
struct ChildInputMoved {
  Generation gen = kNoGeneration;
};
struct ChildInputDrained {
  Generation gen = kNoGeneration;
};

/// Nothing reads the child's stdin any more; the lines that were queued for it are lost.
struct ChildInputBroken {
  Generation gen = kNoGeneration;
};

/// The answer to `order::SignalUnit`: the processes of the unit that were alive just before the
/// signal.
struct UnitSignalled {
  struct Process {
    std::int64_t pid = 0;
    bool is_leader = false;
    std::string command;
    /// Why the process could not be signalled; empty if it was signalled.
    std::string refused;
    /// The process must end something on another machine or in a daemon (docker, ssh), which takes
    /// time.
    bool is_remote_runner = false;
  };
  Generation gen = kNoGeneration;
  std::vector<Process> processes;
};
/// An orphaned process that the bridge had adopted has ended.
struct OrphanEnded {};

/// The answer to `order::SweepImage`.
struct ImageSwept {
  struct Process {
    std::int64_t pid = 0;
    std::string command;
    /// Of a process that was signalled: the mcp-sitter that was asked to end it instead. Of one
    /// that was left alone: the mcp-sitter that supervises it. 0 if there is none.
    std::int64_t supervisor = 0;
  };
  std::vector<Process> processes;
  /// Processes of the same file to which the scope does not reach. Without a supervisor, the
  /// process has other arguments.
  std::vector<Process> left_alone = {};
};
/// The answer to `order::InspectBinary`.
struct BinaryInspected {
  Look look;
  BinaryFacts facts;
  /// Set if the order looked for other processes and the child has no executable file of its own.
  std::optional<SharedImage> shared = {};
  /// The process that listens at the address of a daemon that was not started here, if it is known.
  std::optional<std::int64_t> listening = {};
};
/// The answer to `order::CheckCommandFiles`.
struct CommandFilesChecked {
  /// The command files have changed since the last start.
  bool changed = false;
};
/// The answer to `order::LookAtSources`.
struct SourcesChecked {
  Generation gen = kNoGeneration;
  /// The file that has changed last, as a person would name it. Empty if no change is known.
  std::string changed;
  WallTime changed_at;
  /// How long the look has taken.
  Instant::duration took{};
};

/// The answer to `order::LookAtProcess`.
struct ProcessSeen {
  Generation gen = kNoGeneration;
  /// The name and the pid of the debugger: "gdb (pid 7)". Empty if none is attached.
  std::string debugger;
  /// A clause: "process 12 is sleeping in do_epoll_wait". Empty if the system does not tell.
  std::string activity = {};
};
/// A debugger has read the core dump of a child, after `order::ReadStack`.
struct StackRead {
  Generation gen = kNoGeneration;
  /// The functions that were running, the innermost first, on one line.
  std::string stack;
};

/// Watched files were written, created, moved or deleted.
struct FilesChanged {
  struct File {
    /// A folder in which something has changed, or that is gone, ends with a slash.
    std::string path;
    /// This is the child's own file.
    bool is_binary = false;
    /// A child can be started from the file: it exists and is not empty. Always true for a file
    /// that is not the child's own.
    bool is_usable = true;
    /// When it was written last, by the clock of the file system. Nothing if it is gone.
    std::optional<WallTime> modified = std::nullopt;
    /// The file did not exist before.
    bool is_new = false;
  };
  std::vector<File> files;
};
/// The tree has been read, and what is known of it has changed.
struct WatchChanged {
  std::size_t folder_count = 0;
  /// Why some changes may not be seen, and what to do; empty if all changes are seen.
  std::string problem;
  /// The patterns that no file matches, as given. Empty if there is a problem, since a file that
  /// matches may be where it cannot be seen.
  std::vector<std::string> unmatched = {};

  bool operator==(const WatchChanged&) const = default;
};

/// A line from a connection of `mcp-sitter ctl`.
struct ControlLine {
  ControlId connection = 0;
  std::string_view line;
};
/// A connection of `mcp-sitter ctl` has closed.
struct ControlClosed {
  ControlId connection = 0;
};

}  // namespace fact

using Fact = std::variant<
    fact::ClientLine, fact::ClientLineTooLong, fact::ClientClosedInput, fact::ClientClosedOutput,
    fact::StopSignalled, fact::ReloadAsked, fact::StatusAsked, fact::ChildStarted,
    fact::ChildStartFailed, fact::ChildLine, fact::ChildLineTooLong, fact::ChildErrorLine,
    fact::ChildOutputEnded, fact::ChildErrorEnded, fact::ChildExited, fact::ChildOutputMoved,
    fact::ChildLost, fact::RequestRefused, fact::RequestLost, fact::ChildInputFull,
    fact::ChildInputMoved, fact::ChildInputDrained, fact::ChildInputBroken, fact::UnitSignalled,
    fact::OrphanEnded, fact::ImageSwept, fact::BinaryInspected, fact::CommandFilesChecked,
    fact::SourcesChecked, fact::FilesChanged, fact::WatchChanged, fact::ControlLine,
    fact::ControlClosed, fact::ProcessSeen, fact::StackRead>;

}  // namespace sitter
