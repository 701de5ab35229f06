#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "io/system/file_facts.hpp"
#include "io/system/path_style.hpp"

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
  /// What is there, if anything is.
  std::optional<FileFacts> facts = {};

  bool is_there() const { return facts.has_value(); }
  bool is_folder() const { return facts && facts->is_folder(); }
  bool is_same(const LinkTarget& other) const {
    return steps == other.steps && is_there() == other.is_there() &&
           (!facts || facts->is_same(*other.facts));
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
  const std::map<std::string, LinkTarget, PathLess>& all() const { return links_; }
  std::size_t size() const { return links_.size(); }
  void set(const std::string& path, LinkTarget target);
  void erase(const std::string& path);

  /// Whether some path leads through this place.
  bool is_step(const std::string& place) const { return by_step_.contains(place); }
  /// The paths that lead through this place, or through a place below it.
  std::set<std::string, PathLess> through(const std::string& place) const;

 private:
  std::map<std::string, LinkTarget, PathLess> links_;
  std::map<std::string, std::set<std::string, PathLess>, PathLess> by_step_;
};

}  // namespace sitter
