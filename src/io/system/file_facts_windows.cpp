#include <windows.h>
// winioctl.h comes after windows.h.
#include <winioctl.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

#include "io/system/file_facts.hpp"
#include "io/system/windows.hpp"

namespace sitter {
namespace {

constexpr DWORD kShared = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

/// Room for about a hundred entries.
constexpr std::size_t kEntriesBytes = 16 * 1024;

FileTime time_of(const FILETIME& time) {
  return FileTime(std::chrono::nanoseconds(windows::nanoseconds_of(time)));
}

FileTime time_of(const LARGE_INTEGER& time) {
  return time_of(FILETIME{time.LowPart, static_cast<DWORD>(time.HighPart)});
}

std::uint64_t joined(DWORD high, DWORD low) { return std::uint64_t{high} << 32 | low; }

/// Other reparse points, such as the files of OneDrive, are files and folders to everybody.
FileFacts::Kind kind_of(DWORD attributes, DWORD reparse_tag) {
  const bool is_link =
      (attributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0 &&
      (reparse_tag == IO_REPARSE_TAG_SYMLINK || reparse_tag == IO_REPARSE_TAG_MOUNT_POINT);
  if (is_link) return FileFacts::Kind::link;
  return (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0 ? FileFacts::Kind::folder
                                                      : FileFacts::Kind::file;
}

/// FAT has no time of the last change.
FileTime changed_at(const LARGE_INTEGER& changed, FileTime written) {
  return changed.QuadPart == 0 ? written : time_of(changed);
}

windows::Handle opened(const std::string& path, DWORD access, DWORD flags = 0) {
  // The place of all roots is no folder.
  if (path.empty()) return {};
  // Without this flag, no folder is opened (CreateFileW, "Directories").
  return windows::Handle(CreateFileW(windows::system_path(system_path(path)).c_str(), access,
                                     kShared, nullptr, OPEN_EXISTING,
                                     FILE_FLAG_BACKUP_SEMANTICS | flags, nullptr));
}

std::optional<FileFacts> facts_behind(HANDLE file) {
  FileFacts facts;
  const DWORD type = GetFileType(file);
  if (type != FILE_TYPE_DISK) {
    if (type == FILE_TYPE_CHAR) facts.kind = FileFacts::Kind::device;
    return facts;
  }
  BY_HANDLE_FILE_INFORMATION known;
  if (!GetFileInformationByHandle(file, &known)) return std::nullopt;
  FILE_ATTRIBUTE_TAG_INFO tag{};
  GetFileInformationByHandleEx(file, FileAttributeTagInfo, &tag, sizeof tag);
  FILE_BASIC_INFO basic{};
  GetFileInformationByHandleEx(file, FileBasicInfo, &basic, sizeof basic);
  facts.kind = kind_of(known.dwFileAttributes, tag.ReparseTag);
  facts.size = joined(known.nFileSizeHigh, known.nFileSizeLow);
  facts.written = time_of(known.ftLastWriteTime);
  facts.changed = changed_at(basic.ChangeTime, facts.written);
  facts.device = known.dwVolumeSerialNumber;
  facts.inode = joined(known.nFileIndexHigh, known.nFileIndexLow);
  return facts;
}

/// The buffer that FSCTL_GET_REPARSE_POINT fills (REPARSE_DATA_BUFFER). Both kinds of links begin
/// with the place of the name, in bytes behind the header.
struct LinkHead {
  DWORD tag;
  WORD size;
  WORD reserved;
  WORD name_at;
  WORD name_size;
  WORD shown_at;
  WORD shown_size;
};

}  // namespace

const PathStyle kPathStyle = PathStyle::windows;

std::optional<FileFacts> facts_of(const std::string& path) {
  windows::Handle file = opened(path, FILE_READ_ATTRIBUTES);
  // An alias of a packaged program, such as python.exe in WindowsApps, can be started only.
  if (!file.is_open() && GetLastError() == ERROR_CANT_ACCESS_FILE) {
    file = opened(path, FILE_READ_ATTRIBUTES, FILE_FLAG_OPEN_REPARSE_POINT);
  }
  return file.is_open() ? facts_behind(file.get()) : std::nullopt;
}

std::optional<FileFacts> facts_of_entry(const std::string& path) {
  const windows::Handle file = opened(path, FILE_READ_ATTRIBUTES, FILE_FLAG_OPEN_REPARSE_POINT);
  return file.is_open() ? facts_behind(file.get()) : std::nullopt;
}

std::optional<FileFacts> facts_of(const FileDescriptor& file) {
  const HANDLE handle = windows::handle_of(file);
  return handle != nullptr ? facts_behind(handle) : std::nullopt;
}

std::string link_text(const std::string& path) {
  const windows::Handle link = opened(path, 0, FILE_FLAG_OPEN_REPARSE_POINT);
  alignas(LinkHead) std::array<char, MAXIMUM_REPARSE_DATA_BUFFER_SIZE> buffer;
  DWORD size = 0;
  if (!link.is_open() || !DeviceIoControl(link.get(), FSCTL_GET_REPARSE_POINT, nullptr, 0,
                                          buffer.data(), buffer.size(), &size, nullptr)) {
    return {};
  }
  LinkHead head{};
  std::memcpy(&head, buffer.data(), sizeof head);
  const bool is_symbolic = head.tag == IO_REPARSE_TAG_SYMLINK;
  if (!is_symbolic && head.tag != IO_REPARSE_TAG_MOUNT_POINT) return {};
  // The head of a symbolic link has flags too.
  const std::size_t names_at = sizeof head + (is_symbolic ? sizeof(DWORD) : 0);
  if (names_at + head.name_at + head.name_size > size) return {};
  std::wstring name(head.name_size / sizeof(wchar_t), L'\0');
  std::memcpy(name.data(), buffer.data() + names_at + head.name_at, head.name_size);
  // The system's own form of an absolute path.
  if (name.starts_with(LR"(\??\)")) name[1] = L'\\';
  // A volume that is mounted in a folder has no other path.
  if (name.starts_with(LR"(\\?\Volume{)")) return {};
  std::string text = windows::generic_path(name);
  const bool has_no_drive = text.starts_with('/') && !text.starts_with("//");
  if (has_no_drive) text.insert(0, root_of(path, kPathStyle).value_or(""));
  return text;
}

std::string real_path(const std::string& path) {
  const windows::Handle file = opened(path, FILE_READ_ATTRIBUTES);
  if (!file.is_open()) return {};
  std::wstring name(GetFinalPathNameByHandleW(file.get(), nullptr, 0, 0), L'\0');
  name.resize(GetFinalPathNameByHandleW(file.get(), name.data(), static_cast<DWORD>(name.size()),
                                        FILE_NAME_NORMALIZED | VOLUME_NAME_DOS));
  return windows::generic_path(name);
}

struct FolderEntries::System {
  windows::Handle folder;
  std::uint64_t device = 0;
  alignas(FILE_ID_BOTH_DIR_INFO) std::array<char, kEntriesBytes> buffer;
  /// Where the next entry begins; null when the buffer is empty.
  const char* next = nullptr;
};

FolderEntries::FolderEntries(const std::string& path) {
  windows::Handle folder = opened(path, FILE_LIST_DIRECTORY | FILE_READ_ATTRIBUTES);
  const auto facts = folder.is_open() ? facts_behind(folder.get()) : std::nullopt;
  if (!facts || !facts->is_folder()) return;
  system_ = std::make_unique<System>();
  system_->folder = std::move(folder);
  system_->device = facts->device;
}

FolderEntries::FolderEntries(FolderEntries&& other) noexcept = default;
FolderEntries& FolderEntries::operator=(FolderEntries&& other) noexcept = default;
FolderEntries::~FolderEntries() = default;

FileFacts FolderEntries::facts() const {
  return facts_behind(system_->folder.get()).value_or(FileFacts());
}

std::optional<FolderEntries::Entry> FolderEntries::next() {
  while (true) {
    if (system_->next == nullptr) {
      if (!GetFileInformationByHandleEx(system_->folder.get(), FileIdBothDirectoryInfo,
                                        system_->buffer.data(),
                                        static_cast<DWORD>(system_->buffer.size()))) {
        return std::nullopt;
      }
      system_->next = system_->buffer.data();
    }
    FILE_ID_BOTH_DIR_INFO known;
    const char* const at = system_->next;
    std::memcpy(&known, at, offsetof(FILE_ID_BOTH_DIR_INFO, FileName));
    std::wstring name(known.FileNameLength / sizeof(wchar_t), L'\0');
    std::memcpy(name.data(), at + offsetof(FILE_ID_BOTH_DIR_INFO, FileName), known.FileNameLength);
    system_->next = known.NextEntryOffset == 0 ? nullptr : at + known.NextEntryOffset;
    if (name == L"." || name == L"..") continue;
    // Of a reparse point, this member has the tag ([MS-FSCC] 2.4.17,
    // FileIdBothDirectoryInformation).
    const FileFacts::Kind kind = kind_of(known.FileAttributes, known.EaSize);
    const FileTime written = time_of(known.LastWriteTime);
    return Entry{windows::utf8(name),
                 {kind, static_cast<std::uint64_t>(known.EndOfFile.QuadPart), written,
                  changed_at(known.ChangeTime, written), system_->device,
                  static_cast<std::uint64_t>(known.FileId.QuadPart)}};
  }
}

}  // namespace sitter
