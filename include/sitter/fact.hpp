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

namespace sitter {

/// The facts that the shell reports. Lines and texts are views that live until `handle` returns and
/// all its orders are done.
namespace fact {

struct ClientLine {
  Line line;
};
/// A line over the limit, or over what memory there is, of which only the two ends were kept.
struct ClientLineTooLong {
  std::string_view head, tail;
  std::uint64_t size = 0;
};
/// The end of our stdin: no line will follow.
struct ClientClosedInput {};
/// Nobody reads our stdout any more.
struct ClientClosedOutput {};
/// A signal asks the bridge to end. `exit_code` is 128 + its number.
struct StopSignalled {
  int exit_code = 0;
};

/// Somebody asks for the newest server: SIGHUP, where no terminal has hung up.
struct ReloadAsked {};
/// Somebody asks for the status: SIGUSR1.
struct StatusAsked {};

struct ChildStarted {
  Generation gen = kNoGeneration;
  std::int64_t pid = 0;
};
/// `reason` is a sentence for a person, without a full stop.
struct ChildStartFailed {
  Generation gen = kNoGeneration;
  std::string reason;
  /// Its file is still open for writing; it may work in a moment.
  bool is_file_busy = false;
};
struct ChildLine {
  Generation gen = kNoGeneration;
  Line line;
  /// The output ended in it.
  bool is_unfinished = false;
};
struct ChildLineTooLong {
  Generation gen = kNoGeneration;
  std::string_view head, tail;
  std::uint64_t size = 0;
};
struct ChildErrorLine {
  Generation gen = kNoGeneration;
  std::string_view line;
  /// Bytes at its end that the reader has dropped.
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

/// The queue to the child has reached its bound, has moved while it was there, has room again.
struct ChildInputFull {
  Generation gen = kNoGeneration;
};
struct ChildInputMoved {
  Generation gen = kNoGeneration;
};
struct ChildInputDrained {
  Generation gen = kNoGeneration;
};

/// Nobody reads the child's stdin any more; what was queued for it is gone.
struct ChildInputBroken {
  Generation gen = kNoGeneration;
};

/// The answer to `order::SignalUnit`: the processes of the unit that were alive just before.
struct UnitSignalled {
  struct Process {
    std::int64_t pid = 0;
    bool is_leader = false;
    std::string command;
    /// Why it could not be signalled; empty if it was.
    std::string refused;
    /// It passes its end on to another machine or daemon (docker, ssh), which takes time.
    bool is_remote_runner = false;
  };
  Generation gen = kNoGeneration;
  std::vector<Process> processes;
};
/// A process that had lost its parent to us has ended.
struct OrphanEnded {};

/// The answer to `order::SweepImage`.
struct ImageSwept {
  struct Process {
    std::int64_t pid = 0;
    std::string command;
  };
  std::vector<Process> processes;
};
/// The answer to `order::InspectBinary`.
struct BinaryInspected {
  Look look;
  BinaryFacts facts;
  /// Where strangers were to be found, and the child has no executable file of its own.
  std::optional<SharedImage> shared = {};
};
/// The answer to `order::CheckCommandFiles`.
struct CommandFilesChecked {
  /// Since the last start.
  bool changed = false;
};

/// Watched files were written, made, moved or deleted.
struct FilesChanged {
  struct File {
    std::string path;
    /// The child's own file.
    bool is_binary = false;
    /// Something can be started from it: it is there, and not empty.
    bool is_usable = true;
  };
  std::vector<File> files;
};
/// How much is watched.
struct WatchChanged {
  std::size_t folder_count = 0;
  /// Why changes may not be seen, and what to do; empty if all are.
  std::string problem;
};

/// A line of somebody who controls the bridge from outside.
struct ControlLine {
  ControlId connection = 0;
  std::string_view line;
};
/// Who will hear nothing any more.
struct ControlClosed {
  ControlId connection = 0;
};

}  // namespace fact

using Fact = std::variant<
    fact::ClientLine, fact::ClientLineTooLong, fact::ClientClosedInput, fact::ClientClosedOutput,
    fact::StopSignalled, fact::ReloadAsked, fact::StatusAsked, fact::ChildStarted,
    fact::ChildStartFailed, fact::ChildLine, fact::ChildLineTooLong, fact::ChildErrorLine,
    fact::ChildOutputEnded, fact::ChildErrorEnded, fact::ChildExited, fact::ChildInputFull,
    fact::ChildInputMoved, fact::ChildInputDrained, fact::ChildInputBroken, fact::UnitSignalled,
    fact::OrphanEnded, fact::ImageSwept, fact::BinaryInspected, fact::CommandFilesChecked,
    fact::FilesChanged, fact::WatchChanged, fact::ControlLine, fact::ControlClosed>;

}  // namespace sitter
