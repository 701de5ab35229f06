#include "io/files/link_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/paths.hpp"

namespace sitter {
namespace {

/// A link may be made anew just while its way is being watched.
constexpr int kFollowTries = 10;

}  // namespace

void LinkWatch::follow(const std::string& path, Stamp since) {
  const LinkTarget* const known = links_.find(path);
  const LinkTarget before = known != nullptr ? *known : LinkTarget();
  const std::vector<std::string> old_anchors = std::exchange(anchors_[path], {});
  LinkTarget now = target_of(path);
  for (int i = 0; i < kFollowTries && wants(path, now); ++i) {
    links_.set(path, now);
    Paths folders;
    for (const std::string& step : now.steps) {
      watch_.watch(
          step, now.is_there() ? FolderWatches::Kind::with_files : FolderWatches::Kind::on_the_way,
          folders);
    }
    anchors_[path].assign(folders.begin(), folders.end());
    LinkTarget next = target_of(path);
    if (next.is_same(now)) break;
    now = std::move(next);
  }
  if (!wants(path, now)) drop(path);
  watch_.on_released(old_anchors);
  if (links_.find(path) == nullptr) now = LinkTarget();
  watch_.on_followed(path, before, now, since);
  unsure_.erase(path);
}

/// Whether the link is followed. The names of both the link and the folder may leave it out.
bool LinkWatch::wants(const std::string& path, const LinkTarget& target) {
  if (target.steps.empty()) return false;
  if (watch_.is_root(path)) return true;
  if (!watch_.takes(path, target) || (target.is_folder() && leads_above_itself(path))) return false;
  const bool has_room = links_.find(path) != nullptr || links_.size() < limits::kFollowedLinksMax;
  if (!has_room) note_problem(path, limits::kFollowedLinksMax, "links are followed already");
  return has_room;
}

void LinkWatch::drop_unwanted() {
  std::vector<std::string> unwanted;
  for (const auto& [path, target] : links_.all()) {
    if (!wants(path, target)) unwanted.push_back(path);
  }
  for (const std::string& path : unwanted) drop(path);
}

void LinkWatch::drop(const std::string& path) {
  links_.erase(path);
  const auto anchors = anchors_.extract(path);
  if (!anchors.empty()) watch_.on_released(anchors.mapped());
}

void LinkWatch::forget(const std::string& folder) {
  erase_at_or_below(linked_, folder);
  std::vector<std::string> below;
  for (auto link = links_.all().upper_bound(folder); link != links_.all().end(); ++link) {
    const bool is_below = is_at_or_below(link->first, folder, kPathStyle);
    if (is_below && !watch_.is_root(link->first)) below.push_back(link->first);
  }
  for (const std::string& path : below) drop(path);
  if (links_.find(folder) != nullptr) unsure_.insert(folder);
  doubt(folder);
}

void LinkWatch::doubt(const std::string& place) { unsure_.merge(links_.through(place)); }

void LinkWatch::doubt_all() {
  for (const auto& [path, target] : links_.all()) unsure_.insert(path);
}

void LinkWatch::follow_unsure() {
  for (int i = 0; i < kFollowTries && !unsure_.empty(); ++i) {
    for (const std::string& path : std::exchange(unsure_, {})) follow(path, TreeReading::kEver);
  }
}

bool LinkWatch::needs(const std::string& folder) const {
  return std::any_of(anchors_.begin(), anchors_.end(), [&](const auto& link) {
    return std::any_of(link.second.begin(), link.second.end(), [&](const std::string& anchor) {
      return is_same_path(anchor, folder, kPathStyle);
    });
  });
}

bool LinkWatch::may_watch(const std::string& folder, bool is_watched) {
  if (is_watched || !is_behind_link(folder)) return true;
  if (linked_.size() >= limits::kLinkedFoldersMax && !linked_.contains(folder)) {
    note_problem(folder, limits::kLinkedFoldersMax, "folders behind links are watched");
    return false;
  }
  linked_.insert(folder);
  return true;
}

bool LinkWatch::is_behind_link(const std::string& folder) const {
  for (std::string path = folder; !path.empty(); path = parent_of(path)) {
    if (links_.find(path) != nullptr && !watch_.is_root(path)) return true;
  }
  return false;
}

void LinkWatch::note_problem(const std::string& path, std::size_t max, std::string_view what) {
  if (!problem_.empty()) return;
  problem_ = fmt::format(
      "changes behind {} and other links are not seen: {} {}; leave some out with --watch "
      "'!NAME'",
      path, max, what);
}

}  // namespace sitter
