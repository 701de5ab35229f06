#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <random>
#include <utility>

#include "core/base/paths.hpp"
#include "io/system/file_descriptor.hpp"
#include "io/system/path_style.hpp"
#include "io/system/private_file.hpp"
#include "io/system/user_only_windows.hpp"
#include "io/system/windows.hpp"
#include "setup/settings_file.hpp"
#include "setup/temporary_file.hpp"

namespace sitter::setup {
namespace {

namespace fs = std::filesystem;

}  // namespace

SettingsLock::SettingsLock(const std::string& path) {
  std::error_code error;
  const std::string folder = fs::absolute(path, error).parent_path().generic_string();
  const std::size_t number = std::hash<std::string>()(folded(folder, kPathStyle));
  windows::UserOnly user;
  // The same in all sessions of the user.
  const std::wstring name = windows::wide(fmt::format("Global\\mcp-sitter-settings-{:x}", number));
  const HANDLE mutex = CreateMutexW(user.attributes(), FALSE, name.c_str());
  if (mutex == nullptr) return;
  // A run that was killed gives up the mutex (WAIT_ABANDONED).
  WaitForSingleObject(mutex, INFINITE);
  held_ = std::shared_ptr<void>(mutex, [](HANDLE held) {
    ReleaseMutex(held);
    CloseHandle(held);
  });
}

const std::string_view kAllowWriting = "allow writing with attrib -r";

bool is_read_only(const std::string& path) {
  const std::wstring name = windows::system_path(path);
  const DWORD attributes = GetFileAttributesW(name.c_str());
  if (attributes == INVALID_FILE_ATTRIBUTES || (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0) {
    return false;
  }
  if ((attributes & FILE_ATTRIBUTE_READONLY) != 0) return true;
  const windows::Handle file(CreateFileW(name.c_str(), FILE_WRITE_DATA,
                                         FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                         nullptr, OPEN_EXISTING, 0, nullptr));
  return !file.is_open() && GetLastError() == ERROR_ACCESS_DENIED;
}

struct TemporaryFile::System {
  std::string path;
  windows::Handle file;
  DWORD error = ERROR_SUCCESS;
  bool is_only_copy = false;

  bool noted(bool is_done) {
    if (!is_done) error = GetLastError();
    return is_done;
  }

  /// Whether the file is deleted when it is closed, also by the end of the process
  /// (FILE_DISPOSITION_INFO).
  bool vanish(bool is_on) {
    FILE_DISPOSITION_INFO disposition{static_cast<BOOLEAN>(is_on)};
    return SetFileInformationByHandle(file.get(), FileDispositionInfo, &disposition,
                                      sizeof disposition) != 0;
  }
};

TemporaryFile::TemporaryFile(const std::string& beside) : system_(std::make_unique<System>()) {
  const std::string name = fmt::format(".mcp-sitter-{:08x}", std::random_device()());
  system_->path = (fs::path(beside).parent_path() / name).generic_string();
  windows::UserOnly user;
  system_->file = windows::Handle(
      CreateFileW(windows::system_path(system_->path).c_str(), GENERIC_WRITE | DELETE,
                  FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, user.attributes(),
                  CREATE_NEW, FILE_ATTRIBUTE_NORMAL, nullptr));
  if (system_->noted(is_open())) system_->vanish(true);
}

TemporaryFile::~TemporaryFile() {
  if (!is_open() && !system_->is_only_copy) delete_file(system_->path);
}

bool TemporaryFile::is_open() const { return system_->file.is_open(); }

bool TemporaryFile::write(std::string_view text) {
  while (!text.empty()) {
    DWORD count = 0;
    if (!system_->noted(WriteFile(system_->file.get(), text.data(), static_cast<DWORD>(text.size()),
                                  &count, nullptr) != 0)) {
      return false;
    }
    text.remove_prefix(count);
  }
  return system_->noted(FlushFileBuffers(system_->file.get()) != 0);
}

// ReplaceFileW keeps the rights, the attributes and the times of the file that it replaces. A copy
// stays private.
bool TemporaryFile::resemble(const std::string&) { return true; }
bool TemporaryFile::make_private() { return true; }

bool TemporaryFile::move_to(const std::string& path) {
  if (!system_->noted(system_->vanish(false))) return false;
  system_->file.close();
  const std::wstring from = windows::system_path(system_->path);
  const std::wstring to = windows::system_path(path);
  const auto is_there = [&] { return GetFileAttributesW(to.c_str()) != INVALID_FILE_ATTRIBUTES; };
  const auto is_moved = [&] {
    return MoveFileExW(from.c_str(), to.c_str(), MOVEFILE_WRITE_THROUGH) != 0;
  };
  if (!is_there()) return system_->noted(is_moved());
  if (system_->noted(ReplaceFileW(to.c_str(), from.c_str(), nullptr, 0, nullptr, nullptr) != 0)) {
    return true;
  }
  // After two of the errors, the old file is gone, and the new one has its own name still
  // (ReplaceFile).
  if (is_there()) return false;
  system_->is_only_copy = !is_moved();
  return !system_->is_only_copy;
}

std::string TemporaryFile::problem() const {
  std::string text = windows::error_text(system_->error);
  if (system_->is_only_copy)
    text += fmt::format(", and what was to be written is in {}", system_->path);
  return text;
}

}  // namespace sitter::setup
