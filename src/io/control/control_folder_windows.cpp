#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "io/control/control_folder.hpp"
#include "io/system/error_text.hpp"
#include "io/system/platform.hpp"
#include "io/system/user_folders.hpp"
#include "io/system/windows.hpp"

// This comes after windows.h.
#include <shlobj.h>

namespace sitter {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSocketEnding = ".pipe";

/// What the registry says, whatever the environment of this process is. Empty if it says nothing.
std::string registered_folder() {
  wchar_t path[MAX_PATH];
  const HRESULT result = SHGetFolderPathW(nullptr, CSIDL_LOCAL_APPDATA, nullptr, 0, path);
  return result == S_OK ? windows::generic_path(path) : std::string();
}

std::string folder_in(const std::string& data) { return data + "/mcp-sitter/run"; }

/// Many clients give their servers a short environment, so the folder of a bridge may differ from
/// the folder that a shell would use.
std::set<std::string> all_folders() {
  std::set<std::string> folders = {control_folder()};
  const std::string registered = registered_folder();
  if (!registered.empty()) folders.insert(folder_in(registered));
  return folders;
}

}  // namespace

std::string control_folder() {
  const std::string named = path_of(kUserFolders.cache);
  return folder_in(named.empty() ? registered_folder() : named);
}

std::string control_socket() {
  return fmt::format("{}/{}{}", control_folder(), platform::own_pid(), kSocketEnding);
}

void remove_control_file(const std::string& file) {
  DeleteFileW(windows::system_path(file).c_str());
  // It fails as long as the folder holds a file.
  RemoveDirectoryW(windows::system_path(file.substr(0, file.rfind('/'))).c_str());
}

std::string prepare_control_folder() {
  const std::string folder = control_folder();
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) return {};
  return fmt::format("{}: {}", folder, error_text(error));
}

std::vector<std::string> control_sockets() { return control_files(kSocketEnding); }

std::vector<std::string> control_files(std::string_view ending) {
  std::vector<std::string> files;
  for (const std::string& folder : all_folders()) {
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
      const std::string path = entry->path().generic_string();
      if (path.ends_with(ending)) files.push_back(path);
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace sitter
