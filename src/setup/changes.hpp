#pragma once

#include <optional>
#include <string>

#include "setup/clients.hpp"
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
  /// The same entry in another text of the file.
  EntryText in(std::optional<std::string> other) const { return {client, place, name, other}; }
};

/// The text with another entry under the name.
std::string with_entry(const EntryText& at, const Json& entry);

/// The change from this text to another one as a unified diff with three lines of context; empty if
/// they are the same. `***` stands for each string that may be a secret: all that is outside of the
/// entry, the values of the environment and of headers, and addresses with a password or a query.
std::string shown_change(const EntryText& at, const std::optional<std::string>& after);

/// The settings file as it was before one entry was changed, in a file beside it.
class SavedCopy {
 public:
  SavedCopy(const Place& place, const std::string& name);

  /// Nothing if no copy is kept, or if there was no settings file.
  std::optional<std::string> text() const;
  /// Whether a copy is kept.
  bool is_there() const;
  /// Whether the server was registered newly, so that the text does not hold it.
  bool is_of_new_server() const;
  /// The file with the text.
  std::string path() const;

  /// Keeps this text, or the fact that there was no file.
  void keep(const std::optional<std::string>& text, bool is_of_new_server) const;
  void remove() const;

 private:
  std::string file_;
  /// The name of the file says whether the server is in it.
  std::string path_, new_;
  /// An empty file of this name says that there was no settings file.
  std::string absent_;
};

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
