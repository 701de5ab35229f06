#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/glob.hpp"
#include "core/base/paths.hpp"

namespace sitter {

/// Decides which files are watched, according to the patterns of --watch and the ignore files in
/// the folders above each file. Paths are absolute and use slashes. They contain no `.` or `..`,
/// and do not end in a slash. Whether their case matters, and what else a pattern may look like,
/// is a matter of the style.
///
/// A pattern without a wildcard is a path: a file, or a folder with everything below it. A pattern
/// with a wildcard is read like a line of a gitignore file in `base`. A `!` at the front of a
/// pattern leaves out what it matches. If several patterns match, the last of them decides. Ignore
/// files and the built-in ignore rules apply to names that the pattern does not spell out itself.
class WatchFilter {
 public:
  WatchFilter(const std::vector<std::string>& patterns, std::string base,
              PathStyle style = PathStyle::posix);

  const std::string& base() const { return base_; }

  /// The part of each pattern before its first wildcard. A root may be a file, a folder, or a path
  /// that does not exist. A pattern with `!` has no root. The case is that of the pattern.
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

  bool takes_file(std::string_view path) const { return takes(Folded(path, style_).text(), false); }
  /// Whether a folder with this name is left out unless a pattern or an ignore file names it.
  bool is_left_out_name(std::string_view name) const {
    return always_.ignores(Folded(name, style_).text(), true).value_or(false);
  }
  /// Whether the folder may contain watched files.
  bool takes_folder(std::string_view path) const {
    return takes(Folded(path, style_).text(), true);
  }

 private:
  /// A path from outside, as it is compared here. Copies it only if it must.
  class Folded {
   public:
    Folded(std::string_view path, PathStyle style)
        : changed_(style == PathStyle::posix ? std::string() : folded(path, style)),
          text_(style == PathStyle::posix ? path : changed_) {}
    Folded(const Folded&) = delete;
    Folded& operator=(const Folded&) = delete;

    std::string_view text() const { return text_; }

   private:
    std::string changed_;
    std::string_view text_;
  };

  struct Pattern {
    std::string text;
    bool leaves_out = false;
    bool has_matched = false;
    /// The part before the first wildcard, as it was given; empty for the root of the file system.
    std::string named_root;
    /// The same, and everything below, as paths are compared.
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

  static Pattern parse(std::string_view text, std::string_view base, PathStyle style);
  static bool matches(const Pattern& pattern, std::string_view path, bool is_folder);
  static bool reaches(const Pattern& pattern, std::string_view folder);
  bool takes(std::string_view path, bool is_folder) const;
  bool is_ignored(const Pattern& pattern, std::string_view path, bool is_folder) const;
  bool is_ignored_itself(std::string_view path, bool is_folder) const;

  std::string base_;
  PathStyle style_;
  std::vector<Pattern> patterns_;
  IgnoreRules always_;
  std::map<std::string, IgnoreRules, std::less<>> ignore_files_;
  std::set<std::string, std::less<>> made_;
};

}  // namespace sitter
