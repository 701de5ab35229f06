#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "io/process/process_table.hpp"
#include "sitter/generation.hpp"

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

/// How often processes are looked for and signalled, since each round finds what was forked during
/// the one before. Only a fork bomb needs more.
inline constexpr int kSignalRoundsMax = 50;

/// The caller itself, as it was at its first call: its pid and its start stay what they are.
const ProcessRecord& this_process();

/// A child and all that came of it: the session that it leads, the descendants of these, sessions
/// that they opened, and (Linux) orphans among them that the bridge has adopted. It outlives its
/// leader: a wrapper that has ended, reaped or not, leaves the rest of the unit in place.
///
/// Of a build only what is still in its session belongs to it, since the compilers and daemons that
/// it may leave behind serve the next build too. They belong to no child either.
///
/// An orphan belongs to the child whose mark it carries. One that lost both forms of the mark
/// counts as that of the youngest child that is older than it, since an older child is about to
/// end.
///
/// Each question looks at the system anew, and remembers which sessions belong to the unit, so that
/// members are still known after the process between has ended. Zombies are no members.
///
/// Where the system does not list its processes, the unit is the group of its leader, and shows
/// as one process.
class ProcessUnit {
 public:
  /// `leader` is a child of this process that has not been reaped; orphans fall to this process.
  ProcessUnit(long leader, Generation gen);

  /// For an observer: `adopter` is the process that started the leader.
  ProcessUnit(long leader, std::uint64_t leader_start, ProcessRecord adopter, Generation gen);

  long leader() const { return leader_; }
  std::uint64_t leader_start() const { return leader_start_; }
  Generation gen() const { return gen_; }

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
  using Table = std::unordered_map<long, ProcessRecord>;

  std::vector<ProcessRecord> scan(const std::vector<long>& not_ours);
  bool is_member_by_itself(const ProcessRecord& process, const Table& table) const;
  bool is_adopted_member(const ProcessRecord& orphan, const Table& table) const;
  std::vector<Signalled> signal_group(int number);

  long leader_;
  std::uint64_t leader_start_;
  ProcessRecord adopter_;
  long adopter_session_;
  Generation gen_;
  bool is_group_gone_ = false;
  /// Members at the last look.
  std::vector<ProcessRecord> known_;
};

}  // namespace sitter
