#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sitter/core/action.hpp"
#include "sitter/core/input.hpp"
#include "sitter/io/binary_watch.hpp"
#include "sitter/io/child_process.hpp"
#include "sitter/io/keeper.hpp"
#include "sitter/io/launch_plan.hpp"
#include "sitter/io/log.hpp"

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

  /// input::ChildStarted or input::ChildStartFailed.
  Input start(Generation gen, WallTime now);
  Input start_build(Generation gen);
  /// Nothing for a generation that is not here.
  std::optional<input::UnitSignalled> signal(const action::SignalUnit& order);
  /// Its unit is killed, and its pipes are closed when the loop comes round.
  void release(Generation gen);
  input::ImageSwept sweep(const action::SweepImage& order);
  input::BinaryInspected inspect(const action::InspectBinary& order);
  /// Since the last start: the command's own ones and those that it names.
  bool have_files_changed() const;
  /// What would be started now; absolute if there is such a file.
  std::string binary_path() const;

  /// The exits since it was asked last.
  std::vector<Input> ended();
  /// The next queue to a child that has crossed limits::kQueueBytesMax, up or down.
  std::optional<Input> crossed_queue();

  /// Null if it is not here, as all below.
  ChildProcess* find(Generation gen);
  bool is_input_full(Generation gen);
  void flush();
  void set_output_paused(bool paused);

 private:
  struct Child {
    Generation gen;
    std::unique_ptr<ChildProcess> process;
    BinaryWatch binary;
    bool is_input_full = false;
  };

  std::list<Child>::iterator at(Generation gen);
  Input start(Generation gen, const PlannedLaunch& planned, BinaryWatch binary, WallTime now);
  void tell_keeper_over(Generation gen);
  void replace_keeper();
  std::vector<long> not_of(Generation gen) const;
  std::optional<SharedImage> shared_by(const BinaryWatch& binary);

  EventLoop& loop_;
  Parts parts_;
  std::function<ChildProcess::Events(Generation)> events_of_;
  std::list<Child> children_;
  int keepers_started_ = 1;
  /// Of the last child that has gone.
  BinaryWatch last_binary_;
  std::string started_files_;
};

}  // namespace sitter
