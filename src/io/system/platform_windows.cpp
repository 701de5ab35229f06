#include "io/system/platform.hpp"
#include "io/system/user_folders.hpp"
#include "io/system/windows.hpp"

namespace sitter {

const UserFolders kUserFolders = kWindowsFolders;

}  // namespace sitter

namespace sitter::platform {

// Each child is in a job, to which all its descendants belong.
bool become_subreaper() { return true; }

// The system's own function needs no program.
std::vector<std::string> lookup_command() { return {}; }

long own_pid() { return static_cast<long>(GetCurrentProcessId()); }

bool has_own_process(long pid) {
  const windows::Handle process(
      OpenProcess(SYNCHRONIZE | PROCESS_TERMINATE, FALSE, static_cast<DWORD>(pid)));
  // The number of a process stays as long as anybody has it open.
  return process.is_open() && WaitForSingleObject(process.get(), 0) == WAIT_TIMEOUT;
}

std::string own_program() {
  std::wstring path(MAX_PATH, L'\0');
  while (true) {
    const DWORD size = GetModuleFileNameW(nullptr, path.data(), static_cast<DWORD>(path.size()));
    // A path that does not fit is cut (GetModuleFileName).
    if (size < path.size()) return windows::generic_path({path.data(), size});
    path.resize(2 * path.size());
  }
}

// The heap of the system does this by itself.
void give_back_freed_memory() {}

// The system takes code back by itself when memory is short.
void give_back_program() {}

}  // namespace sitter::platform
