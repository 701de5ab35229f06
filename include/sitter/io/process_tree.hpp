#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sitter/io/process_table.hpp"

namespace sitter {

/// A process as a person is told of it.
struct ProcessInfo {
  long pid = 0;
  /// Its command line, shortened.
  std::string command;
};

/// A process that was sent a signal, and what came of it.
struct Signalled {
  ProcessInfo process;
  Delivery delivery = Delivery::delivered;
};

enum class UnitSignal { terminate, kill };

/// What belongs to a unit besides its leader.
enum class UnitReach {
  /// Whatever came of it, wherever it went.
  descendants,
  /// What is still in the leader's session: a build may leave compilers and daemons of its own
  /// behind, which serve the next build too.
  session,
};

/// How often processes are looked for and signalled, since each round finds what was forked during
/// the one before. Only a fork bomb needs more.
inline constexpr int kSignalRoundsMax = 50;

/// The caller itself, as it was at its first call: its pid and its start stay what they are.
const ProcessRecord& this_process();

/// An entry that the environment of every child of `bridge` gets, and of no other process. It still
/// names what a daemon's double fork has taken out of the unit unseen.
std::string unit_mark(const ProcessRecord& bridge);

/// The same for the builds of `bridge`: what one has left behind belongs to no child.
std::string build_mark(const ProcessRecord& bridge);

/// A child and all that came of it: the session that it leads, the descendants of these, sessions
/// that they opened, and (Linux) orphans among them that the bridge has adopted. It outlives its
/// leader: a wrapper that has ended, reaped or not, leaves the rest of the unit in place.
///
/// Each question looks at the system anew, and remembers which sessions belong to the unit, so that
/// members are still known after the process between has ended. Zombies are no members.
class ProcessUnit {
 public:
  /// `leader` is a child of this process that has not been reaped; orphans fall to this process.
  explicit ProcessUnit(long leader, UnitReach reach = UnitReach::descendants);

  /// For an observer: `adopter` is the process that started the leader.
  ProcessUnit(long leader, std::uint64_t leader_start, ProcessRecord adopter, UnitReach reach);

  long leader() const { return leader_; }
  std::uint64_t leader_start() const { return leader_start_; }
  UnitReach reach() const { return reach_; }

  /// The living members, the leader first. `not_ours` are the other children of the adopter:
  /// leaders of other units and the keeper; they and what hangs on them are left out.
  std::vector<ProcessInfo> members(const std::vector<long>& not_ours);

  /// Signals every member, and looks again until no new one appears, because a member may fork
  /// between the look and the signal. Each process is signalled once; what had ended before its
  /// signal is left out of the result.
  std::vector<Signalled> signal(UnitSignal signal, const std::vector<long>& not_ours);

  /// Takes note of the members for later.
  void look(const std::vector<long>& not_ours);

 private:
  std::vector<ProcessRecord> scan(const std::vector<long>& not_ours);
  bool is_member_by_itself(const ProcessRecord& process) const;

  long leader_;
  std::uint64_t leader_start_;
  ProcessRecord adopter_;
  long adopter_session_;
  UnitReach reach_;
  std::string build_mark_;
  /// Members at the last look.
  std::vector<ProcessRecord> known_;
};

}  // namespace sitter
