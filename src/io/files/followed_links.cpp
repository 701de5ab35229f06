#include "io/files/followed_links.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/paths.hpp"

namespace sitter {
namespace {

/// Linux follows as many links on one way (path_resolution(7)), macOS fewer.
constexpr int kLinksOnWayMax = 40;

/// The steps on the way, as the system takes it. Empty if the links lead in a circle.
std::vector<std::string> steps_of(const std::string& path) {
  std::vector<std::string> steps;
  std::string place(root_of(path, kPathStyle).value_or(""));
  std::string rest = path.substr(place.size());
  for (int links = 0; !rest.empty();) {
    const std::size_t end = std::min(rest.find('/'), rest.size());
    const std::string name = rest.substr(0, end);
    rest.erase(0, std::min(end + 1, rest.size()));
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      if (place != root_of(place, kPathStyle)) place = parent_of(place);
      continue;
    }
    const std::string next = place + '/' + name;
    const std::string text = link_text(next);
    if (text.empty()) {
      place = next;
      continue;
    }
    if (++links > kLinksOnWayMax) return {};
    steps.push_back(next);
    const auto root = root_of(text, kPathStyle);
    if (root) place = *root;
    rest = text.substr(root.value_or("").size()) + '/' + rest;
  }
  if (!steps.empty()) steps.push_back(place);
  return steps;
}

}  // namespace

LinkTarget target_of(const std::string& path) {
  const auto facts = facts_of(path);
  if (facts && !facts->is_file() && !facts->is_folder()) return {};
  LinkTarget target{.steps = steps_of(path)};
  if (!target.steps.empty()) target.facts = facts;
  return target;
}

bool leads_above_itself(const std::string& path) {
  const auto target = facts_of(path);
  if (!target) return false;
  for (std::string folder = path; !folder.empty();) {
    folder = parent_of(folder);
    const auto above = facts_of(folder);
    if (above && above->is_same(*target)) return true;
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

std::set<std::string, PathLess> FollowedLinks::through(const std::string& place) const {
  std::set<std::string, PathLess> paths;
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
