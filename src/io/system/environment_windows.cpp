#include <map>
#include <string>

#include "io/system/environment.hpp"
#include "io/system/windows.hpp"

namespace sitter {

const char* environment_variable(const char* name) {
  // The functions of the C runtime return the ANSI code page, not UTF-8.
  static std::map<std::string, std::string, std::less<>> values;
  SetLastError(ERROR_SUCCESS);
  std::string value = windows::variable(name);
  // An empty variable is none of the errors (GetEnvironmentVariable).
  if (value.empty() && GetLastError() == ERROR_ENVVAR_NOT_FOUND) return nullptr;
  return (values[name] = std::move(value)).c_str();
}

}  // namespace sitter
