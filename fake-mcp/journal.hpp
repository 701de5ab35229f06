#pragma once

#include <optional>
#include <string>

namespace sitter::fake {

/// A file to which this process adds lines. Each line is one write, so several processes may share
/// the file.
class Journal {
 public:
  /// Exits with 1 and a sentence on stderr if the file cannot be written. Without a file, nothing
  /// is kept.
  explicit Journal(const std::optional<std::string>& file);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  bool is_kept() const { return descriptor_ >= 0; }

  /// Adds a line end.
  void add(std::string line) const;

 private:
  int descriptor_ = -1;
};

}  // namespace sitter::fake
