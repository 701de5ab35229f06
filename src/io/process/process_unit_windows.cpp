#include <algorithm>
#include <utility>

#include "io/process/process_unit.hpp"
#include "io/process/unit_job_windows.hpp"
#include "io/system/ctrl_break_windows.hpp"

namespace sitter {
namespace {

/// What a process exits with that is ended with its job.
constexpr UINT kKilled = 1;

/// Jobs of servers have a few members. The list is asked for again if it has grown meanwhile.
constexpr std::size_t kMembersAtFirst = 64;

std::vector<long> pids_in(HANDLE job) {
  std::vector<ULONG_PTR> buffer;
  std::size_t count = kMembersAtFirst;
  while (true) {
    const std::size_t head = (sizeof(JOBOBJECT_BASIC_PROCESS_ID_LIST) / sizeof(ULONG_PTR)) + 1;
    buffer.assign(head + count, 0);
    auto* const list = reinterpret_cast<JOBOBJECT_BASIC_PROCESS_ID_LIST*>(buffer.data());
    const BOOL is_whole =
        QueryInformationJobObject(job, JobObjectBasicProcessIdList, list,
                                  static_cast<DWORD>(buffer.size() * sizeof(ULONG_PTR)), nullptr);
    if (!is_whole && GetLastError() == ERROR_MORE_DATA) {
      count *= 2;
      continue;
    }
    std::vector<long> pids;
    for (DWORD i = 0; is_whole && i < list->NumberOfProcessIdsInList; ++i) {
      pids.push_back(static_cast<long>(list->ProcessIdList[i]));
    }
    return pids;
  }
}

/// The system starts one for each console program, and ends it by itself.
bool is_console_host(long pid) { return image_of(pid).path.ends_with("/conhost.exe"); }

/// Asks a program with windows to end (WM_CLOSE), as taskkill does.
BOOL CALLBACK close_window(HWND window, LPARAM pid) {
  DWORD owner = 0;
  GetWindowThreadProcessId(window, &owner);
  if (owner == static_cast<DWORD>(pid)) PostMessageW(window, WM_CLOSE, 0, 0);
  return TRUE;
}

}  // namespace

class ProcessUnit::State {
 public:
  explicit State(long leader) : leader_(leader), job_(job_of(leader)) {}

  std::uint64_t leader_start() const { return job_ ? job_->start : 0; }

  std::vector<long> pids() const {
    if (!job_) return {};
    std::vector<long> all = pids_in(job_->job.get());
    std::erase_if(all, is_console_host);

    // What an errand that has ended leaves behind belongs to nobody.
    const bool leads = std::find(all.begin(), all.end(), leader_) != all.end();
    if (!leads && job_->lets_go && !is_killed_) return {};
    std::stable_partition(all.begin(), all.end(), [&](long pid) { return pid == leader_; });
    return all;
  }

  std::vector<Signalled> signal(UnitSignal signal) {
    std::vector<Signalled> signalled;
    for (const long pid : pids()) {
      signalled.push_back({{pid, command_of(pid)}, Delivery::delivered});
    }
    if (signalled.empty()) return signalled;
    if (signal == UnitSignal::kill) {
      is_killed_ = true;
      TerminateJobObject(job_->job.get(), kKilled);
      return signalled;
    }
    std::vector<long> group{leader_};
    for (const Signalled& one : signalled) {
      EnumWindows(close_window, static_cast<LPARAM>(one.process.pid));
      if (one.process.pid != leader_) group.push_back(one.process.pid);
    }
    windows::send_break(group);
    return signalled;
  }

 private:
  long leader_;
  /// Null if the leader was started by somebody else.
  std::shared_ptr<UnitJob> job_;
  bool is_killed_ = false;
};

ProcessUnit::ProcessUnit(long leader, Generation gen) : ProcessUnit(leader, 0, {}, gen) {}
ProcessUnit::ProcessUnit(long leader, std::uint64_t, ProcessRecord, Generation gen)
    : leader_(leader), gen_(gen), state_(std::make_shared<State>(leader)) {
  leader_start_ = state_->leader_start();
}

std::vector<ProcessInfo> ProcessUnit::members(const std::vector<long>&) {
  std::vector<ProcessInfo> members;
  for (const long pid : state_->pids()) members.push_back({pid, command_of(pid)});
  return members;
}

std::vector<Signalled> ProcessUnit::signal(UnitSignal signal, const std::vector<long>&) {
  return state_->signal(signal);
}

// The job remembers its members.
void ProcessUnit::look(const std::vector<long>&) {}

}  // namespace sitter
