#include "setup/shown_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "terminal/hunk.hpp"

namespace sitter::setup {
namespace {

constexpr std::size_t kContext = 3;

/// The members of an entry whose values are secret.
constexpr std::array<std::string_view, 6> kSecretMembers = {
    "env", "environment", "headers", "http_headers", "auth", "oauth"};

/// Only the entry itself is shown, and not what is secret in it.
bool is_secret(const Path& path, const Path& entry) {
  if (path.size() < entry.size() || !std::equal(entry.begin(), entry.end(), path.begin())) {
    return true;
  }
  return std::any_of(path.begin() + static_cast<std::ptrdiff_t>(entry.size()), path.end(),
                     [](const std::string& key) {
                       return std::find(kSecretMembers.begin(), kSecretMembers.end(), key) !=
                              kSecretMembers.end();
                     });
}

/// A user, a password or a query in an address may be secret.
bool is_secret_address(std::string_view text) {
  const std::size_t begin = text.find("://");
  return begin != text.npos && text.find_first_of("@?", begin) != text.npos;
}

std::string written(Hunk::Range range) {
  // An empty range names the line before it.
  return fmt::format("{},{}", range.count == 0 ? range.begin : range.begin + 1, range.count);
}

}  // namespace

std::string without_secrets(const Document& document, const Path& entry) {
  auto strings = document.strings();
  std::sort(strings.begin(), strings.end(),
            [](const auto& a, const auto& b) { return a.span.begin < b.span.begin; });
  const std::string_view text = document.text();
  std::string shown;
  std::size_t at = 0;
  for (const Document::String& each : strings) {
    const std::string_view string = text.substr(each.span.begin, each.span.end - each.span.begin);
    if (!is_secret(each.path, entry) && !is_secret_address(string)) continue;
    shown += text.substr(at, each.span.begin - at);
    shown += "***";
    at = each.span.end;
  }
  shown += text.substr(at);
  return shown;
}

std::string unified_diff(const std::string& name, const std::string& before,
                         const std::string& after) {
  const auto changed = hunk(before, after, kContext);
  if (!changed) return {};
  std::string diff = fmt::format("--- {}\n+++ {}\n@@ -{} +{} @@\n", name, name,
                                 written(changed->before), written(changed->after));
  for (const std::string& line : changed->lines) {
    diff += line;
    if (!line.ends_with('\n')) diff += "\n\\ No newline at end of file\n";
  }
  return diff;
}

}  // namespace sitter::setup
