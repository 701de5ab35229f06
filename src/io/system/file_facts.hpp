#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "io/system/file_descriptor.hpp"
#include "io/system/path_style.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// A time of the file system.
using FileTime = std::chrono::sys_time<std::chrono::nanoseconds>;

inline WallTime wall_time(FileTime time) {
  return std::chrono::time_point_cast<WallTime::duration>(time);
}

/// What the system tells about a file or a folder.
struct FileFacts {
  enum class Kind : std::uint8_t {
    file,
    folder,
    link,    ///< A symbolic link, or a junction of Windows.
    device,  ///< A device that takes characters, such as a terminal.
    other,
  };

  Kind kind = Kind::other;
  std::uint64_t size = 0;
  /// When the bytes of the file, or the entries of the folder, were last changed.
  FileTime written;
  /// When anything about it was last changed, such as its bytes, its name or its mode.
  FileTime changed;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;

  bool is_file() const { return kind == Kind::file; }
  bool is_folder() const { return kind == Kind::folder; }
  bool is_link() const { return kind == Kind::link; }
  /// Whether both are the same file or folder, under whichever name.
  bool is_same(const FileFacts& other) const {
    return device == other.device && inode == other.inode;
  }
};

/// The path as the system takes it. In the program, the path of a root has no slash at its end:
/// "" on POSIX, and "C:" on Windows, where that alone would be the working directory of the drive.
std::string system_path(const std::string& path);

/// Of what the path leads to. Nothing if there is nothing, or if we may not look.
std::optional<FileFacts> facts_of(const std::string& path);
/// The same, but of a link itself.
std::optional<FileFacts> facts_of_entry(const std::string& path);
std::optional<FileFacts> facts_of(const FileDescriptor& file);

/// What a link says: an absolute path, or a path from the folder of the link. Empty if there is no
/// link that can be read.
std::string link_text(const std::string& path);

/// The absolute path without any link. Empty if the path leads nowhere.
std::string real_path(const std::string& path);

/// Reads the entries of a folder, without those for itself and the folder above.
class FolderEntries {
 public:
  explicit FolderEntries(const std::string& path);
  FolderEntries(FolderEntries&& other) noexcept;
  FolderEntries& operator=(FolderEntries&& other) noexcept;
  ~FolderEntries();

  bool is_open() const { return system_ != nullptr; }
  /// Of the open folder, wherever it is now.
  FileFacts facts() const;

  struct Entry {
    std::string name;
    FileFacts facts;
  };
  /// Nothing at the end. An entry that vanishes meanwhile is left out.
  std::optional<Entry> next();

 private:
  struct System;

  std::unique_ptr<System> system_;
};

}  // namespace sitter
