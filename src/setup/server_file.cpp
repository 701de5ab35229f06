#include "setup/server_file.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>
#include <system_error>

#include "core/base/ascii.hpp"

namespace sitter::setup {
namespace {

namespace fs = std::filesystem;

bool has_ending(const fs::path& path, std::initializer_list<std::string_view> endings) {
  const std::string ending = path.extension().generic_string();
  return std::find(endings.begin(), endings.end(), ending) != endings.end();
}

bool is_present(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

/// Programs that run a file which an argument names.
bool is_interpreter(const std::string& program) {
  static constexpr std::array<std::string_view, 11> kNames = {
      "node", "bun", "deno", "dotnet", "tsx", "python", "py", "uv", "java", "powershell", "pwsh"};
  return std::find(kNames.begin(), kNames.end(), program) != kNames.end() ||
         program.starts_with("python3");
}

/// The file of a module of Python: its own, or that of its package. Empty if it is not in the
/// folder.
fs::path module_in(const fs::path& folder, std::string name) {
  std::replace(name.begin(), name.end(), '.', '/');
  for (const fs::path top : {"", "src"}) {
    for (const char* const tail : {"/__main__.py", ".py"}) {
      fs::path file = top / (name + tail);
      if (is_present(folder / file)) return file;
    }
  }
  return {};
}

/// The file that an interpreter runs. Options before it may have values that look like files.
fs::path file_behind_interpreter(const std::vector<std::string>& words, const fs::path& directory) {
  // Where the interpreter looks for the file.
  fs::path folder;
  for (std::size_t at = 1; at < words.size(); ++at) {
    const std::string& word = words[at];
    const std::size_t end = word.find('=');
    const std::string name = word.substr(0, end);
    const std::string next = at + 1 < words.size() ? words[at + 1] : "";
    if (name == "--project") return {};
    if (name == "--directory" || name == "--cwd") {
      folder = end == word.npos ? next : word.substr(end + 1);
      if (folder.empty() || !is_present(directory / folder)) return {};
    } else if (word == "-m" || word == "--module") {
      const fs::path file = module_in(directory / folder, next);
      if (!file.empty()) return folder / file;
    }
    // Options of Node.js that take a file.
    if (word == "--import" || word == "--require" || word == "-r" || word == "--loader") ++at;
    if (is_interpreted(word) && !word.starts_with('-')) return folder / word;
  }
  return {};
}

}  // namespace

std::string program_name(const fs::path& file) {
  const std::string ending = ascii_lower(file.extension().generic_string());
  const bool is_left_out = ending == ".exe" || ending == ".cmd" || ending == ".bat";
  return (is_left_out ? file.stem() : file.filename()).generic_string();
}

bool is_script(const fs::path& path) {
  return has_ending(path, {".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".tsx", ".rb", ".php",
                           ".pl", ".sh", ".ps1"});
}

bool is_interpreted(const fs::path& file) {
  return is_script(file) || has_ending(file, {".dll", ".jar"});
}

fs::path server_file(const std::vector<std::string>& words, const fs::path& directory) {
  const fs::path program = words.front();
  if (is_interpreter(program_name(program))) return file_behind_interpreter(words, directory);
  if (program.has_parent_path()) return program;
  const auto script = std::find_if(words.begin(), words.end(), [&](const std::string& word) {
    return is_script(word) && is_present(directory / word);
  });
  return script == words.end() ? fs::path() : fs::path(*script);
}

}  // namespace sitter::setup
