#include "core/base/ascii.hpp"
#include "doctor/short_environment.hpp"

namespace sitter {

/// What the official SDK passes on (DEFAULT_INHERITED_ENV_VARS).
std::vector<std::string_view> passed_on_variables() {
  return {"APPDATA",    "HOMEDRIVE",    "HOMEPATH",    "LOCALAPPDATA",
          "PATH",       "PROGRAMFILES", "SYSTEMDRIVE", "PROCESSOR_ARCHITECTURE",
          "SYSTEMROOT", "TEMP",         "USERNAME",    "USERPROFILE"};
}

/// Every program has the PATH of the user, whatever has started it.
std::vector<std::string> given_variables() { return {}; }

// "Path" is the usual spelling of PATH.
bool is_same_variable(std::string_view a, std::string_view b) {
  return ascii_lower(a) == ascii_lower(b);
}

}  // namespace sitter
