#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "io/system/environment.hpp"

namespace sitter {

/// A folder of the user: the value of a variable, and what follows it.
struct UserFolder {
  std::string_view variable;
  std::string_view rest = {};
};

/// Where programs keep what belongs to the user.
struct UserFolders {
  UserFolder home;
  UserFolder settings;
  /// For what programs can do without.
  UserFolder cache;
};

/// XDG Base Directory Specification, without its variables.
inline constexpr UserFolders kLinuxFolders = {{"HOME"}, {"HOME", "/.config"}, {"HOME", "/.cache"}};

/// File System Programming Guide of Apple.
inline constexpr UserFolders kMacosFolders = {
    {"HOME"}, {"HOME", "/Library/Application Support"}, {"HOME", "/Library/Caches"}};

/// KNOWNFOLDERID of Microsoft: Profile, RoamingAppData and LocalAppData.
inline constexpr UserFolders kWindowsFolders = {{"USERPROFILE"}, {"APPDATA"}, {"LOCALAPPDATA"}};

/// Those of this system.
extern const UserFolders kUserFolders;

/// The path of the folder. Empty if its variable is not set, or is empty.
std::string path_of(
    const UserFolder& folder,
    const std::function<const char*(const char*)>& environment = environment_variable);

}  // namespace sitter
