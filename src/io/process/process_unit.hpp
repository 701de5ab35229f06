#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/process/process_table.hpp"
#include "io/process/unit_mark.hpp"
#include "sitter/generation.hpp"

namespace sitter {

/// A process as it is described to a person.
struct ProcessInfo {
  long pid = 0;
  /// Its command line, shortened.
  std::string command;
};

/// A process that was sent a signal, and whether the signal was delivered.
struct Signalled {
  ProcessInfo process;
  Delivery delivery = Delivery::delivered;
};

/// How often processes are listed and signalled, since each round finds processes that were forked
/// during the round before. Only a fork bomb needs more rounds.
inline constexpr int kSignalRoundsMax = 50;

/// A child and all its processes: the session that it leads, the descendants of the processes in
/// it, the sessions that they opened, and their orphans. On Linux the bridge adopts these; on other
/// systems only those are found that carry the mark of the unit. The unit outlives its leader: if a
/// wrapper has ended, reaped or not, the rest of the unit remains.
///
/// Only the processes that are still in its session belong to the unit of a build, since compilers
/// and daemons that the build leaves behind serve the next build too. These processes belong to no
/// child either. The same holds for a run of a command-line tool that has ended by itself. While a
/// run goes on, all that it has started belongs to it.
///
/// An orphan belongs to the child whose mark it carries. An orphan that lost both forms of the mark
/// counts as part of the youngest child that is older than the orphan, since an older child is
/// about to end.
///
/// Each call lists processes anew, and remembers which sessions belong to the unit. So members
/// are still known after a process between them and the leader has ended. Zombies are not members.
/// Only members start members, so when two lists in a row have shown none, none is sought again.
///
/// If the system does not list its processes, the unit is the process group of its leader, and
/// appears as one process.
class ProcessUnit {
 public:
  /// `leader` is a child of this process that has not been reaped. This process adopts orphans.
  ProcessUnit(long leader, Generation gen);

  /// For an observer: `adopter` is the process that started the leader.
  ProcessUnit(long leader, std::uint64_t leader_start, ProcessRecord adopter, Generation gen);
  ProcessUnit(ProcessUnit&&) = default;
  ProcessUnit& operator=(ProcessUnit&&) = default;

  long leader() const { return leader_; }
  std::uint64_t leader_start() const { return leader_start_; }
  Generation gen() const { return gen_; }

  /// The living members, with the leader first. `not_ours` are the other children of the adopter:
  /// leaders of other units, and the keeper. They and their descendants are left out.
  std::vector<ProcessInfo> members(const std::vector<long>& not_ours);

  /// Signals every member, and looks again until no new member appears, because a member may fork
  /// between the look and the signal. Each process is signalled once. A process that had ended
  /// before its signal is not in the result.
  std::vector<Signalled> signal(UnitSignal signal, const std::vector<long>& not_ours);

  /// Remembers the present members for later calls. Costs the same however many other processes
  /// there are.
  void look(const std::vector<long>& not_ours);

 private:
  class State;

  long leader_;
  std::uint64_t leader_start_;
  Generation gen_;
  std::shared_ptr<State> state_;
};

}  // namespace sitter
