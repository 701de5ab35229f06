#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/glob.hpp"

namespace sitter {

/// Which files the user wants to be watched, as --watch and the gitignore files on the way say.
/// Paths are absolute, with slashes, and without `.`, `..` or a slash at the end.
///
/// A pattern without a wildcard is a path: a file, or a folder with everything below it. One with a
/// wildcard is read as a line of a gitignore file in `base`; `!` at the front leaves out what it
/// matches, and of several patterns the last that matches decides. What ignore files, and the rules
/// that are always there, say of a name counts for what a pattern has not named itself.
class WatchFilter {
 public:
  WatchFilter(const std::vector<std::string>& patterns, std::string base);

  const std::string& base() const { return base_; }

  /// What the patterns name before their first wildcard: files, folders, or not there at all.
  std::vector<std::string> roots() const;

  /// The text of a folder's ignore file; empty if there is none.
  void set_ignore_file(const std::string& folder, const std::optional<std::string>& text);

  bool takes_file(std::string_view path) const { return takes(path, false); }
  /// Whether there may be files in it that are taken.
  bool takes_folder(std::string_view path) const { return takes(path, true); }

 private:
  struct Pattern {
    bool leaves_out = false;
    /// The part before the first wildcard; empty for the root of the file system.
    std::string root;
    /// From there; without one everything is meant.
    std::optional<Glob> glob;
    /// How far below the root the glob reaches: 0 for the root's own files. Empty: to any depth.
    std::optional<std::size_t> depth_max;
    /// Names that it spells out behind its first wildcard.
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
};

}  // namespace sitter
