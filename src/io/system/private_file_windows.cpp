#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "io/system/private_file.hpp"
#include "io/system/user_only_windows.hpp"
#include "io/system/windows.hpp"

namespace sitter {
namespace {

/// FileRenameInfoEx of FILE_INFO_BY_HANDLE_CLASS takes FILE_RENAME_INFO with flags in its first
/// member.
struct RenameHead {
  DWORD flags;
  HANDLE folder;
  DWORD name_size;
};

/// Renames as POSIX does (FILE_RENAME_FLAG_POSIX_SEMANTICS, Windows 10 1607 on NTFS): also over a
/// file that somebody has open.
bool rename_as_posix(const std::wstring& from, const std::wstring& to) {
  constexpr DWORD kReplace = 1;
  constexpr DWORD kAsPosix = 2;
  constexpr auto kRenameInfoEx = static_cast<FILE_INFO_BY_HANDLE_CLASS>(22);
  const windows::Handle file(CreateFileW(from.c_str(), DELETE | SYNCHRONIZE,
                                         FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                         nullptr, OPEN_EXISTING, 0, nullptr));
  if (!file.is_open()) return false;
  const RenameHead head{kReplace | kAsPosix, nullptr,
                        static_cast<DWORD>(to.size() * sizeof(wchar_t))};
  constexpr std::size_t kNameAt = offsetof(RenameHead, name_size) + sizeof(DWORD);
  std::vector<std::max_align_t> buffer(
      (kNameAt + head.name_size + sizeof(wchar_t)) / sizeof(std::max_align_t) + 1);
  char* const bytes = reinterpret_cast<char*>(buffer.data());
  std::memcpy(bytes, &head, kNameAt);
  std::memcpy(bytes + kNameAt, to.data(), head.name_size);
  return SetFileInformationByHandle(file.get(), kRenameInfoEx, bytes,
                                    static_cast<DWORD>(buffer.size() * sizeof(buffer[0]))) != 0;
}

}  // namespace

FileDescriptor create_private_file(const std::string& path) {
  windows::UserOnly user;
  return windows::descriptor_of(
      windows::Handle(CreateFileW(windows::system_path(path).c_str(), GENERIC_WRITE,
                                  FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                  user.attributes(), CREATE_NEW, FILE_ATTRIBUTE_NORMAL, nullptr)));
}

void make_private_folder(const std::string& path) {
  windows::UserOnly user;
  CreateDirectoryW(windows::system_path(path).c_str(), user.attributes());
}

bool write_whole(const FileDescriptor& file, std::string_view text) {
  constexpr std::size_t kWriteMax = 1 << 30;
  while (!text.empty()) {
    DWORD count = 0;
    const auto size = static_cast<DWORD>(std::min(text.size(), kWriteMax));
    if (!WriteFile(windows::handle_of(file), text.data(), size, &count, nullptr)) return false;
    text.remove_prefix(count);
  }
  return true;
}

std::error_code move_over(const std::string& from, const std::string& to) {
  const std::wstring here = windows::system_path(from);
  const std::wstring there = windows::system_path(to);
  if (rename_as_posix(here, there) ||
      MoveFileExW(here.c_str(), there.c_str(), MOVEFILE_REPLACE_EXISTING) != 0) {
    return {};
  }
  return {static_cast<int>(GetLastError()), std::system_category()};
}

}  // namespace sitter
