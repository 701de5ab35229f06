#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/base/ascii.hpp"
#include "io/process/launch_plan.hpp"
#include "io/process/launch_system.hpp"
#include "io/system/windows.hpp"

namespace sitter {
namespace {

namespace fs = std::filesystem;

bool is_file(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(fs::path(windows::system_path(path)), error);
}

}  // namespace

const char kPathSeparator = ';';
const std::string_view kDefaultPath;
const char* const kNotExecutable = "has none of the endings of a program (PATHEXT)";

// "C:x" is a name in the current folder of a drive.
bool names_folder(std::string_view command) {
  return command.find_first_of("/\\:") != command.npos;
}

// Scripts of PowerShell and of the Windows Script Host need a program that is not named here.
std::vector<std::string> program_endings(std::string_view pathext) {
  std::vector<std::string> endings;
  if (pathext.empty()) pathext = ".COM;.EXE;.BAT;.CMD";
  while (!pathext.empty()) {
    std::string ending = ascii_lower(pathext.substr(0, pathext.find(';')));
    pathext.remove_prefix(std::min(ending.size() + 1, pathext.size()));
    const bool is_started =
        ending == ".com" || ending == ".exe" || ending == ".bat" || ending == ".cmd";
    if (is_started) endings.push_back(std::move(ending));
  }
  return endings;
}

std::string program_at(const std::string& path, const std::vector<std::string>& endings) {
  const std::string own = ascii_lower(fs::path(path).extension().string());
  const bool is_whole = std::find(endings.begin(), endings.end(), own) != endings.end();
  if (is_whole && is_file(path)) return path;
  for (const std::string& ending : endings) {
    if (is_file(path + ending)) return path + ending;
  }
  return {};
}

// The names of the variables that keep the folder of each drive begin with this character.
std::size_t name_size(std::string_view entry) { return std::min(entry.find('=', 1), entry.size()); }

std::string variable_key(std::string_view name) { return ascii_lower(name); }

// Only the start shows it.
std::string entering_problem(const std::string&) { return {}; }

// Clients leave this variable out.
std::vector<std::string> shell_words(std::string command_line) {
  std::string shell = windows::variable("ComSpec");
  if (shell.empty()) shell = windows::utf8(windows::command_interpreter());
  return {std::move(shell), "/d", "/s", "/c", std::move(command_line)};
}

std::vector<std::string> own_environment() {
  std::vector<std::string> entries;
  wchar_t* const block = GetEnvironmentStringsW();
  if (block == nullptr) return entries;
  for (const wchar_t* entry = block; *entry != L'\0';) {
    const std::wstring_view text(entry);
    entries.push_back(windows::utf8(text));
    entry += text.size() + 1;
  }
  FreeEnvironmentStringsW(block);
  return entries;
}

}  // namespace sitter
