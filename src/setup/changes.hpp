#pragma once

#include <optional>
#include <string>

#include "setup/clients.hpp"
#include "setup/saved_copy.hpp"
#include "setup/server_entry.hpp"

namespace sitter::setup {

/// One entry in the text of a settings file. `text` is nothing if there is no such file.
struct EntryText {
  const Client& client;
  const Place& place;
  std::string name;
  std::optional<std::string> text;

  Path path() const { return place.servers / name; }
  std::unique_ptr<Document> document() const;
  /// The entry, or nothing.
  std::optional<Json> entry() const;
};

/// The text with another entry under the name.
std::string with_entry(const EntryText& at, const Json& entry);

/// What `undone` gives back.
struct Undone {
  /// Nothing: the file is removed, because there was none.
  std::optional<std::string> text;
  /// Whether the bytes are exactly those from before.
  bool is_exact = false;
};

/// The text as it was before mcp-sitter stood before the server. Without a copy, or if the server
/// was edited since, its command comes from the entry. Throws Failure if the server was not
/// wrapped, or cannot be told from the options.
Undone undone(const EntryText& at, const SavedCopy& copy);

}  // namespace sitter::setup
