#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "io/files/aside_files.hpp"
#include "io/files/loaded_binary.hpp"
#include "io/files/source_look.hpp"
#include "io/process/child_process.hpp"
#include "io/process/core_dump.hpp"
#include "io/process/exit_watch.hpp"
#include "io/process/image_sweep.hpp"
#include "io/process/keeper.hpp"
#include "io/process/launch_plan.hpp"
#include "io/process/output_drain.hpp"
#include "io/process/process_look.hpp"
#include "io/stream/log.hpp"
#include "io/system/file_descriptor.hpp"
#include "sitter/cli.hpp"
#include "sitter/fact.hpp"
#include "sitter/http.hpp"
#include "sitter/order.hpp"

namespace sitter {

/// The processes of all generations, including builds, and the file that they are started from.
/// This class carries out the orders about them and returns the resulting facts.
class Children {
 public:
  /// All parts must outlive this object.
  struct Parts {
    const LaunchRequest& command;
    const LaunchRequest& build;
    /// Replaced when the keeper turns out to be gone. Emptied if no new keeper can be started.
    std::optional<Keeper>& keeper;
    Log& log;
  };

  /// The number of a child, which may change. Its events share it.
  using Number = std::shared_ptr<Generation>;

  Children(EventLoop& loop, Parts parts, std::function<ChildProcess::Events(Number)> events_of);

  /// Carries out an order about a process or the file. Returns the fact that answers it. There is
  /// none if the order has no answer or is about something else, or if its process is unknown.
  template <class... Orders>
  std::optional<Fact> carry_out(const std::variant<Orders...>& order, WallTime now) {
    return std::visit([&](const auto& one) { return carry_out(one, now); }, order);
  }

  /// Whether a member of a unit, by its pid, listens at the address of the server. True if the
  /// system does not tell.
  using Listens = std::function<bool(const std::vector<ProcessInfo>& members)>;

  /// Makes a daemon that listens and that an earlier bridge has started for the same command and
  /// address the process of this child. Returns `ChildStarted`, or `ChildStartFailed` if there is
  /// no such daemon. Records that are not true any more are removed.
  Fact take_daemon(Generation gen, const Listens& listens);

  /// Closes the stdin of the run if it has taken all that it was given.
  void end_run_input(Generation gen);
  /// The command's files are read now, without a start of the command itself: the program, the
  /// files that its arguments name, and the env file.
  void note_files();
  /// The file that would be started now; absolute if there is such a file.
  std::string binary_path() const;

  /// Calls `on_read` later, from the loop, with the stack of the last child that has crashed. Does
  /// nothing if it was not `gen`, or if its stack cannot be read.
  void read_stack(Generation gen, std::function<void(std::string)> on_read);

  /// The exits since the last call.
  std::vector<Fact> ended();
  /// The next queue to a child that has crossed limits::kQueueBytesMax, in either direction.
  std::optional<Fact> crossed_queue();

  /// Null for an unknown generation. The functions below also accept an unknown generation.
  ChildProcess* find(Generation gen);
  bool is_input_full(Generation gen);
  void flush();
  void set_output_paused(bool paused);

 private:
  struct Child {
    Generation gen() const { return *number; }

    Number number;
    std::unique_ptr<ChildProcess> process;
    LoadedBinary binary;
    bool is_input_full = false;
    /// The file whose sources were sought last. Empty before that.
    std::string sources_of = {};
    /// Empty if the sources are not known yet, or cannot be known.
    std::optional<SourceLook> sources = {};
    /// Set for a child that may outlive the bridge.
    std::optional<OutputDrain> drain = {};
    ProcessLook look = {};
    /// The program file as last seen, and where it was started. Empty for a daemon that an earlier
    /// bridge has started.
    std::string program = {};
    std::string cwd = {};
    /// Set for a process that an earlier bridge has started, which nobody here can reap, and for
    /// one that was killed while a debugger traces it.
    std::unique_ptr<ExitWatch> exit = {};
  };

  /// Orders that others carry out.
  using Others =
      std::variant<order::SendToClient, order::SendToChild, order::SendToControl, order::Log,
                   order::Exit, order::ReadDescription, order::TakeDaemon, order::ReadStack>;
  std::optional<Fact> carry_out(const Others&, WallTime) { return std::nullopt; }
  std::optional<Fact> carry_out(const order::StartChild& order, WallTime now);
  std::optional<Fact> carry_out(const order::StartBuild& order, WallTime now);
  std::optional<Fact> carry_out(const order::StartRun& order, WallTime now);
  std::optional<Fact> carry_out(const order::RenumberChild& order, WallTime now);
  std::optional<Fact> carry_out(const order::CloseChildInput& order, WallTime now);
  std::optional<Fact> carry_out(const order::SignalUnit& order, WallTime now);
  std::optional<Fact> carry_out(const order::ReleaseChild& order, WallTime now);
  std::optional<Fact> carry_out(const order::SweepImage& order, WallTime now);
  std::optional<Fact> carry_out(const order::InspectBinary& order, WallTime now);
  std::optional<Fact> carry_out(const order::CheckCommandFiles& order, WallTime now);
  std::optional<Fact> carry_out(const order::LookAtSources& order, WallTime now);
  std::optional<Fact> carry_out(const order::LookAtProcess& order, WallTime now);
  std::optional<Fact> carry_out(const order::RememberEra& order, WallTime now);

  std::list<Child>::iterator at(Generation gen);
  Fact start(Generation gen, const PlannedLaunch& planned, LoadedBinary binary, WallTime now);
  Child& add(Generation gen, Launched&& process, LoadedBinary binary);

  void leave_record(const Child& child) const;
  BinaryFacts look_at_file(Child& child) const;
  std::optional<OutputDrain> start_drain(const Launched& daemon) const;
  std::string put_files_aside();
  void tell_keeper_over(Generation gen);
  void replace_keeper();
  std::vector<long> not_of(Generation gen) const;
  bool restarts_itself(Child& child) const;
  SourceLook::Seen look_at(Child& child, WallTime now);
  std::optional<SharedImage> shared_by(const LoadedBinary& binary);
  bool is_asked_to_end(const SameImage& process);

  EventLoop& loop_;
  Parts parts_;
  std::function<ChildProcess::Events(Number)> events_of_;
  std::list<Child> children_;
  int keepers_started_ = 1;
  /// The binary of the last child that has gone.
  LoadedBinary last_binary_;
  /// Those that the running server holds, during a build.
  AsideFiles aside_;
  /// Whether a build has succeeded since the last start.
  bool has_built_ = false;
  std::string started_files_;
  /// The `era_key` of the last start.
  std::string started_era_;
  struct Crash {
    Generation gen = kNoGeneration;
    CoreDump dump;
  };
  Crash crash_;
  std::optional<StackReader> stack_reader_;
  /// What the last sweep has found, by pid and start time. Its last signal reaches nothing else: a
  /// bridge that was asked to end its server may have started the next one.
  std::set<std::pair<long, std::uint64_t>> swept_;
  /// The bridges that were asked to end their servers by the last sweep, with the connections over
  /// which they hear of it.
  std::map<long, FileDescriptor> asked_;
};

}  // namespace sitter
