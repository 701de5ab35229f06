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
  const std::string& path() const { return path_; }

  /// Keeps this text, or the fact that there was no file.
  void keep(const std::optional<std::string>& text) const;
  void remove() const;

 private:
  std::string file_;
  std::string path_;
  /// An empty file of this name says that there was no settings file.
  std::string absent_;
};

}  // namespace sitter::setup
