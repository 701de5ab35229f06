#include <fmt/format.h>
#include <io.h>

#include "io/system/file_descriptor.hpp"
#include "io/system/windows.hpp"

namespace sitter {

void FileDescriptor::close() {
  if (is_open()) _close(release());
}

// Only memory limits the handles of a process.
bool may_open_files(std::size_t) { return true; }

namespace {

/// Others may write, rename and delete it meanwhile.
windows::Handle open_to_read(const std::string& path) {
  return windows::Handle(CreateFileW(windows::system_path(path).c_str(), GENERIC_READ,
                                     FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                     nullptr, OPEN_EXISTING, 0, nullptr));
}

}  // namespace

std::string read_head(const std::string& path, std::size_t size_max) {
  const windows::Handle file = open_to_read(path);
  std::string head(size_max, '\0');
  DWORD count = 0;
  if (file.is_open() && GetFileType(file.get()) == FILE_TYPE_DISK) {
    ReadFile(file.get(), head.data(), static_cast<DWORD>(head.size()), &count, nullptr);
  }
  head.resize(count);
  return head;
}

std::optional<std::string> read_whole_file(const std::string& path, std::size_t size_max,
                                           std::string& problem) {
  const windows::Handle file = open_to_read(path);
  DWORD error = file.is_open() ? ERROR_SUCCESS : GetLastError();
  // A read of a pipe or a console would wait.
  if (file.is_open() && GetFileType(file.get()) != FILE_TYPE_DISK) error = ERROR_INVALID_HANDLE;
  std::string text(error == ERROR_SUCCESS ? size_max + 1 : 0, '\0');
  std::size_t length = 0;
  while (error == ERROR_SUCCESS && length < text.size()) {
    DWORD count = 0;
    if (!ReadFile(file.get(), text.data() + length, static_cast<DWORD>(text.size() - length),
                  &count, nullptr)) {
      error = GetLastError();
    }
    if (count == 0) break;
    length += count;
  }
  if (error != ERROR_SUCCESS) {
    const bool is_missing = error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND;
    problem = is_missing ? "no such file" : windows::error_text(error);
    return std::nullopt;
  }
  if (length > size_max) {
    problem = fmt::format("it has more than {} bytes", size_max);
    return std::nullopt;
  }
  text.resize(length);
  return text;
}

}  // namespace sitter
