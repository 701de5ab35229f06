#include <map>
#include <set>
#include <string>
#include <string_view>

#include "io/process/process_table.hpp"
#include "io/system/windows.hpp"

namespace sitter {
namespace {

using windows::Handle;

/// The names of the drives by their devices: "\Device\HarddiskVolume3" is "C:".
std::map<std::wstring, std::wstring> drives() {
  std::map<std::wstring, std::wstring> found;
  for (wchar_t letter = L'A'; letter <= L'Z'; ++letter) {
    const std::wstring drive{letter, L':'};
    wchar_t device[MAX_PATH];
    if (QueryDosDeviceW(drive.c_str(), device, MAX_PATH) != 0) found.emplace(device, drive);
  }
  return found;
}

/// The path of a file that is given with its device. Empty if no drive has it.
std::string path_on_drive(std::wstring_view file, const std::map<std::wstring, std::wstring>& all) {
  // wine gives the path with its drive.
  constexpr std::wstring_view kWithDrive = LR"(\??\)";
  if (file.starts_with(kWithDrive)) return windows::generic_path(file.substr(kWithDrive.size()));
  for (const auto& [device, drive] : all) {
    if (file.size() > device.size() && file.starts_with(device) && file[device.size()] == L'\\') {
      return windows::generic_path(drive + std::wstring(file.substr(device.size())));
    }
  }
  return {};
}

}  // namespace

bool locks_files() { return true; }

// Whatever is mapped into the memory of a process is locked: its program and its libraries, and
// also the assemblies of .NET, which the system's list of modules does not have.
std::vector<std::string> locked_files_of(long pid) {
  const Handle process(
      OpenProcess(PROCESS_QUERY_INFORMATION | PROCESS_VM_READ, FALSE, static_cast<DWORD>(pid)));
  if (!process.is_open()) return {};
  const auto all = drives();
  std::set<std::string> files;
  std::wstring name(windows::kPathMax, L'\0');
  MEMORY_BASIC_INFORMATION region{};
  const char* at = nullptr;
  const void* seen = nullptr;
  while (VirtualQueryEx(process.get(), at, &region, sizeof region) != 0) {
    at = static_cast<const char*>(region.BaseAddress) + region.RegionSize;
    const bool is_file = region.Type == MEM_IMAGE || region.Type == MEM_MAPPED;
    // A file has several regions.
    if (!is_file || region.AllocationBase == seen) continue;
    seen = region.AllocationBase;
    const DWORD size =
        GetMappedFileNameW(process.get(), region.AllocationBase, name.data(), windows::kPathMax);
    std::string path = path_on_drive({name.data(), size}, all);
    if (!path.empty()) files.insert(std::move(path));
  }
  return {files.begin(), files.end()};
}

}  // namespace sitter
