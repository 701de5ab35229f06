#include "doctor/short_environment.hpp"

namespace sitter {

/// What the official SDK passes on (HOME, LOGNAME, SHELL, TERM, USER), and what a session of a
/// desktop sets.
std::vector<std::string_view> passed_on_variables() {
  return {"HOME", "USER", "LOGNAME", "SHELL", "LANG", "TERM", "TMPDIR"};
}

std::vector<std::string> given_variables() {
  return {"PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"};
}

bool is_same_variable(std::string_view a, std::string_view b) { return a == b; }

}  // namespace sitter
