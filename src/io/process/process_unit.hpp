#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "io/process/process_table.hpp"
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

enum class UnitSignal { terminate, kill };

/// How often processes are listed and signalled, since each round finds processes that were forked
/// during the round before. Only a fork bomb needs more rounds.
inline constexpr int kSignalRoundsMax = 50;

/// The calling process: its pid and its start time, read at the first call.
const ProcessRecord& this_process();

// Every process of a unit carries the mark, and its children inherit it. So the mark shows the unit
// of a process that has left its session and its parents. Some programs rewrite their environment,
// and some (sudo) reset limits, but few do both.

/// An entry of the environment, NAME=VALUE. Each bridge uses a different name, so that a bridge
/// that another bridge has started does not hide this entry.
std::string unit_variable(const ProcessRecord& bridge, Generation gen);

/// The value that `lock_limit_of` should find. Nothing for a generation above half a million, which
/// does not fit beside the number of the bridge.
std::optional<std::uint64_t> unit_lock_limit(const ProcessRecord& bridge, Generation gen);

/// The generation of `bridge` whose mark the process carries.
std::optional<Generation> marked_generation(long pid, const ProcessRecord& bridge);

/// A living mcp-sitter of this user, and its generation.
struct Supervisor {
  long pid = 0;
  Generation gen = kNoGeneration;
};

/// The mcp-sitter whose mark the process carries: of several, the one that was started last. Those
/// in `not_these` do not count.
std::optional<Supervisor> supervisor_of(long pid, const std::vector<long>& not_these);

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
  using Table = std::unordered_map<long, ProcessRecord>;

  std::vector<ProcessRecord> scan(const std::vector<long>& not_ours);
  std::vector<ProcessRecord> members_in(const Table& table,
                                        const std::vector<long>& not_ours) const;
  bool is_member_by_itself(const ProcessRecord& process, const Table& table) const;
  bool is_adopted_member(const ProcessRecord& orphan, const Table& table) const;
  std::vector<Signalled> signal_group(int number);
  bool is_session_only() const;
  bool is_leader_alive() const;

  long leader_;
  std::uint64_t leader_start_;
  ProcessRecord adopter_;
  long adopter_session_;
  Generation gen_;
  bool is_group_gone_ = false;
  /// The unit is that of a run that was signalled before it had ended.
  bool takes_daemons_ = false;
  /// The members at the last look.
  std::vector<ProcessRecord> known_;
  /// How many lists in a row have shown no member.
  int empty_scans_ = 0;
};

}  // namespace sitter
