#pragma once

#include <cstdint>
#include <memory>

#include "io/system/child_windows.hpp"

namespace sitter {

/// A job object with all processes of a unit, since each process belongs to the jobs of the process
/// that has started it. The bridge holds the only handle: when the last one is closed, the system
/// ends what is left (JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE), also if the bridge itself is killed.
struct UnitJob {
  /// With `lets_go`, what the unit leaves behind serves the next one, as that of a build.
  UnitJob(windows::StartedChild started, bool lets_go);
  UnitJob(const UnitJob&) = delete;
  UnitJob& operator=(const UnitJob&) = delete;
  ~UnitJob();

  windows::Handle job;
  /// As long as it is open, no other process gets the number of the leader.
  windows::Handle leader;
  long pid;
  /// See `ProcessRecord::start`.
  std::uint64_t start;
  bool lets_go;
};

/// The leader of the job runs. Its exit will be reported by `reap`, and the job is known by the
/// leader's number until then.
void watch_leader(const std::shared_ptr<UnitJob>& job);

/// The job whose leader has this number. Null if there is none, or if its exit was reported.
std::shared_ptr<UnitJob> job_of(long leader);

/// `notify` is called in another thread whenever a leader has ended. Empty: nobody is told.
void on_leader_ended(void (*notify)(void*), void* context);

}  // namespace sitter
