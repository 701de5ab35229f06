#include "io/process/image_sweep.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "core/base/ascii.hpp"
#include "io/process/runners.hpp"

namespace sitter {
namespace {

// The system folders outside of /usr.
constexpr std::string_view kSystemFolders[] = {
    "/bin/", "/sbin/", "/lib/", "/lib64/", "/nix/store/", "/opt/homebrew/", "/System/",
};

// Those of Windows, on each drive and in any case.
constexpr std::string_view kSystemFoldersOfDrive[] = {
    ":/windows/", ":/program files/", ":/program files (x86)/", ":/msys64/", ":/cygwin64/",
};

using Parents = std::unordered_map<long, long>;

Parents parents_in(const std::vector<ProcessRecord>& processes) {
  Parents parents;
  for (const ProcessRecord& process : processes) parents[process.pid] = process.parent;
  return parents;
}

/// The process and its ancestors.
std::vector<long> line_of(long pid, const Parents& parents) {
  std::vector<long> line;
  while (pid > 0 && line.size() <= parents.size()) {
    line.push_back(pid);
    const auto parent = parents.find(pid);
    pid = parent == parents.end() ? 0 : parent->second;
  }
  return line;
}

bool contains(const std::vector<long>& pids, long pid) {
  return std::find(pids.begin(), pids.end(), pid) != pids.end();
}

/// A process may have rewritten what shows its mark, and its ancestors have not.
std::optional<Supervisor> supervisor_above(long pid, const Parents& parents,
                                           const std::vector<long>& ours) {
  for (const long above : line_of(pid, parents)) {
    if (contains(ours, above)) break;
    if (const auto supervisor = supervisor_of(above, ours)) return supervisor;
  }
  return std::nullopt;
}

}  // namespace

std::vector<SameImage> same_image(const ImageIdentity& image, const std::vector<long>& not_ours) {
  std::vector<SameImage> found;
  if (!image.is_known()) return found;
  const std::vector<ProcessRecord> processes = all_processes();
  const Parents parents = parents_in(processes);
  const std::vector<long> untouchable = line_of(this_process().pid, parents);
  const long user = this_process().user;
  for (const ProcessRecord& process : processes) {
    if (process.user != user || process.zombie || contains(untouchable, process.pid) ||
        contains(not_ours, process.pid) || !runs_image(process.pid, image)) {
      continue;
    }
    SameImage& same = found.emplace_back();
    same.pid = process.pid;
    same.start = process.start;
    same.command = command_of(process.pid);
    same.arguments = arguments_behind_name(process.pid);
    same.supervisor = supervisor_above(process.pid, parents, untouchable);
  }
  return found;
}

Delivery signal_same_image(long pid, const ImageIdentity& image, UnitSignal signal) {
  // The record is read first: if the pid is reused after the check of the image, the start time in
  // the record no longer matches.
  auto process = find_process(pid);
  if (!process || !runs_image(pid, image)) return Delivery::gone;
  return send_signal(*process, signal);
}

bool belongs_to_the_system(std::string_view path) {
  if (path.starts_with("/usr/")) return !path.starts_with("/usr/local/");
  const auto is_below_one_of = [](std::string_view place, const auto& folders) {
    return std::any_of(std::begin(folders), std::end(folders),
                       [&](std::string_view folder) { return place.starts_with(folder); });
  };
  const bool has_drive = path.size() > 1 && path[1] == ':';
  return has_drive ? is_below_one_of(ascii_lower(path.substr(1)), kSystemFoldersOfDrive)
                   : is_below_one_of(path, kSystemFolders);
}

bool shared_by_strangers(const std::string& path) { return runner_kind(path) != Runner::none; }

}  // namespace sitter
