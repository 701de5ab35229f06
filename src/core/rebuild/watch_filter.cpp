#include "core/rebuild/watch_filter.hpp"

#include <algorithm>
#include <utility>

#include "core/base/ascii.hpp"

namespace sitter {
namespace {

/// These rules are weaker than every ignore file, so an ignore file can include such a name again.
/// The last line names what editors and file managers leave behind, the other lines what tools
/// make and nobody else.
constexpr std::string_view kAlwaysIgnored =
    ".git\nnode_modules\n__pycache__\n.venv\nvenv\n"
    ".tox\n.mypy_cache\n.pytest_cache\n.gradle\n.next\n.turbo\n"
    "*~\n.*.sw[a-px]\n4913\n.#*\n\\#*#\n.DS_Store\n";

constexpr std::string_view kWildcards = "*?[";

bool is_below(std::string_view path, std::string_view folder) {
  return path.size() > folder.size() && is_at_or_below(path, folder);
}

/// A name of a pattern without the backslashes that make characters literal. Empty if the name has
/// a wildcard.
std::optional<std::string> plain(std::string_view name) {
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (kWildcards.find(name[i]) != kWildcards.npos) return std::nullopt;
    if (name[i] == '\\' && i + 1 < name.size()) ++i;
    text += name[i];
  }
  return text;
}

std::vector<std::string_view> split(std::string_view path) {
  std::vector<std::string_view> names;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    if (end > 0) names.push_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return names;
}

/// Calls `visit` with each folder between `root` and `path`, and with `path` itself, until `visit`
/// returns true.
template <class Visit>
bool any_on_way(std::string_view root, std::string_view path, Visit visit) {
  std::size_t end = root.size();
  while (end < path.size()) {
    end = std::min(path.find('/', end + 1), path.size());
    if (visit(path.substr(0, end), end < path.size())) return true;
  }
  return false;
}

/// The path with a capital letter for its drive, as the system writes it.
std::string with_capital_drive(std::string path, PathStyle style) {
  const auto root = root_of(path, style);
  if (root && root->ends_with(':')) path.front() = ascii_upper(path.front());
  return path;
}

/// Follows the names down to the first one with a wildcard, which it returns. Never goes above the
/// root, which has this size.
auto descend(std::string& folder, std::size_t root_size,
             const std::vector<std::string_view>& names) {
  auto name = names.begin();
  for (; name != names.end(); ++name) {
    const auto word = plain(*name);
    if (!word) break;
    if (*word == ".") continue;
    if (*word == "..") {
      const std::size_t end = std::min(folder.rfind('/'), folder.size());
      folder.resize(std::max(end, root_size));
    } else {
      folder += '/' + *word;
    }
  }
  return name;
}

std::string_view last_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

WatchFilter::WatchFilter(const std::vector<std::string>& patterns, std::string base,
                         PathStyle style)
    : base_(with_capital_drive(std::move(base), style)),
      style_(style),
      always_(folded(kAlwaysIgnored, style)) {
  for (const std::string& pattern : patterns) patterns_.push_back(parse(pattern, base_, style));
}

WatchFilter::Pattern WatchFilter::parse(std::string_view given, std::string_view base,
                                        PathStyle style) {
  Pattern pattern;
  pattern.text = given;
  std::string slashed(given);
  if (style == PathStyle::windows) std::replace(slashed.begin(), slashed.end(), '\\', '/');
  std::string_view text = slashed;
  pattern.leaves_out = text.starts_with('!');
  if (pattern.leaves_out) text.remove_prefix(1);
  const bool only_folders = text.ends_with('/');
  const auto own_root = root_of(text, style);
  if (own_root) text.remove_prefix(own_root->size());
  const std::vector<std::string_view> names = split(text);
  // A single name matches at any depth, as in a gitignore file, if it is left out or has a
  // wildcard.
  const bool has_no_root = own_root.value_or("").empty();
  const bool is_name =
      has_no_root && names.size() == 1 && (pattern.leaves_out || !plain(names.front()));
  if (is_name) {
    if (!pattern.leaves_out) pattern.named_root = base;
    pattern.root = folded(pattern.named_root, style);
    pattern.glob.emplace(folded(names.front(), style) + (only_folders ? "/" : ""));
    return pattern;
  }
  // Without a drive, "/a" is in the drive of the base.
  const bool is_from_root = own_root || text.starts_with('/');
  const std::string_view root = own_root.value_or(root_of(base, style).value_or(""));
  pattern.named_root =
      is_from_root ? with_capital_drive(std::string(root), style) : std::string(base);
  auto name = descend(pattern.named_root, root.size(), names);
  pattern.root = folded(pattern.named_root, style);
  if (name == names.end()) return pattern;
  std::string glob;
  pattern.depth_max = static_cast<std::size_t>(names.end() - name) - 1;
  for (; name != names.end(); ++name) {
    const std::string word = folded(*name, style);
    glob += '/' + word;
    if (word == "**") pattern.depth_max.reset();
    if (auto plain_word = plain(word)) pattern.names.insert(std::move(*plain_word));
  }
  pattern.glob.emplace(glob + (only_folders ? "/" : ""));
  return pattern;
}

std::vector<std::string> WatchFilter::roots() const {
  std::vector<std::string> roots;
  for (const Pattern& pattern : patterns_) {
    if (!pattern.leaves_out) roots.push_back(pattern.named_root);
  }
  return roots;
}

void WatchFilter::set_ignore_file(const std::string& folder,
                                  const std::optional<std::string>& text) {
  const std::string known = folded(folder, style_);
  ignore_files_.erase(known);
  if (text) ignore_files_.emplace(known, IgnoreRules(folded(*text, style_)));
}

bool WatchFilter::set_made_by_tools(const std::string& folder, bool is_made) {
  const std::string known = folded(folder, style_);
  return is_made ? made_.insert(known).second : made_.erase(known) > 0;
}

void WatchFilter::forget(const std::string& folder) {
  erase_at_or_below(ignore_files_, folded(folder, style_));
  erase_at_or_below(made_, folded(folder, style_));
}

void WatchFilter::on_file(std::string_view named) {
  const Folded path_here(named, style_);
  const std::string_view path = path_here.text();
  for (Pattern& pattern : patterns_) {
    if (pattern.leaves_out || pattern.has_matched) continue;
    pattern.has_matched = matches(pattern, path, false) && !is_ignored(pattern, path, false);
  }
}

std::vector<std::string> WatchFilter::unmatched() const {
  std::vector<std::string> unmatched;
  for (const Pattern& pattern : patterns_) {
    if (!pattern.leaves_out && !pattern.has_matched) unmatched.push_back(pattern.text);
  }
  return unmatched;
}

/// Whether the pattern matches the path, or a folder that contains the path.
bool WatchFilter::matches(const Pattern& pattern, std::string_view path, bool is_folder) {
  if (!pattern.glob) return is_at_or_below(path, pattern.root);
  if (!is_below(path, pattern.root)) return false;
  return any_on_way(pattern.root, path, [&](std::string_view part, bool has_more) {
    // Without a root of the pattern's own, the path may begin with any.
    const std::size_t slash = part.find('/', pattern.root.size());
    return pattern.glob->matches(part.substr(slash + 1), has_more || is_folder);
  });
}

/// Whether the pattern may match something in the folder.
bool WatchFilter::reaches(const Pattern& pattern, std::string_view folder) {
  if (!is_at_or_below(folder, pattern.root)) return false;
  if (!pattern.glob || !pattern.depth_max) return true;
  return split(folder.substr(pattern.root.size())).size() <= *pattern.depth_max ||
         matches(pattern, folder, true);
}

bool WatchFilter::takes(std::string_view path, bool is_folder) const {
  bool is_taken = false;
  for (const Pattern& pattern : patterns_) {
    if (pattern.leaves_out) {
      if (is_taken && matches(pattern, path, is_folder)) is_taken = false;
    } else if (!is_taken) {
      const bool is_meant = is_folder ? reaches(pattern, path) : matches(pattern, path, is_folder);
      is_taken = is_meant && !is_ignored(pattern, path, is_folder);
    }
  }
  return is_taken;
}

bool WatchFilter::is_ignored(const Pattern& pattern, std::string_view path, bool is_folder) const {
  if (path == pattern.root) return false;
  return any_on_way(pattern.root, path, [&](std::string_view part, bool has_more) {
    return !pattern.names.contains(last_name(part)) &&
           is_ignored_itself(part, has_more || is_folder);
  });
}

/// The nearest ignore file with a rule for the path decides.
bool WatchFilter::is_ignored_itself(std::string_view path, bool is_folder) const {
  for (std::size_t end = path.rfind('/'); end != path.npos;
       end = end == 0 ? path.npos : path.rfind('/', end - 1)) {
    const auto file = ignore_files_.find(path.substr(0, end));
    if (file == ignore_files_.end()) continue;
    if (const auto verdict = file->second.ignores(path.substr(end + 1), is_folder)) return *verdict;
  }
  return always_.ignores(last_name(path), is_folder).value_or(made_.contains(path));
}

}  // namespace sitter
