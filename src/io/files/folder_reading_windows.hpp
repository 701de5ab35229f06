#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/system/windows.hpp"

namespace sitter {

/// An open folder, with the read that waits for what happens in it (ReadDirectoryChangesW).
class FolderReading {
 public:
  struct Change {
    /// FILE_ACTION_ADDED and so on.
    DWORD action = 0;
    /// Relative to the folder.
    std::string path;
  };

  /// Each read that ends sets the event, and each that starts resets it. A deep reading sees what
  /// happens in all folders below too, but not behind links.
  FolderReading(windows::Handle folder, HANDLE event, bool is_deep);
  FolderReading(const FolderReading&) = delete;
  FolderReading& operator=(const FolderReading&) = delete;
  ~FolderReading();

  bool is_deep() const { return is_deep_; }
  /// A deleted folder stays open here until it is closed.
  bool is_deleted() const;

  /// Returns an error of the system, or 0. Of a deleted folder, the read cannot be started.
  DWORD start();
  bool has_ended() const;
  /// What a read that has ended has brought. Nothing if more has happened than the system could
  /// keep.
  std::optional<std::vector<Change>> take();

 private:
  struct Room;

  windows::Handle folder_;
  /// Where the system writes until the read has ended.
  std::unique_ptr<Room> room_;
  const bool is_deep_;
  bool is_started_ = false;
};

}  // namespace sitter
