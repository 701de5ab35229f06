#include "setup/shown_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

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

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::size_t length = end == text.npos ? text.size() : end + 1;
    lines.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return lines;
}

std::string range(std::size_t begin, std::size_t count) {
  // An empty range names the line before it.
  return fmt::format("{},{}", count == 0 ? begin : begin + 1, count);
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
  const auto old_lines = lines_of(before);
  const auto new_lines = lines_of(after);
  const std::size_t shorter = std::min(old_lines.size(), new_lines.size());
  std::size_t same = 0;
  while (same < shorter && old_lines[same] == new_lines[same]) ++same;
  if (same == old_lines.size() && same == new_lines.size()) return {};
  std::size_t tail = 0;
  while (tail < shorter - same &&
         old_lines[old_lines.size() - 1 - tail] == new_lines[new_lines.size() - 1 - tail]) {
    ++tail;
  }
  const std::size_t begin = same - std::min(same, kContext);
  const std::size_t context = std::min(tail, kContext);
  const std::size_t old_end = old_lines.size() - tail;
  const std::size_t new_end = new_lines.size() - tail;

  std::string diff =
      fmt::format("--- {}\n+++ {}\n@@ -{} +{} @@\n", name, name,
                  range(begin, old_end + context - begin), range(begin, new_end + context - begin));
  const auto show = [&](char sign, std::string_view line) {
    diff += sign;
    diff += line;
    if (!line.ends_with('\n')) diff += "\n\\ No newline at end of file\n";
  };
  for (std::size_t i = begin; i < same; ++i) show(' ', old_lines[i]);
  for (std::size_t i = same; i < old_end; ++i) show('-', old_lines[i]);
  for (std::size_t i = same; i < new_end; ++i) show('+', new_lines[i]);
  for (std::size_t i = old_end; i < old_end + context; ++i) show(' ', old_lines[i]);
  return diff;
}

}  // namespace sitter::setup
