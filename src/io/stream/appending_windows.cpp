#include "io/stream/appending.hpp"
#include "io/system/user_only_windows.hpp"
#include "io/system/windows.hpp"

namespace sitter {
namespace {

std::error_code error_of(DWORD number) {
  return {static_cast<int>(number), std::system_category()};
}

}  // namespace

FileDescriptor open_to_append(const std::string& path, std::error_code& error) {
  windows::UserOnly user;
  // With the right to append, and without the right to write, all writes go to the end
  // (CreateFileW, FILE_APPEND_DATA). The right to read is for the lock.
  windows::Handle file(
      CreateFileW(windows::system_path(path).c_str(),
                  FILE_APPEND_DATA | FILE_READ_DATA | SYNCHRONIZE | FILE_READ_ATTRIBUTES,
                  FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, user.attributes(),
                  OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr));
  if (!file.is_open()) error = error_of(GetLastError());
  return windows::descriptor_of(std::move(file));
}

std::error_code append(const FileDescriptor& file, std::string_view text) {
  DWORD count = 0;
  if (!WriteFile(windows::handle_of(file), text.data(), static_cast<DWORD>(text.size()), &count,
                 nullptr)) {
    return error_of(GetLastError());
  }
  return count < text.size() ? error_of(ERROR_DISK_FULL) : std::error_code();
}

bool lock_alone(const FileDescriptor& file) {
  // Nobody can write the bytes of a lock, so it is far behind the end of the file (LockFileEx).
  OVERLAPPED place{};
  place.OffsetHigh = 0x7FFFFFFF;
  return LockFileEx(windows::handle_of(file), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY,
                    0, 1, 0, &place) != 0;
}

}  // namespace sitter
