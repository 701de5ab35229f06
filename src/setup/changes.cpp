#include "setup/changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "core/base/text.hpp"
#include "setup/settings_file.hpp"
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
  return std::any_of(
      path.begin() + as_offset(entry.size()), path.end(), [](const std::string& key) {
        return std::find(kSecretMembers.begin(), kSecretMembers.end(), key) != kSecretMembers.end();
      });
}

std::string written(Hunk::Range range) {
  // An empty range names the line before it.
  return fmt::format("{},{}", range.count == 0 ? range.begin : range.begin + 1, range.count);
}

/// The text with `***` for each secret.
std::string without_secrets(const Document& document, const Path& entry) {
  auto strings = document.strings();
  std::sort(strings.begin(), strings.end(),
            [](const auto& a, const auto& b) { return a.span.begin < b.span.begin; });
  const std::string_view text = document.text();
  std::string shown;
  std::size_t at = 0;
  std::string_view before;
  for (const Document::String& each : strings) {
    const bool is_hidden = is_secret(each.path, entry) || is_secret_word(each.value, before);
    before = each.value;
    if (!is_hidden) continue;
    shown += text.substr(at, each.span.begin - at);
    shown += "***";
    at = each.span.end;
  }
  shown += text.substr(at);
  return shown;
}

/// File systems allow 255 bytes, and the longest ending of ours needs some of them.
constexpr std::size_t kNameMax = 230;

/// Different texts give different names, and none of them holds a plus sign.
std::string encoded(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || c == '-' || c == '_' || c == '.') {
      name += c;
    } else {
      name += fmt::format("%{:02X}", byte);
    }
  }
  return name;
}

bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

/// A number that stands for a text (64-bit FNV-1a).
std::uint64_t digest(std::string_view text) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return hash;
}

void take_out(Json& values, const Path& path) {
  Json* outer = &values;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) outer = &(*outer)[path[i]];
  outer->erase(path.back());
}

/// Whether the text can be read and says exactly this.
bool says(const EntryText& at, const std::string& text, const Json& values) {
  try {
    return says_the_same(at.in(text).document()->values(), values);
  } catch (const Failure&) {
    return false;
  }
}

/// Removes the entry, and the objects around it that are empty then and were not there before.
std::string without_entry(const EntryText& at, const Document& before) {
  std::string text = at.document()->without(at.path());
  Json wanted = at.document()->values();
  take_out(wanted, at.path());
  for (Path path = at.place.servers; !path.empty(); path.pop_back()) {
    const auto document = at.in(text).document();
    const Json* const left = find(document->values(), path);
    if (left != nullptr) {
      if (!left->empty() || find(before.values(), path) != nullptr) break;
      text = document->without(path);
    }
    // In TOML, a table without a header of its own is gone with the last table in it.
    take_out(wanted, path);
  }
  if (!says(at, text, wanted)) {
    throw Failure{
        fmt::format("'{}' cannot be taken out of {}; edit it by hand", at.name, at.place.file)};
  }
  return text;
}

/// The text in which the bytes that differ between `ours` and `before` are those of `before`.
/// Nothing if these bytes of `ours` are not in the text, or more than once.
std::optional<std::string> put_back(const std::string& text, const std::string& ours,
                                    const std::string& before, bool takes_lines) {
  const std::size_t shorter = std::min(ours.size(), before.size());
  const auto first = std::mismatch(ours.begin(), ours.begin() + as_offset(shorter), before.begin());
  auto begin = static_cast<std::size_t>(first.first - ours.begin());
  const auto last =
      std::mismatch(ours.rbegin(), ours.rbegin() + as_offset(shorter - begin), before.rbegin());
  auto tail = static_cast<std::size_t>(last.first - ours.rbegin());
  while (takes_lines && begin > 0 && ours[begin - 1] != '\n') --begin;
  while (takes_lines && tail > 0 && ours[ours.size() - tail - 1] != '\n') --tail;
  const std::string changed = ours.substr(begin, ours.size() - tail - begin);
  const std::size_t at = changed.empty() ? text.npos : text.find(changed);
  if (at == text.npos || text.find(changed, at + 1) != text.npos) return std::nullopt;
  return text.substr(0, at) + before.substr(begin, before.size() - tail - begin) +
         text.substr(at + changed.size());
}

/// Without the copy: the command that stands behind the options of mcp-sitter.
Undone by_words(const EntryText& at, const Json& wrapped, std::string_view why) {
  const Words words = words_behind(read_server(wrapped, at.client.spelling).words);
  if (words.empty()) {
    throw Failure{fmt::format("{}, and '{}' in {} has no command after --; edit the entry by hand",
                              why, at.name, at.place.file)};
  }
  return {with_entry(at, with_words(wrapped, at.client.spelling, words)), false};
}

Undone by_copy(const EntryText& at, const Json& wrapped, const SavedCopy& saved) {
  const auto copy = saved.text();
  const EntryText old = at.in(copy);
  const auto before = old.document();
  const auto original = old.entry();
  const bool is_new = saved.is_of_new_server() && !original;
  const auto again = is_new     ? std::optional(wrapped)
                     : original ? wrapped_again(*original, wrapped, at.client.spelling)
                                : std::nullopt;
  if (!again) return by_words(at, wrapped, "the server was edited since");
  // This text says the right thing, but its layout may be new where a member comes back.
  const std::string edited =
      original ? rewritten(at.client.notation, *at.text, at.place.file, at.path(),
                           restored(*original, wrapped, at.client.spelling), before.get())
               : without_entry(at, *before);
  const Json wanted = at.in(edited).document()->values();
  const std::string ours = with_entry(old, *again);
  if (ours == at.text && says_the_same(before->values(), wanted)) return {copy, true};
  // Whole lines are seldom in a text twice, but one line may hold more than our change.
  for (const bool takes_lines : {true, false}) {
    auto text = put_back(*at.text, ours, before->text(), takes_lines);
    if (text && says(at, *text, wanted)) return {std::move(text), false};
  }
  return {edited, false};
}

}  // namespace

std::unique_ptr<Document> EntryText::document() const {
  return Document::read(client.notation, text.value_or(""), place.file);
}

std::optional<Json> EntryText::entry() const {
  const auto read = document();
  const Json* const found = find(read->values(), path());
  return found == nullptr ? std::nullopt : std::optional(*found);
}

std::string with_entry(const EntryText& at, const Json& entry) {
  return rewritten(at.client.notation, at.text.value_or(""), at.place.file, at.path(), entry);
}

std::string shown_change(const EntryText& at, const std::optional<std::string>& after) {
  const auto masked = [&](const std::optional<std::string>& text) {
    return without_secrets(*at.in(text).document(), at.path());
  };
  const auto changed = hunk(masked(at.text), masked(after), kContext);
  if (!changed) return {};
  std::string diff = fmt::format("--- {0}\n+++ {0}\n@@ -{1} +{2} @@\n", at.place.file,
                                 written(changed->before), written(changed->after));
  for (const std::string& line : changed->lines) {
    diff += line;
    if (!line.ends_with('\n')) diff += "\n\\ No newline at end of file\n";
  }
  return readable(diff);
}

SavedCopy::SavedCopy(const Place& place, const std::string& name) : file_(place.file) {
  const std::filesystem::path file(place.file);
  std::string ending = encoded(name);
  // One file may hold an entry of this name for each project.
  if (!place.project.empty()) ending += "+in+" + encoded(place.project);
  std::string copy = file.filename().generic_string() + ".before-mcp-sitter-" + ending;
  // Some file systems take a capital letter for a small one.
  if (copy.size() > kNameMax || std::any_of(name.begin(), name.end(), is_capital)) {
    copy = copy.substr(0, kNameMax - 20) + fmt::format("+{:016x}", digest(copy));
  }
  path_ = (file.parent_path() / copy).generic_string();
  new_ = path_ + "+new-server";
  absent_ = path_ + "+no-file";
}

bool SavedCopy::is_there() const { return text().has_value() || is_of_new_server(); }

bool SavedCopy::is_of_new_server() const {
  return read_settings(new_).has_value() || read_settings(absent_).has_value();
}

std::string SavedCopy::path() const { return is_of_new_server() ? new_ : path_; }

std::optional<std::string> SavedCopy::text() const {
  auto text = read_settings(path_);
  return text ? text : read_settings(new_);
}

void SavedCopy::keep(const std::optional<std::string>& text, bool is_of_new_server) const {
  const std::string& kept = !text ? absent_ : is_of_new_server ? new_ : path_;
  write_copy(kept, file_, text.value_or(""));
  for (const std::string& other : {path_, new_, absent_}) {
    if (other != kept) remove_file(other);
  }
}

void SavedCopy::remove() const {
  for (const std::string& file : {path_, new_, absent_}) remove_file(file);
}

Undone undone(const EntryText& at, const SavedCopy& copy) {
  const auto entry = at.entry();
  const Server server = read_server(entry.value_or(Json()), at.client.spelling);
  if (!is_wrapped(server.words)) {
    throw Failure{fmt::format("'{}' in {} is not wrapped, so there is nothing to undo{}{}", at.name,
                              at.place.file, server.problem.empty() ? "" : ": ", server.problem)};
  }
  return copy.is_there() ? by_copy(at, *entry, copy)
                         : by_words(at, *entry, "the copy from before is gone");
}

}  // namespace sitter::setup
