#pragma once

#include <winsock2.h>
// winsock2.h comes before windows.h.
#include <windows.h>
// windows.h comes before all others.
#include <psapi.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "io/system/file_descriptor.hpp"

/// What all sources for Windows share. Text is UTF-8 and a path has slashes everywhere else, so
/// only these functions meet the wide strings of the system.
namespace sitter::windows {

/// The only owner of a handle, which its destructor closes.
class Handle {
 public:
  Handle() = default;
  /// Empty for INVALID_HANDLE_VALUE too.
  explicit Handle(HANDLE handle) : handle_(handle == INVALID_HANDLE_VALUE ? nullptr : handle) {}
  Handle(Handle&& other) noexcept : handle_(other.release()) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      close();
      handle_ = other.release();
    }
    return *this;
  }
  ~Handle() { close(); }

  bool is_open() const { return handle_ != nullptr; }
  HANDLE get() const { return handle_; }
  HANDLE release() { return std::exchange(handle_, nullptr); }
  void close() {
    if (handle_ != nullptr) CloseHandle(release());
  }

 private:
  HANDLE handle_ = nullptr;
};

/// The longest path of the system, in characters ("Maximum Path Length Limitation").
inline constexpr DWORD kPathMax = 32'768;

/// Bytes that are no UTF-8 become U+FFFD.
std::wstring wide(std::string_view text);
/// Half of a surrogate pair becomes U+FFFD.
std::string utf8(std::wstring_view text);

/// A path as the system takes it: with backslashes, and in the form that has no limit of 260
/// characters if it is absolute and long.
std::wstring system_path(std::string_view path);
/// The same in the other direction: with slashes, and without the prefix `\\?\`.
std::string generic_path(std::wstring_view path);

/// The path of cmd.exe, whatever the environment says. With backslashes, since cmd.exe takes a
/// slash in its own name for the beginning of a switch.
std::wstring command_interpreter();

/// What an error of the system means, as a clause without a full stop: "the file is in use".
std::string error_text(DWORD error);

/// A variable of this process. Empty if it is not set.
std::string variable(const char* name);

/// The descriptor that owns the handle from now on. Closed if the handle is.
FileDescriptor descriptor_of(Handle handle);
/// The handle behind a descriptor, which keeps it. Null for a closed one.
HANDLE handle_of(const FileDescriptor& descriptor);
/// Takes the handle out of a descriptor.
Handle take_handle(FileDescriptor descriptor);

/// A time of the system (100 ns since 1601) in nanoseconds since 1970.
std::int64_t nanoseconds_of(const FILETIME& time);

}  // namespace sitter::windows
