#include "setup/changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>

#include "setup/failure.hpp"

namespace sitter::setup {
namespace {

void take_out(Json& values, const Path& path) {
  Json* outer = &values;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) outer = &(*outer)[path[i]];
  outer->erase(path.back());
}

/// Whether the text can be read and says exactly this.
bool says(const EntryText& at, const std::string& text, const Json& values) {
  try {
    return says_the_same(Document::read(at.client.notation, text, at.place.file)->values(), values);
  } catch (const Failure&) {
    return false;
  }
}

/// Removes the entry, and the objects around it that are empty then and were not there before.
std::string without_entry(const EntryText& at, const Document& before) {
  const std::string& name = at.place.file;
  std::string text = at.document()->without(at.path());
  Json wanted = at.document()->values();
  take_out(wanted, at.path());
  for (Path path = at.place.servers; !path.empty(); path.pop_back()) {
    const auto document = Document::read(at.client.notation, text, name);
    const Json* const left = find(document->values(), path);
    if (left != nullptr) {
      if (!left->empty() || find(before.values(), path) != nullptr) break;
      text = document->without(path);
    }
    // In TOML, a table without a header of its own is gone with the last table in it.
    take_out(wanted, path);
  }
  if (!says(at, text, wanted)) {
    throw Failure{fmt::format("'{}' cannot be taken out of {}; edit it by hand", at.name, name)};
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
    throw Failure{fmt::format("{}, and '{}' in {} has no command behind --; edit the entry by hand",
                              why, at.name, at.place.file)};
  }
  return {with_entry(at, with_words(wrapped, at.client.spelling, words)), false};
}

Undone by_copy(const EntryText& at, const Json& wrapped, const SavedCopy& saved) {
  const auto copy = saved.text();
  const EntryText old{at.client, at.place, at.name, copy};
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
  const Json wanted = Document::read(at.client.notation, edited, at.place.file)->values();
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

Undone undone(const EntryText& at, const SavedCopy& copy) {
  const auto entry = at.entry();
  const Server server = read_server(entry.value_or(Json()), at.client.spelling);
  if (!is_wrapped(server.words)) {
    throw Failure{fmt::format("'{}' in {} is not wrapped, so there is nothing to undo", at.name,
                              at.place.file)};
  }
  return copy.is_there() ? by_copy(at, *entry, copy)
                         : by_words(at, *entry, "the copy from before is gone");
}

}  // namespace sitter::setup
