#include "core/rebuild/watch_filter.hpp"

#include <algorithm>
#include <utility>

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
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
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

std::string_view last_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

WatchFilter::WatchFilter(const std::vector<std::string>& patterns, std::string base)
    : base_(std::move(base)), always_(kAlwaysIgnored) {
  for (const std::string& pattern : patterns) patterns_.push_back(parse(pattern, base_));
}

WatchFilter::Pattern WatchFilter::parse(std::string_view text, std::string_view base) {
  Pattern pattern;
  pattern.text = text;
  pattern.leaves_out = text.starts_with('!');
  if (pattern.leaves_out) text.remove_prefix(1);
  const bool only_folders = text.ends_with('/');
  const std::vector<std::string_view> names = split(text);
  // A single name matches at any depth, as in a gitignore file, if it is left out or has a
  // wildcard.
  const bool is_name = names.size() == 1 && (pattern.leaves_out || !plain(names.front()));
  if (is_name) {
    if (!pattern.leaves_out) pattern.root = base;
    pattern.glob.emplace(std::string(names.front()) + (only_folders ? "/" : ""));
    return pattern;
  }
  if (!text.starts_with('/')) pattern.root = base;
  auto name = names.begin();
  for (; name != names.end(); ++name) {
    const auto word = plain(*name);
    if (!word) break;
    if (*word == ".") continue;
    if (*word == "..") {
      pattern.root.resize(std::min(pattern.root.rfind('/'), pattern.root.size()));
    } else {
      pattern.root += '/' + *word;
    }
  }
  if (name == names.end()) return pattern;
  std::string glob;
  pattern.depth_max = static_cast<std::size_t>(names.end() - name) - 1;
  for (; name != names.end(); ++name) {
    glob += '/' + std::string(*name);
    if (*name == "**") pattern.depth_max.reset();
    if (auto word = plain(*name)) pattern.names.insert(std::move(*word));
  }
  pattern.glob.emplace(glob + (only_folders ? "/" : ""));
  return pattern;
}

std::vector<std::string> WatchFilter::roots() const {
  std::vector<std::string> roots;
  for (const Pattern& pattern : patterns_) {
    if (!pattern.leaves_out) roots.push_back(pattern.root);
  }
  return roots;
}

void WatchFilter::set_ignore_file(const std::string& folder,
                                  const std::optional<std::string>& text) {
  ignore_files_.erase(folder);
  if (text) ignore_files_.emplace(folder, IgnoreRules(*text));
}

bool WatchFilter::set_made_by_tools(const std::string& folder, bool is_made) {
  return is_made ? made_.insert(folder).second : made_.erase(folder) > 0;
}

void WatchFilter::forget(const std::string& folder) {
  erase_at_or_below(ignore_files_, folder);
  erase_at_or_below(made_, folder);
}

void WatchFilter::on_file(std::string_view path) {
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
    return pattern.glob->matches(part.substr(pattern.root.size() + 1), has_more || is_folder);
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

bool is_at_or_below(std::string_view path, std::string_view folder) {
  return path == folder || is_below(path, folder);
}

}  // namespace sitter
