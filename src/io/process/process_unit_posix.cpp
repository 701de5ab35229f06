#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <set>
#include <unordered_map>

#include "io/process/process_unit.hpp"

namespace sitter {
namespace {

// The list of processes is not a snapshot of one moment: a process whose parent ends while the list
// is read may be missing from it. A second list without any change shows that none is.
constexpr int kQuietRounds = 2;

constexpr long kFirstProcess = 1;

bool is_same(const ProcessRecord& a, const ProcessRecord& b) {
  return a.pid == b.pid && a.start == b.start;
}

bool contains(const std::vector<ProcessRecord>& processes, const ProcessRecord& process) {
  return std::any_of(processes.begin(), processes.end(),
                     [&](const ProcessRecord& other) { return is_same(process, other); });
}

}  // namespace

class ProcessUnit::State {
 public:
  State(long leader, std::uint64_t leader_start, ProcessRecord adopter, Generation gen)
      : leader_(leader),
        leader_start_(leader_start),
        adopter_(std::move(adopter)),
        adopter_session_(getsid(static_cast<pid_t>(adopter_.pid))),
        gen_(gen) {}

  std::vector<ProcessInfo> members(const std::vector<long>& not_ours);
  std::vector<Signalled> signal(UnitSignal signal, const std::vector<long>& not_ours);
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

// Whether a process belongs to the unit regardless of its parent.
bool ProcessUnit::State::is_member_by_itself(const ProcessRecord& process,
                                             const Table& table) const {
  // A process that is older than the leader, or that is in the bridge's own session, cannot be a
  // descendant of the leader. The bridge may have such children from before its exec.
  if (process.start < leader_start_ || process.session == adopter_session_) return false;
  if (process.session == leader_) return true;
  if (is_session_only()) return false;
  const bool is_known = std::any_of(known_.begin(), known_.end(), [&](const ProcessRecord& known) {
    return is_same(process, known) || process.session == known.session;
  });
  if (is_known) return true;
  if (process.parent == adopter_.pid) return is_adopted_member(process, table);
  // Where the bridge cannot adopt orphans, the first process of the system has them, with those of
  // everybody else. Only the mark shows whose they are.
  return process.parent == kFirstProcess && marked_generation(process.pid, adopter_) == gen_;
}

bool ProcessUnit::State::is_adopted_member(const ProcessRecord& orphan, const Table& table) const {
  if (const auto gen = marked_generation(orphan.pid, adopter_)) return *gen == gen_;
  // Runs go on side by side, so nothing else tells whose it is.
  if (is_run(gen_)) return false;
  return std::none_of(table.begin(), table.end(), [&](const auto& entry) {
    const ProcessRecord& other = entry.second;
    return other.parent == adopter_.pid && other.start <= orphan.start &&
           marked_generation(other.pid, adopter_) > gen_;
  });
}

std::vector<ProcessRecord> ProcessUnit::State::scan(const std::vector<long>& not_ours) {
  // A list takes long if there are many processes, and most errands leave nothing behind in their
  // session.
  const bool is_gone = empty_scans_ >= kQuietRounds;
  if (is_gone || (is_session_only() && !is_number_in_use(leader_))) return {};
  Table table;
  for (const ProcessRecord& process : all_processes()) table.emplace(process.pid, process);
  known_ = members_in(table, not_ours);
  // Without free file descriptors, nothing can be listed, not even the adopter.
  empty_scans_ = known_.empty() && table.contains(adopter_.pid) ? empty_scans_ + 1 : 0;
  return known_;
}

void ProcessUnit::State::look(const std::vector<long>& not_ours) {
  Table table;
  // Those that the list may have missed.
  for (const ProcessRecord& known : known_) {
    const auto process = find_process(known.pid);
    if (process && is_same(*process, known)) table.emplace(known.pid, *process);
  }
  for (const ProcessRecord& process : families_of({adopter_.pid, leader_})) {
    table.emplace(process.pid, process);
  }
  known_ = members_in(table, not_ours);
}

std::vector<ProcessRecord> ProcessUnit::State::members_in(const Table& table,
                                                          const std::vector<long>& not_ours) const {
  auto leader = table.find(leader_);
  bool number_reused = leader != table.end() && leader->second.start != leader_start_;
  auto is_of_stranger = [&](long session) {
    return (number_reused && session == leader_) ||
           std::find(not_ours.begin(), not_ours.end(), session) != not_ours.end();
  };

  enum class Side { unknown, member, stranger };
  std::unordered_map<long, Side> sides;
  sides[getpid()] = Side::stranger;
  sides[adopter_.pid] = Side::stranger;

  // Each process is judged by itself first. If that decides nothing, its parent is judged, and so
  // on.
  std::vector<long> way;
  for (const auto& [pid, process] : table) {
    way.clear();
    Side side = Side::unknown;
    for (auto next = table.find(pid); side == Side::unknown;) {
      // The table is not a snapshot of one moment, so the chain of parents may break off or form a
      // circle.
      if (next == table.end() || way.size() > table.size()) {
        side = Side::stranger;
        break;
      }
      const ProcessRecord& current = next->second;
      side = sides[current.pid];
      if (side != Side::unknown) break;
      way.push_back(current.pid);
      if (is_of_stranger(current.session)) {
        side = Side::stranger;
      } else if (is_member_by_itself(current, table)) {
        side = Side::member;
      } else if (is_session_only()) {
        side = Side::stranger;
      } else {
        next = table.find(current.parent);
      }
    }
    for (long passed : way) sides[passed] = side;
  }

  std::vector<ProcessRecord> members;
  for (const auto& [pid, process] : table) {
    if (sides[pid] == Side::member && !process.zombie) members.push_back(process);
  }
  std::sort(members.begin(), members.end(), [&](const ProcessRecord& a, const ProcessRecord& b) {
    if ((a.pid == leader_) != (b.pid == leader_)) return a.pid == leader_;
    return a.start != b.start ? a.start < b.start : a.pid < b.pid;
  });
  return members;
}

std::vector<ProcessInfo> ProcessUnit::State::members(const std::vector<long>& not_ours) {
  std::vector<ProcessInfo> result;
  if (!lists_processes()) {
    for (const Signalled& group : signal_group(0)) result.push_back(group.process);
    return result;
  }
  for (const ProcessRecord& process : scan(not_ours)) {
    result.push_back({process.pid, command_of(process.pid)});
  }
  return result;
}

// The pid of the leader stays in use as long as the group has members, including a leader that is
// not reaped yet. So no other group can have this number. Once the group is found empty, it is not
// signalled again.
std::vector<Signalled> ProcessUnit::State::signal_group(int number) {
  if (is_group_gone_) return {};
  const bool is_taken = ::kill(static_cast<pid_t>(-leader_), number) == 0;
  is_group_gone_ = !is_taken && errno == ESRCH;
  if (is_group_gone_) return {};
  return {{{leader_, {}}, is_taken ? Delivery::delivered : Delivery::not_permitted}};
}

bool ProcessUnit::State::is_session_only() const { return is_errand(gen_) && !takes_daemons_; }

bool ProcessUnit::State::is_leader_alive() const {
  const auto leader = find_process(leader_);
  return leader && leader->start == leader_start_ && !leader->zombie;
}

std::vector<Signalled> ProcessUnit::State::signal(UnitSignal signal,
                                                  const std::vector<long>& not_ours) {
  int number = signal == UnitSignal::kill ? SIGKILL : SIGTERM;
  if (!lists_processes()) return signal_group(number);
  if (is_run(gen_) && is_leader_alive()) takes_daemons_ = true;
  std::vector<Signalled> result;
  std::vector<ProcessRecord> done;
  std::set<long> groups;
  int quiet = 0;
  for (int round = 0; round < kSignalRoundsMax && quiet < kQuietRounds; ++round) {
    ++quiet;
    for (const ProcessRecord& process : scan(not_ours)) {
      // A group outside of our pid namespace appears as 0, and a signal to 0 would reach our own
      // group.
      if (process.group > 1) groups.insert(process.group);
      if (contains(done, process)) continue;
      quiet = 0;
      done.push_back(process);
      std::string command = command_of(process.pid);
      Delivery delivery = send_signal(process, signal);
      if (delivery != Delivery::gone) {
        result.push_back({{process.pid, std::move(command)}, delivery});
      }
    }
    if (signal != UnitSignal::kill) continue;
    // A member that forks and exits all the time is already gone when a signal to its pid arrives.
    // So the whole group is signalled.
    for (long group : groups) ::kill(static_cast<pid_t>(-group), SIGKILL);
  }
  return result;
}

ProcessUnit::ProcessUnit(long leader, Generation gen)
    : ProcessUnit(leader, find_process(leader).value_or(ProcessRecord()).start, this_process(),
                  gen) {}

ProcessUnit::ProcessUnit(long leader, std::uint64_t leader_start, ProcessRecord adopter,
                         Generation gen)
    : leader_(leader),
      leader_start_(leader_start),
      gen_(gen),
      state_(std::make_shared<State>(leader, leader_start, std::move(adopter), gen)) {}

std::vector<ProcessInfo> ProcessUnit::members(const std::vector<long>& not_ours) {
  return state_->members(not_ours);
}

std::vector<Signalled> ProcessUnit::signal(UnitSignal signal, const std::vector<long>& not_ours) {
  return state_->signal(signal, not_ours);
}

void ProcessUnit::look(const std::vector<long>& not_ours) { state_->look(not_ours); }

}  // namespace sitter
