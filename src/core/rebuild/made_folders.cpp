#include "core/rebuild/made_folders.hpp"

#include <algorithm>
#include <array>

namespace sitter {
namespace {

/// The file that makes a folder a virtual environment of Python.
constexpr std::string_view kEnvironmentFile = "pyvenv.cfg";

constexpr std::array<std::string_view, 6> kOutputs = {"build", "dist",      "target",
                                                      "obj",   "bin/Debug", "bin/Release"};

/// Tools that read one of these put their output beside it.
constexpr std::array<std::string_view, 13> kBuildFiles = {
    "CMakeLists.txt",   "Makefile",       "makefile", "GNUmakefile", "Cargo.toml",
    "package.json",     "pyproject.toml", "setup.py", "pom.xml",     "build.gradle",
    "build.gradle.kts", "*.csproj",       "*.fsproj"};

/// What CMake, Ninja, any tool that follows the specification of cache directories, and Cargo leave
/// in their output.
constexpr std::array<std::string_view, 4> kMarks = {"CMakeCache.txt", ".ninja_log", "CACHEDIR.TAG",
                                                    ".rustc_info.json"};

bool matches(std::string_view pattern, std::string_view name) {
  return pattern.starts_with('*') ? name.ends_with(pattern.substr(1)) : name == pattern;
}

}  // namespace

bool is_made_by_tools(const std::string& folder, const HasFile& has_file) {
  if (has_file(folder, kEnvironmentFile)) return true;
  const auto output = std::find_if(kOutputs.begin(), kOutputs.end(), [&](std::string_view name) {
    return folder.ends_with('/' + std::string(name));
  });
  if (output == kOutputs.end()) return false;
  const auto is_in = [&](const std::string& place) {
    return [&](std::string_view name) { return has_file(place, name); };
  };
  const std::string around = folder.substr(0, folder.size() - output->size() - 1);
  return std::any_of(kMarks.begin(), kMarks.end(), is_in(folder)) ||
         std::any_of(kBuildFiles.begin(), kBuildFiles.end(), is_in(around));
}

std::vector<std::string> folders_decided_by(std::string_view file) {
  const std::size_t slash = file.rfind('/');
  const std::string folder(file.substr(0, slash));
  const std::string_view name = file.substr(slash + 1);
  const auto is_it = [&](std::string_view pattern) { return matches(pattern, name); };
  if (is_it(kEnvironmentFile) || std::any_of(kMarks.begin(), kMarks.end(), is_it)) return {folder};
  std::vector<std::string> folders;
  if (std::any_of(kBuildFiles.begin(), kBuildFiles.end(), is_it)) {
    for (const std::string_view output : kOutputs) {
      folders.push_back(folder + '/' + std::string(output));
    }
  }
  return folders;
}

}  // namespace sitter
