#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
}

namespace sitter {

/// A pattern for paths as git reads it (gitignore(5)): `*` and `?` stop at a slash, `[...]` is one
/// character, `**` between slashes is any number of folders, `\` takes the next character as it is.
/// One with a slash before its end counts from a folder, one without is a name at any depth below
/// it; one that ends in a slash matches nothing but folders.
class Glob {
 public:
  /// Every text is a pattern. An unfinished `[` matches nothing, as with git.
  explicit Glob(std::string_view pattern);

  /// `path` counts from that folder and has no slash at its ends. Matching is done on bytes, and
  /// case counts.
  bool matches(std::string_view path, bool is_folder) const;

 private:
  std::shared_ptr<const re2::RE2> expression_;
  bool only_folders_ = false;
};

/// The lines of a gitignore file, of which the last one that matches decides.
class IgnoreRules {
 public:
  explicit IgnoreRules(std::string_view text);

  /// Empty if no line says anything about it. `path` as Glob has it. That what is in an ignored
  /// folder is ignored too is not looked at here.
  std::optional<bool> ignores(std::string_view path, bool is_folder) const;

 private:
  struct Rule {
    Glob glob;
    bool ignores;
  };
  std::vector<Rule> rules_;
};

}  // namespace sitter
