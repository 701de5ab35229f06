#include "io/process/unit_job_windows.hpp"

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "io/process/process_table.hpp"
#include "io/process/reaper.hpp"

namespace sitter {
namespace {

/// A leader that was started and whose exit was not reported yet.
struct Watched {
  std::shared_ptr<UnitJob> job;
  HANDLE wait = nullptr;
};

/// Only the main thread uses it.
std::map<long, Watched>& leaders() {
  static std::map<long, Watched> all;
  return all;
}

/// What the threads that wait for processes share with the main thread.
struct Ended {
  std::mutex mutex;
  std::vector<long> pids;
  void (*notify)(void*) = nullptr;
  void* context = nullptr;
};

Ended& ended() {
  static Ended all;
  return all;
}

void CALLBACK on_exit(void* pid, BOOLEAN) {
  const std::lock_guard lock(ended().mutex);
  ended().pids.push_back(static_cast<long>(reinterpret_cast<std::intptr_t>(pid)));
  if (ended().notify != nullptr) ended().notify(ended().context);
}

}  // namespace

UnitJob::UnitJob(windows::StartedChild started, bool lets_go_at_end)
    : job(std::move(started.job)),
      leader(std::move(started.process)),
      pid(started.pid),
      start(find_process(pid).value_or(ProcessRecord()).start),
      lets_go(lets_go_at_end) {}

UnitJob::~UnitJob() {
  if (lets_go) windows::set_ends_with_job(job.get(), false);
}

void watch_leader(const std::shared_ptr<UnitJob>& job) {
  Watched& watched = leaders()[job->pid];
  watched.job = job;
  RegisterWaitForSingleObject(&watched.wait, job->leader.get(), on_exit,
                              reinterpret_cast<void*>(static_cast<std::intptr_t>(job->pid)),
                              INFINITE, WT_EXECUTEONLYONCE);
}

std::shared_ptr<UnitJob> job_of(long leader) {
  const auto found = leaders().find(leader);
  return found == leaders().end() ? nullptr : found->second.job;
}

void on_leader_ended(void (*notify)(void*), void* context) {
  const std::lock_guard lock(ended().mutex);
  ended().notify = notify;
  ended().context = context;
}

std::vector<Reaped> reap() {
  std::vector<long> pids;
  {
    const std::lock_guard lock(ended().mutex);
    pids = std::exchange(ended().pids, {});
  }
  std::vector<Reaped> reaped;
  for (const long pid : pids) {
    const auto found = leaders().find(pid);
    if (found == leaders().end()) continue;
    DWORD code = 0;
    GetExitCodeProcess(found->second.job->leader.get(), &code);
    UnregisterWait(found->second.wait);
    leaders().erase(found);
    reaped.push_back({.pid = pid, .status = {.code = static_cast<int>(code)}});
  }
  return reaped;
}

}  // namespace sitter
