#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
}

namespace sitter {

/// A pattern for paths as git reads it (gitignore(5)). `*` and `?` do not match a slash, `[...]`
/// matches one character, `**` between slashes matches any number of folders, and `\` makes the
/// next character literal. A pattern with a slash before its end is relative to a folder. A pattern
/// without such a slash matches a name at any depth below that folder. A pattern that ends in a
/// slash matches only folders.
class Glob {
 public:
  /// Every text is a valid pattern. An unfinished `[` matches nothing, as with git.
  explicit Glob(std::string_view pattern);

  /// `path` is relative to that folder and has no slash at either end. The pattern is matched byte
  /// by byte, and case matters.
  bool matches(std::string_view path, bool is_folder) const;

 private:
  std::shared_ptr<const re2::RE2> expression_;
  bool only_folders_ = false;
};

/// The lines of a gitignore file. The last line that matches decides.
class IgnoreRules {
 public:
  explicit IgnoreRules(std::string_view text);

  /// Empty if no line matches. `path` has the same form as for Glob::matches. This function does
  /// not check whether a folder that contains the path is ignored.
  std::optional<bool> ignores(std::string_view path, bool is_folder) const;

 private:
  struct Rule {
    Glob glob;
    bool ignores;
  };
  std::vector<Rule> rules_;
};

}  // namespace sitter
