#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/files/loaded_binary.hpp"
#include "io/files/source_look.hpp"
#include "io/process/child_process.hpp"
#include "io/process/keeper.hpp"
#include "io/process/launch_plan.hpp"
#include "io/process/output_drain.hpp"
#include "io/stream/log.hpp"
#include "sitter/cli.hpp"
#include "sitter/fact.hpp"
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

  /// Returns fact::ChildStarted or fact::ChildStartFailed.
  Fact start(Generation gen, WallTime now);
  Fact start_build(Generation gen);
  /// Runs the command with other arguments; see the order.
  Fact start_run(const order::StartRun& order);
  /// Closes the stdin of the run if it has taken all that it was given.
  void end_run_input(Generation gen);
  /// Gives the process another number. Does nothing for an unknown generation.
  void renumber(const order::RenumberChild& order, WallTime now);
  /// Returns nothing for an unknown generation.
  std::optional<fact::UnitSignalled> signal(const order::SignalUnit& order);
  /// Kills the unit of the child. Its pipes are closed in the next round of the loop.
  void release(Generation gen);
  fact::ImageSwept sweep(const order::SweepImage& order);
  fact::BinaryInspected inspect(const order::InspectBinary& order, WallTime now);
  /// Looks for a moment whether the sources of the child have changed since it was started.
  fact::SourcesChecked look_at_sources(Generation gen, WallTime now);
  /// The command's files are read now, without a start of the command itself.
  void note_files();
  /// Whether the command's files have changed since the last start: the program, the files that its
  /// arguments name, and the env file.
  bool have_files_changed() const;
  /// The file that would be started now; absolute if there is such a file.
  std::string binary_path() const;

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
    bool has_sought_sources = false;
    /// Empty if the sources are not known yet, or cannot be known.
    std::optional<SourceLook> sources = {};
    /// Set for a child that may outlive the bridge.
    std::optional<OutputDrain> drain = {};
  };

  std::list<Child>::iterator at(Generation gen);
  Fact start(Generation gen, const PlannedLaunch& planned, LoadedBinary binary, WallTime now);
  void tell_keeper_over(Generation gen);
  void replace_keeper();
  std::vector<long> not_of(Generation gen) const;
  bool restarts_itself(Child& child) const;
  SourceLook::Seen look_at(Child& child, WallTime now);
  std::optional<SharedImage> shared_by(const LoadedBinary& binary);

  EventLoop& loop_;
  Parts parts_;
  std::function<ChildProcess::Events(Number)> events_of_;
  std::list<Child> children_;
  int keepers_started_ = 1;
  /// The binary of the last child that has gone.
  LoadedBinary last_binary_;
  std::string started_files_;
};

}  // namespace sitter
