#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iterator>
#include <unordered_map>

#include "io/process/image_sweep.hpp"
#include "io/process/runners.hpp"

namespace sitter {
namespace {

// The system folders outside of /usr.
constexpr std::string_view kSystemFolders[] = {
    "/bin/", "/sbin/", "/lib/", "/lib64/", "/nix/store/", "/opt/homebrew/", "/System/",
};

std::vector<long> ourselves_and_ancestors(const std::vector<ProcessRecord>& processes) {
  std::unordered_map<long, long> parents;
  for (const ProcessRecord& process : processes) parents[process.pid] = process.parent;
  std::vector<long> line;
  for (long pid = getpid(); pid > 0 && line.size() <= processes.size(); pid = parents[pid]) {
    line.push_back(pid);
  }
  return line;
}

bool contains(const std::vector<long>& pids, long pid) {
  return std::find(pids.begin(), pids.end(), pid) != pids.end();
}

}  // namespace

std::vector<ProcessInfo> same_image(const ImageIdentity& image, const std::vector<long>& not_ours) {
  std::vector<ProcessInfo> found;
  if (!image.is_known()) return found;
  std::vector<ProcessRecord> processes = all_processes();
  std::vector<long> untouchable = ourselves_and_ancestors(processes);
  long user = geteuid();
  for (const ProcessRecord& process : processes) {
    if (process.user != user || process.zombie || contains(untouchable, process.pid) ||
        contains(not_ours, process.pid) || !runs_image(process.pid, image)) {
      continue;
    }
    found.push_back({process.pid, command_of(process.pid)});
  }
  return found;
}

Delivery signal_same_image(long pid, const ImageIdentity& image, UnitSignal signal) {
  // The record is read first: if the pid is reused after the check of the image, the start time in
  // the record no longer matches.
  auto process = find_process(pid);
  if (!process || !runs_image(pid, image)) return Delivery::gone;
  return send_signal(*process, signal == UnitSignal::kill ? SIGKILL : SIGTERM);
}

bool belongs_to_the_system(std::string_view path) {
  if (path.starts_with("/usr/")) return !path.starts_with("/usr/local/");
  return std::any_of(std::begin(kSystemFolders), std::end(kSystemFolders),
                     [&](std::string_view folder) { return path.starts_with(folder); });
}

bool shared_by_strangers(const std::string& path) { return runner_kind(path) != Runner::none; }

}  // namespace sitter
