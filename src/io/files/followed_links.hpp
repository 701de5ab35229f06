#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "io/files/tree_reading.hpp"

namespace sitter {

namespace limits {

/// How many links in watched folders are followed, and how many folders behind them are watched. A
/// linked library has hundreds of folders; a link may also lead to everything that a user has.
inline constexpr std::size_t kFollowedLinksMax = 1000;
inline constexpr std::size_t kLinkedFoldersMax = 1000;

}  // namespace limits

/// Where a path leads.
struct LinkTarget {
  /// The place of each link on the way, and the place where the way ends, which need not exist. A
  /// change at or above one of them may change what is at the path. Empty if no link is on the way,
  /// or if the way ends neither in a file nor in a folder.
  std::vector<std::string> steps;
  bool is_there = false;
  bool is_folder = false;
  /// When the file or folder has changed.
  TreeReading::Stamp changed;
  dev_t device = 0;
  ino_t inode = 0;

  bool is_same(const LinkTarget& other) const {
    return steps == other.steps && is_there == other.is_there && device == other.device &&
           inode == other.inode;
  }
};

LinkTarget target_of(const std::string& path);

/// Whether the path leads to a folder that contains the path, so that the folder would contain
/// itself without end.
bool leads_above_itself(const std::string& path);

/// The paths that are followed to where they lead.
class FollowedLinks {
 public:
  /// Valid until the next change of this object. Null if the path is not followed.
  const LinkTarget* find(const std::string& path) const;
  const std::map<std::string, LinkTarget>& all() const { return links_; }
  std::size_t size() const { return links_.size(); }
  void set(const std::string& path, LinkTarget target);
  void erase(const std::string& path);

  /// Whether some path leads through this place.
  bool is_step(const std::string& place) const { return by_step_.contains(place); }
  /// The paths that lead through this place, or through a place below it.
  std::set<std::string> through(const std::string& place) const;

 private:
  std::map<std::string, LinkTarget> links_;
  std::map<std::string, std::set<std::string>> by_step_;
};

}  // namespace sitter
