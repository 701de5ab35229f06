#include "core/base/glob.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/text.hpp"

namespace sitter {
namespace {

constexpr std::string_view kNothing = "[^\\x00-\\xff]";

std::string quoted(char character) { return re2::RE2::QuoteMeta(re2::StringPiece(&character, 1)); }

/// Removes the first character from `text`, with the backslash that may stand before it. Returns
/// the character.
char take_literal(std::string_view& text) {
  if (text.front() == '\\' && text.size() > 1) text.remove_prefix(1);
  const char character = text.front();
  text.remove_prefix(1);
  return character;
}

/// Removes `[...]` from `text`. A set never matches a slash.
std::string take_set(std::string_view& text) {
  std::string_view rest = text.substr(1);
  const bool is_negated = rest.starts_with('!') || rest.starts_with('^');
  if (is_negated) rest.remove_prefix(1);
  std::string set = is_negated ? "[^/" : "[";
  bool is_first = true;
  while (!rest.empty() && (is_first || rest.front() != ']')) {
    is_first = false;
    const std::size_t named = rest.starts_with("[:") ? rest.find(":]") : rest.npos;
    if (named != rest.npos) {
      set += rest.substr(0, named + 2);
      rest.remove_prefix(named + 2);
      continue;
    }
    set += quoted(take_literal(rest));
    if (rest.size() >= 2 && rest.front() == '-' && rest[1] != ']') {
      rest.remove_prefix(1);
      set += '-' + quoted(take_literal(rest));
    }
  }
  text = {};
  if (rest.empty()) return std::string(kNothing);
  text = rest.substr(1);
  return set + ']';
}

/// `pattern` has no slash at either end.
std::string expression(std::string_view pattern, bool is_anchored) {
  std::string made = is_anchored ? "" : "(?:.*/)?";
  bool is_at_start = true;
  while (!pattern.empty()) {
    if (is_at_start && pattern.starts_with("**/")) {
      pattern.remove_prefix(3);
      made += "(?:.*/)?";
      continue;
    }
    if (is_at_start && pattern == "**") {
      made += ".+";
      break;
    }
    is_at_start = pattern.front() == '/';
    switch (pattern.front()) {
      case '*':
        pattern.remove_prefix(std::min(pattern.find_first_not_of('*'), pattern.size()));
        made += "[^/]*";
        break;
      case '?':
        pattern.remove_prefix(1);
        made += "[^/]";
        break;
      case '[':
        made += take_set(pattern);
        break;
      default:
        made += quoted(take_literal(pattern));
    }
  }
  return made;
}

/// Spaces at the end of a line do not count, except after a backslash.
std::string_view without_end(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  while (line.ends_with(' ') && !line.ends_with("\\ ")) line.remove_suffix(1);
  return line;
}

}  // namespace

Glob::Glob(std::string_view pattern) {
  if (pattern.ends_with('/')) {
    only_folders_ = true;
    pattern.remove_suffix(1);
  }
  const bool is_anchored = pattern.find('/') != pattern.npos;
  if (pattern.starts_with('/')) pattern.remove_prefix(1);
  re2::RE2::Options options(re2::RE2::Quiet);
  options.set_encoding(re2::RE2::Options::EncodingLatin1);
  options.set_dot_nl(true);
  auto made = std::make_shared<re2::RE2>(expression(pattern, is_anchored), options);
  // The pattern may contain an invalid set, such as [z-a].
  if (!made->ok()) made = std::make_shared<re2::RE2>(std::string(kNothing), options);
  expression_ = std::move(made);
}

bool Glob::matches(std::string_view path, bool is_folder) const {
  if (only_folders_ && !is_folder) return false;
  return re2::RE2::FullMatch(re2::StringPiece(path.data(), path.size()), *expression_);
}

IgnoreRules::IgnoreRules(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  for (std::string_view line : text_lines(text)) {
    line = without_end(line);
    if (line.empty() || line.front() == '#') continue;
    const bool ignores = line.front() != '!';
    if (!ignores) line.remove_prefix(1);
    if (!line.empty()) rules_.push_back({Glob(line), ignores});
  }
}

std::optional<bool> IgnoreRules::ignores(std::string_view path, bool is_folder) const {
  const auto last = std::find_if(rules_.rbegin(), rules_.rend(), [&](const Rule& rule) {
    return rule.glob.matches(path, is_folder);
  });
  if (last == rules_.rend()) return std::nullopt;
  return last->ignores;
}

}  // namespace sitter
