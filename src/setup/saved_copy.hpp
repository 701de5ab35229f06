#pragma once

#include <optional>
#include <string>

#include "setup/clients.hpp"

namespace sitter::setup {

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

}  // namespace sitter::setup
