#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace sitter::setup {

/// How the user allows that a file or a folder is written, as a clause without a full stop.
extern const std::string_view kAllowWriting;

/// Whether nobody is to write the file, or whether we may not. On Windows, no folder is read-only.
bool is_read_only(const std::string& path);

/// A new file that only its user can read. It vanishes unless it is moved to its place, also if a
/// signal ends the process.
class TemporaryFile {
 public:
  /// Makes the file in the same folder as another one.
  explicit TemporaryFile(const std::string& beside);
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  bool is_open() const;

  /// Writes the whole text to the disk. False on failure.
  bool write(std::string_view text);

  /// Gives the file the mode and the owner of another one, now or when it takes its place.
  bool resemble(const std::string& other);
  /// After a failure to resemble another file.
  bool make_private();

  /// Moves the file to this place in one step, over the file that may be there.
  bool move_to(const std::string& path);

  /// Why the last call has failed.
  std::string problem() const;

 private:
  struct System;

  std::unique_ptr<System> system_;
};

}  // namespace sitter::setup
