#include "io/system/windows.hpp"

#include <fcntl.h>
#include <io.h>

#include <algorithm>

namespace sitter::windows {
namespace {

/// From this length on, a folder may be too long for the system (CreateDirectory: MAX_PATH - 12).
constexpr std::size_t kLongPath = MAX_PATH - 12;

bool has_drive(std::wstring_view path) {
  return path.size() > 2 && path[1] == L':' && path[2] == L'\\';
}

}  // namespace

std::wstring wide(std::string_view text) {
  const int size = static_cast<int>(text.size());
  const int length = MultiByteToWideChar(CP_UTF8, 0, text.data(), size, nullptr, 0);
  std::wstring result(static_cast<std::size_t>(length), L'\0');
  MultiByteToWideChar(CP_UTF8, 0, text.data(), size, result.data(), length);
  return result;
}

std::string utf8(std::wstring_view text) {
  const int size = static_cast<int>(text.size());
  const int length =
      WideCharToMultiByte(CP_UTF8, 0, text.data(), size, nullptr, 0, nullptr, nullptr);
  std::string result(static_cast<std::size_t>(length), '\0');
  WideCharToMultiByte(CP_UTF8, 0, text.data(), size, result.data(), length, nullptr, nullptr);
  return result;
}

std::wstring system_path(std::string_view path) {
  std::wstring result = wide(path);
  std::replace(result.begin(), result.end(), L'/', L'\\');
  if (result.size() < kLongPath || result.starts_with(LR"(\\?\)")) return result;
  if (has_drive(result)) return LR"(\\?\)" + result;
  if (result.starts_with(LR"(\\)")) return LR"(\\?\UNC)" + result.substr(1);
  return result;
}

std::string generic_path(std::wstring_view path) {
  std::wstring result(path);
  if (result.starts_with(LR"(\\?\UNC\)")) {
    result.replace(0, 7, L"\\");
  } else if (result.starts_with(LR"(\\?\)")) {
    result.erase(0, 4);
  }
  std::replace(result.begin(), result.end(), L'\\', L'/');
  return utf8(result);
}

std::wstring command_interpreter() {
  std::wstring path(MAX_PATH, L'\0');
  path.resize(GetSystemDirectoryW(path.data(), MAX_PATH));
  return path + LR"(\cmd.exe)";
}

std::string error_text(DWORD error) {
  wchar_t text[512];
  DWORD size = 0;
  // Not every Windows has the texts in English. For 0, the system looks through its languages.
  for (const DWORD language : {DWORD{MAKELANGID(LANG_ENGLISH, SUBLANG_ENGLISH_US)}, DWORD{0}}) {
    if (size > 0) break;
    size = FormatMessageW(
        FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS | FORMAT_MESSAGE_MAX_WIDTH_MASK,
        nullptr, error, language, text, std::size(text), nullptr);
  }
  while (size > 0 && (text[size - 1] == L' ' || text[size - 1] == L'.')) --size;
  return size > 0 ? utf8({text, size}) : "error " + std::to_string(error);
}

std::string variable(const char* name) {
  const std::wstring wide_name = wide(name);
  std::wstring value(GetEnvironmentVariableW(wide_name.c_str(), nullptr, 0), L'\0');
  value.resize(
      GetEnvironmentVariableW(wide_name.c_str(), value.data(), static_cast<DWORD>(value.size())));
  return utf8(value);
}

FileDescriptor descriptor_of(Handle handle) {
  if (!handle.is_open()) return {};
  const int number = _open_osfhandle(reinterpret_cast<std::intptr_t>(handle.get()), _O_BINARY);
  if (number >= 0) handle.release();
  return FileDescriptor(number);
}

HANDLE handle_of(const FileDescriptor& descriptor) {
  if (!descriptor.is_open()) return nullptr;
  const auto handle = reinterpret_cast<HANDLE>(_get_osfhandle(descriptor.number()));
  return handle == INVALID_HANDLE_VALUE ? nullptr : handle;
}

Handle take_handle(FileDescriptor descriptor) {
  HANDLE copy = nullptr;
  const HANDLE self = GetCurrentProcess();
  const HANDLE handle = handle_of(descriptor);
  if (handle == nullptr ||
      !DuplicateHandle(self, handle, self, &copy, 0, FALSE, DUPLICATE_SAME_ACCESS)) {
    return {};
  }
  return Handle(copy);
}

std::int64_t nanoseconds_of(const FILETIME& time) {
  constexpr std::int64_t kFrom1601To1970 = 116'444'736'000'000'000;
  const std::int64_t ticks = static_cast<std::int64_t>(time.dwHighDateTime) << 32 |
                             static_cast<std::int64_t>(time.dwLowDateTime);
  return (ticks - kFrom1601To1970) * 100;
}

}  // namespace sitter::windows
