#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/files/loaded_binary.hpp"
#include "io/process/child_process.hpp"
#include "io/process/keeper.hpp"
#include "io/process/launch_plan.hpp"
#include "io/stream/log.hpp"
#include "sitter/fact.hpp"
#include "sitter/order.hpp"

namespace sitter {

/// The processes of all generations, builds among them, and the file that they come from. Orders
/// about them come in here, and the facts that these lead to are returned.
class Children {
 public:
  /// All of them must outlive it.
  struct Parts {
    const LaunchRequest& command;
    const LaunchRequest& build;
    /// Is replaced when the keeper turns out to be gone, and emptied when no other one can be had.
    std::optional<Keeper>& keeper;
    Log& log;
  };

  Children(EventLoop& loop, Parts parts, std::function<ChildProcess::Events(Generation)> events_of);

  /// fact::ChildStarted or fact::ChildStartFailed.
  Fact start(Generation gen, WallTime now);
  Fact start_build(Generation gen);
  /// Nothing for a generation that is not here.
  std::optional<fact::UnitSignalled> signal(const order::SignalUnit& order);
  /// Its unit is killed, and its pipes are closed when the loop comes round.
  void release(Generation gen);
  fact::ImageSwept sweep(const order::SweepImage& order);
  fact::BinaryInspected inspect(const order::InspectBinary& order);
  /// Since the last start: the command's own ones and those that it names.
  bool have_files_changed() const;
  /// What would be started now; absolute if there is such a file.
  std::string binary_path() const;

  /// The exits since it was asked last.
  std::vector<Fact> ended();
  /// The next queue to a child that has crossed limits::kQueueBytesMax, up or down.
  std::optional<Fact> crossed_queue();

  /// Null if it is not here, as all below.
  ChildProcess* find(Generation gen);
  bool is_input_full(Generation gen);
  void flush();
  void set_output_paused(bool paused);

 private:
  struct Child {
    Generation gen;
    std::unique_ptr<ChildProcess> process;
    LoadedBinary binary;
    bool is_input_full = false;
  };

  std::list<Child>::iterator at(Generation gen);
  Fact start(Generation gen, const PlannedLaunch& planned, LoadedBinary binary, WallTime now);
  void tell_keeper_over(Generation gen);
  void replace_keeper();
  std::vector<long> not_of(Generation gen) const;
  std::optional<SharedImage> shared_by(const LoadedBinary& binary);

  EventLoop& loop_;
  Parts parts_;
  std::function<ChildProcess::Events(Generation)> events_of_;
  std::list<Child> children_;
  int keepers_started_ = 1;
  /// Of the last child that has gone.
  LoadedBinary last_binary_;
  std::string started_files_;
};

}  // namespace sitter
