#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/glob.hpp"

namespace sitter {

/// Decides which files are watched, according to the patterns of --watch and the ignore files in
/// the folders above each file. Paths are absolute and use slashes. They contain no `.` or `..`,
/// and do not end in a slash.
///
/// A pattern without a wildcard is a path: a file, or a folder with everything below it. A pattern
/// with a wildcard is read like a line of a gitignore file in `base`. A `!` at the front of a
/// pattern leaves out what it matches. If several patterns match, the last of them decides. Ignore
/// files and the built-in ignore rules apply to names that the pattern does not spell out itself.
class WatchFilter {
 public:
  WatchFilter(const std::vector<std::string>& patterns, std::string base);

  const std::string& base() const { return base_; }

  /// The part of each pattern before its first wildcard. A root may be a file, a folder, or a path
  /// that does not exist. A pattern with `!` has no root.
  std::vector<std::string> roots() const;

  /// Sets the text of a folder's ignore file. `text` is empty if the folder has no such file.
  void set_ignore_file(const std::string& folder, const std::optional<std::string>& text);

  /// Says whether tools have made the folder. It is left out like a folder that the built-in rules
  /// name. Returns whether that has changed.
  bool set_made_by_tools(const std::string& folder, bool is_made);
  /// The folder is gone, with everything below it.
  void forget(const std::string& folder);

  /// There is or was such a file, so the patterns that match it are no longer unmatched.
  void on_file(std::string_view path);
  /// The patterns that have matched no file so far, as given. A pattern with `!` is not among them.
  std::vector<std::string> unmatched() const;

  bool takes_file(std::string_view path) const { return takes(path, false); }
  /// Whether a folder with this name is left out unless a pattern or an ignore file names it.
  bool is_left_out_name(std::string_view name) const {
    return always_.ignores(name, true).value_or(false);
  }
  /// Whether the folder may contain watched files.
  bool takes_folder(std::string_view path) const { return takes(path, true); }

 private:
  struct Pattern {
    std::string text;
    bool leaves_out = false;
    bool has_matched = false;
    /// The part before the first wildcard; empty for the root of the file system.
    std::string root;
    /// The part after the root. Without a glob, the pattern matches the root and everything below
    /// it.
    std::optional<Glob> glob;
    /// How many folders below the root the glob reaches: 0 for the root's own files. Empty if there
    /// is no limit.
    std::optional<std::size_t> depth_max;
    /// The names that the pattern spells out after its first wildcard.
    std::set<std::string, std::less<>> names;
  };

  static Pattern parse(std::string_view text, std::string_view base);
  static bool matches(const Pattern& pattern, std::string_view path, bool is_folder);
  static bool reaches(const Pattern& pattern, std::string_view folder);
  bool takes(std::string_view path, bool is_folder) const;
  bool is_ignored(const Pattern& pattern, std::string_view path, bool is_folder) const;
  bool is_ignored_itself(std::string_view path, bool is_folder) const;

  std::string base_;
  std::vector<Pattern> patterns_;
  IgnoreRules always_;
  std::map<std::string, IgnoreRules, std::less<>> ignore_files_;
  std::set<std::string, std::less<>> made_;
};

/// Whether the path is the folder, or is in it at any depth. The root of the file system is an
/// empty path.
bool is_at_or_below(std::string_view path, std::string_view folder);

/// Removes the folder and everything below it from a map or a set of paths. Calls `visit` with each
/// element before.
template <class Paths, class Visit>
void erase_at_or_below(Paths& paths, const std::string& folder, Visit visit) {
  const auto erase = [&](auto from, auto to) {
    std::for_each(from, to, visit);
    paths.erase(from, to);
  };
  const auto [itself, next] = paths.equal_range(folder);
  erase(itself, next);
  // '0' is the character after the slash.
  erase(paths.lower_bound(folder + '/'), paths.lower_bound(folder + '0'));
}
template <class Paths>
void erase_at_or_below(Paths& paths, const std::string& folder) {
  erase_at_or_below(paths, folder, [](const auto&) {});
}

}  // namespace sitter
