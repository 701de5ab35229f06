#include <algorithm>
#include <map>
#include <string>

#include "io/system/environment.hpp"
#include "io/system/windows.hpp"

namespace sitter {

const char* environment_variable(const char* name) {
  // The functions of the C runtime return the ANSI code page, not UTF-8.
  static std::map<std::string, std::string, std::less<>> values;
  // The length of an empty variable is 1, for its end (GetEnvironmentVariable).
  if (GetEnvironmentVariableW(windows::wide(name).c_str(), nullptr, 0) == 0) return nullptr;
  return (values[name] = windows::variable(name)).c_str();
}

std::string own_form(std::string path) {
  std::replace(path.begin(), path.end(), '\\', '/');
  return path;
}

}  // namespace sitter
