#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "io/process/launch_plan.hpp"
#include "io/process/launch_system.hpp"

extern char** environ;  // NOLINT: the system's name

namespace sitter {

const char kPathSeparator = ':';
// The path that execvp searches if PATH is not set.
const std::string_view kDefaultPath = "/bin:/usr/bin";
const char* const kNotExecutable = "is not executable (try chmod +x)";

bool names_folder(std::string_view command) { return command.find('/') != command.npos; }

std::vector<std::string> program_endings(std::string_view) { return {}; }

std::string program_at(const std::string& path, const std::vector<std::string>&) {
  struct stat facts {};
  const bool is_program =
      stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) && access(path.c_str(), X_OK) == 0;
  return is_program ? path : std::string();
}

std::size_t name_size(std::string_view entry) { return std::min(entry.find('='), entry.size()); }

std::string variable_key(std::string_view name) { return std::string(name); }

std::string entering_problem(const std::string& folder) {
  return access(folder.c_str(), X_OK) == 0 ? std::string() : std::strerror(errno);
}

std::vector<std::string> shell_words(std::string command_line) {
  return {"/bin/sh", "-c", std::move(command_line)};
}

std::vector<std::string> own_environment() {
  std::vector<std::string> entries;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    entries.emplace_back(*entry);
  }
  return entries;
}

}  // namespace sitter
