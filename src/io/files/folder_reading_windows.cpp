#include "io/files/folder_reading_windows.hpp"

#include <cstddef>
#include <cstring>
#include <utility>

#include "sitter/bytes.hpp"

namespace sitter {
namespace {

/// What the system keeps of one folder until it is asked again: about 1000 events. More fails on a
/// share (ReadDirectoryChangesW).
constexpr std::size_t kEventBytes = 64 * limits::kKiB;

constexpr DWORD kEvents = FILE_NOTIFY_CHANGE_FILE_NAME | FILE_NOTIFY_CHANGE_DIR_NAME |
                          FILE_NOTIFY_CHANGE_LAST_WRITE | FILE_NOTIFY_CHANGE_SIZE;

/// How many milliseconds the end of a read is waited for.
constexpr int kEndTries = 100;

}  // namespace

struct FolderReading::Room {
  OVERLAPPED overlapped;
  DWORD events[kEventBytes / sizeof(DWORD)];
};

FolderReading::FolderReading(windows::Handle folder, HANDLE event, bool is_deep)
    : folder_(std::move(folder)), room_(std::make_unique_for_overwrite<Room>()), is_deep_(is_deep) {
  room_->overlapped = {};
  room_->overlapped.hEvent = event;
}

FolderReading::~FolderReading() {
  // This ends the read, mostly at once.
  folder_.close();
  for (int i = 0; i < kEndTries && !has_ended(); ++i) Sleep(i == 0 ? 0 : 1);
  if (!has_ended()) room_.release();
}

bool FolderReading::is_deleted() const {
  FILE_STANDARD_INFO known{};
  return !GetFileInformationByHandleEx(folder_.get(), FileStandardInfo, &known, sizeof known) ||
         known.DeletePending;
}

DWORD FolderReading::start() {
  is_started_ = ReadDirectoryChangesW(folder_.get(), room_->events, kEventBytes, is_deep_, kEvents,
                                      nullptr, &room_->overlapped, nullptr) != 0;
  return is_started_ ? ERROR_SUCCESS : GetLastError();
}

bool FolderReading::has_ended() const {
  return !is_started_ || HasOverlappedIoCompleted(&room_->overlapped);
}

std::optional<std::vector<FolderReading::Change>> FolderReading::take() {
  std::vector<Change> changes;
  // Of a folder that is deleted, the read ends with an error.
  const bool is_failed = static_cast<LONG>(room_->overlapped.Internal) < 0;
  if (!std::exchange(is_started_, false) || is_failed) return changes;
  const std::size_t size = room_->overlapped.InternalHigh;
  if (size == 0 || size > kEventBytes) return std::nullopt;
  const char* const bytes = reinterpret_cast<const char*>(room_->events);
  for (std::size_t at = 0;;) {
    FILE_NOTIFY_INFORMATION known;
    constexpr std::size_t kNameAt = offsetof(FILE_NOTIFY_INFORMATION, FileName);
    if (at + kNameAt > size) return changes;
    std::memcpy(&known, bytes + at, kNameAt);
    if (at + kNameAt + known.FileNameLength > size) return changes;
    std::wstring name(known.FileNameLength / sizeof(wchar_t), L'\0');
    std::memcpy(name.data(), bytes + at + kNameAt, known.FileNameLength);
    changes.push_back({known.Action, windows::generic_path(name)});
    if (known.NextEntryOffset == 0) return changes;
    at += known.NextEntryOffset;
  }
}

}  // namespace sitter
