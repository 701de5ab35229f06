#include "setup/changes.hpp"

#include <fmt/format.h>

#include "setup/failure.hpp"

namespace sitter::setup {
namespace {

/// Removes the entry, and the objects around it that are empty then and were not there before.
std::string without_entry(const EntryText& at, const Document& before) {
  const std::string& name = at.place.file;
  std::string text = at.document()->without(at.path());
  for (Path path = at.place.servers; !path.empty(); path.pop_back()) {
    const auto document = Document::read(at.client.notation, text, name);
    const Json* const left = find(document->values(), path);
    if (left == nullptr || !left->empty() || find(before.values(), path) != nullptr) break;
    text = document->without(path);
  }
  return text;
}

Undone by_copy(const EntryText& at, const Json& wrapped, const std::optional<std::string>& copy) {
  const EntryText old{at.client, at.place, at.name, copy};
  const auto before = old.document();
  const auto original = old.entry();
  if (!original) {
    if (with_entry(old, wrapped) == at.text) return {copy, true};
    return {without_entry(at, *before), false};
  }
  const Spelling& spelling = at.client.spelling;
  const bool is_only_ours = says_the_same(only_wrapped(*original, wrapped, spelling), wrapped);
  if (is_only_ours) {
    const std::string expected = with_entry(old, wrapped);
    if (expected == at.text) return {copy, true};
    const auto document = at.document();
    const auto raw = before->raw(at.path());
    const auto ours = Document::read(at.client.notation, expected, at.place.file)->raw(at.path());
    if (raw && document->raw(at.path()) == ours)
      return {document->with_raw(at.path(), *raw), false};
  }
  return {rewritten(at.client.notation, *at.text, at.place.file, at.path(),
                    restored(*original, wrapped, spelling), before.get()),
          false};
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

Undone undone(const EntryText& at, bool has_copy, const std::optional<std::string>& copy) {
  const auto entry = at.entry();
  const Server server = read_server(entry.value_or(Json()), at.client.spelling);
  if (!is_wrapped(server.words)) {
    throw Failure{fmt::format("'{}' in {} is not wrapped, so there is nothing to undo", at.name,
                              at.place.file)};
  }
  if (has_copy) return by_copy(at, *entry, copy);
  const Words words = words_behind(server.words);
  if (words.empty()) {
    throw Failure{fmt::format(
        "the copy of {} from before is gone, and '{}' has no command behind --; edit the entry by "
        "hand",
        at.place.file, at.name)};
  }
  return {with_entry(at, with_words(*entry, at.client.spelling, words)), false};
}

}  // namespace sitter::setup
