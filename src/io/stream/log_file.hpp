#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "io/system/file_descriptor.hpp"

namespace sitter {

namespace limits {

/// How large a log file becomes, and how many older ones are kept beside it.
inline constexpr std::size_t kLogFileMax = 10 * 1024 * 1024;
inline constexpr int kOldLogFiles = 2;

}  // namespace limits

/// A file for the lines of a log, which several processes may write at the same time. Only its user
/// may read it. When it is full, whichever process writes next renames it: `a.log` becomes
/// `a.1.log`, and that `a.2.log`.
class LogFile {
 public:
  /// Opens or makes the file, and the folders above it. Throws `std::system_error` if that fails,
  /// or if the path leads to what is no file: a FIFO would wait for its reader.
  explicit LogFile(std::string path);

  /// Appends a line, which has its line end. Throws `std::system_error` if that fails.
  void write(std::string_view line);

 private:
  void open();
  void make_room();
  std::string old_path(int number) const;

  std::string path_;
  FileDescriptor file_;
};

}  // namespace sitter
