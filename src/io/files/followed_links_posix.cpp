#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "io/files/folder_watches.hpp"
#include "io/files/followed_links.hpp"
#include "io/files/ignore_files.hpp"
#include "io/system/posix.hpp"

namespace sitter {
namespace {

namespace fs = std::filesystem;

/// Linux follows as many links on one way (path_resolution(7)), macOS fewer.
constexpr int kLinksOnWayMax = 40;

/// The steps on the way, as the system takes it. Empty if the links lead in a circle.
std::vector<std::string> steps_of(const std::string& path) {
  std::vector<std::string> steps;
  std::string place;
  std::string rest = path;
  bool is_missing = false;
  for (int links = 0; !rest.empty();) {
    const std::size_t end = std::min(rest.find('/'), rest.size());
    const std::string name = rest.substr(0, end);
    rest.erase(0, std::min(end + 1, rest.size()));
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      place = parent_of(place);
      continue;
    }
    const std::string next = place + '/' + name;
    std::error_code error;
    const fs::path target = is_missing ? fs::path() : fs::read_symlink(next, error);
    if (is_missing || error) {
      is_missing = is_missing || error == std::errc::no_such_file_or_directory;
      place = next;
      continue;
    }
    if (++links > kLinksOnWayMax) return {};
    steps.push_back(next);
    if (target.is_absolute()) place.clear();
    rest = target.native() + '/' + rest;
  }
  if (!steps.empty()) steps.push_back(place);
  return steps;
}

}  // namespace

LinkTarget target_of(const std::string& path) {
  LinkTarget target;
  struct stat status {};
  target.is_there = stat(system_path(path), &status) == 0;
  if (target.is_there && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return {};
  target.steps = steps_of(path);
  if (!target.is_there || target.steps.empty()) return target;
  const timespec changed = platform::changed_at(status);
  target.is_folder = S_ISDIR(status.st_mode);
  target.changed = TreeReading::Stamp(std::chrono::seconds(changed.tv_sec) +
                                      std::chrono::nanoseconds(changed.tv_nsec));
  target.device = status.st_dev;
  target.inode = status.st_ino;
  return target;
}

bool leads_above_itself(const std::string& path) {
  struct stat target {};
  if (stat(system_path(path), &target) != 0) return false;
  for (std::string folder = path; !folder.empty();) {
    folder = parent_of(folder);
    struct stat above {};
    const bool is_there = stat(system_path(folder), &above) == 0;
    if (is_there && above.st_dev == target.st_dev && above.st_ino == target.st_ino) return true;
  }
  return false;
}

const LinkTarget* FollowedLinks::find(const std::string& path) const {
  const auto found = links_.find(path);
  return found == links_.end() ? nullptr : &found->second;
}

void FollowedLinks::set(const std::string& path, LinkTarget target) {
  erase(path);
  for (const std::string& step : target.steps) by_step_[step].insert(path);
  links_.emplace(path, std::move(target));
}

void FollowedLinks::erase(const std::string& path) {
  const auto found = links_.find(path);
  if (found == links_.end()) return;
  for (const std::string& step : found->second.steps) {
    const auto paths = by_step_.find(step);
    if (paths == by_step_.end()) continue;
    paths->second.erase(path);
    if (paths->second.empty()) by_step_.erase(paths);
  }
  links_.erase(found);
}

std::set<std::string> FollowedLinks::through(const std::string& place) const {
  std::set<std::string> paths;
  const auto add = [&](auto from, auto to) {
    for (; from != to; ++from) paths.insert(from->second.begin(), from->second.end());
  };
  const auto [itself, next] = by_step_.equal_range(place);
  add(itself, next);
  // '0' is the character after the slash.
  add(by_step_.lower_bound(place + '/'), by_step_.lower_bound(place + '0'));
  return paths;
}

}  // namespace sitter
