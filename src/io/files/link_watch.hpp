#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "io/files/folder_watches.hpp"
#include "io/files/followed_links.hpp"
#include "io/files/tree_reading.hpp"
#include "io/system/path_style.hpp"

namespace sitter {

/// Follows the links that lead to watched files and folders: watches their ways, finds out when one
/// of them leads elsewhere, and keeps to the limits of what is behind links.
class LinkWatch {
 public:
  using Stamp = TreeReading::Stamp;
  using Paths = std::set<std::string, PathLess>;

  struct Watch {
    /// Whether the user has named the path. Such a path is followed whatever the filter says.
    std::function<bool(const std::string& path)> is_root;
    /// Whether the filter accepts what is at the path, which leads there.
    std::function<bool(const std::string& path, const LinkTarget& target)> takes;
    /// Watches the folders in which the step of a way is, or would appear, and names them.
    std::function<void(const std::string& step, FolderWatches::Kind kind, Paths& folders)> watch;
    /// No link needs these folders any more.
    std::function<void(const std::vector<std::string>& folders)> on_released;
    /// The path, which has led to one place, leads to another. What has changed there since this
    /// time counts.
    std::function<void(const std::string& path, const LinkTarget& before, const LinkTarget& now,
                       Stamp since)>
        on_followed;
  };

  explicit LinkWatch(Watch watch) : watch_(std::move(watch)) {}

  const FollowedLinks& links() const { return links_; }

  /// Finds out where the path leads, watches the way, and tells what it has found.
  void follow(const std::string& path, Stamp since);
  /// Ends this for what the filter accepts no longer.
  void drop_unwanted();
  /// The folder is gone, with the links in it.
  void forget(const std::string& folder);

  /// A link on the way to this place may lead elsewhere.
  void doubt(const std::string& place);
  void doubt_link(const std::string& path) { unsure_.insert(path); }
  void doubt_all();
  /// Follows anew what may lead elsewhere.
  void follow_unsure();

  /// Whether a way leads through this watched folder.
  bool needs(const std::string& folder) const;

  /// Whether the folder may be watched: it is behind no link, or not too many others are.
  bool may_watch(const std::string& folder, bool is_watched);
  /// The folder is watched no longer.
  void leave(const std::string& folder) { linked_.erase(folder); }

  /// Why some changes behind links are not seen, in words for the user. Empty if all are seen.
  const std::string& problem() const { return problem_; }
  void clear_problem() { problem_.clear(); }

 private:
  bool wants(const std::string& path, const LinkTarget& target);
  void drop(const std::string& path);
  bool is_behind_link(const std::string& folder) const;
  void note_problem(const std::string& path, std::size_t max, std::string_view what);

  Watch watch_;
  FollowedLinks links_;
  /// The folders that are watched because a link leads through them.
  std::map<std::string, std::vector<std::string>, PathLess> anchors_;
  /// What may lead elsewhere now.
  Paths unsure_;
  /// The watched folders that are reached through links.
  Paths linked_;
  std::string problem_;
};

}  // namespace sitter
