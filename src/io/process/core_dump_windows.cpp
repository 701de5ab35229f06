#include <fmt/format.h>

#include <filesystem>

#include "core/base/shell_word.hpp"
#include "io/process/core_dump.hpp"
#include "io/system/windows.hpp"

namespace sitter {
namespace {

namespace fs = std::filesystem;

/// Windows Error Reporting writes crash dumps if this key exists, or one below it with the name of
/// the program ("Collecting User-Mode Dumps").
constexpr char kDumpsKey[] = R"(SOFTWARE\Microsoft\Windows\Windows Error Reporting\LocalDumps)";
constexpr char kFolderDefault[] = R"(%LOCALAPPDATA%\CrashDumps)";
constexpr DWORD kFolderMax = 32768;

bool has_key(const std::wstring& key) {
  HKEY opened = nullptr;
  if (RegOpenKeyExW(HKEY_LOCAL_MACHINE, key.c_str(), 0, KEY_READ, &opened) != ERROR_SUCCESS) {
    return false;
  }
  RegCloseKey(opened);
  return true;
}

/// With the variables in it replaced. Empty if it is not set.
std::wstring folder_in(const std::wstring& key) {
  std::wstring folder(kFolderMax, L'\0');
  DWORD size = kFolderMax * sizeof(wchar_t);
  if (RegGetValueW(HKEY_LOCAL_MACHINE, key.c_str(), L"DumpFolder", RRF_RT_REG_SZ, nullptr,
                   folder.data(), &size) != ERROR_SUCCESS) {
    return {};
  }
  // The size counts the zero at the end.
  folder.resize(size / sizeof(wchar_t) - 1);
  return folder;
}

std::wstring default_folder() {
  std::wstring folder(kFolderMax, L'\0');
  const DWORD size =
      ExpandEnvironmentStringsW(windows::wide(kFolderDefault).c_str(), folder.data(), kFolderMax);
  folder.resize(size > 0 ? size - 1 : 0);
  return folder;
}

/// Where the crash dumps of this program go. Empty if none are written.
std::string dump_folder_of(const std::string& program) {
  const std::wstring all = windows::wide(kDumpsKey);
  const std::wstring own = all + L'\\' + fs::path(program).filename().wstring();
  if (!has_key(all)) return {};
  for (const std::wstring& key : {own, all}) {
    if (std::wstring folder = folder_in(key); !folder.empty()) return windows::generic_path(folder);
  }
  return windows::generic_path(default_folder());
}

}  // namespace

bool leaves_core(const ExitStatus& status) { return status.by_exception(); }

CoreDump core_dump_of(const Reaped& ended, const std::string& program, const std::string& cwd,
                      WallTime started) {
  const std::string folder = dump_folder_of(program);
  if (folder.empty()) {
    return {
        fmt::format("It left no crash dump; to get one, create the key HKLM\\{} in the registry",
                    kDumpsKey),
        {}};
  }
  CoreDump dump = core_dump_at(folder, ended, program, cwd, started);
  // A shell or a wrapper ends with the exit code of the program behind it.
  if (dump.where.empty()) {
    dump.where = fmt::format("If it left a crash dump, that is in {}", shell_word(folder));
  }
  return dump;
}

// Here `pattern` is the folder: the names are fixed.
CoreDump core_dump_at(const std::string& pattern, const Reaped& ended, const std::string& program,
                      const std::string&, WallTime) {
  const std::string name = fs::path(program).filename().string();
  const fs::path file = fs::path(pattern) / fmt::format("{}.{}.dmp", name, ended.pid);
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return {};
  return {fmt::format("Its crash dump is {}, which Visual Studio and WinDbg open",
                      shell_word(file.generic_string())),
          {}};
}

struct StackReader::Reading {};

// No crash dump has a reader.
StackReader::StackReader(EventLoop&, const std::vector<std::string>&,
                         std::function<void(std::string)>) {}

StackReader::~StackReader() = default;

}  // namespace sitter
