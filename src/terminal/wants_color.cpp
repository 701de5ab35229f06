#include <cstdlib>
#include <string_view>

#include "terminal/terminal.hpp"

namespace sitter {

bool wants_color() {
  const char* const no_color = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  const bool is_dumb = terminal != nullptr && terminal == std::string_view("dumb");
  return is_terminal(stdout) && !is_dumb && (no_color == nullptr || *no_color == '\0');
}

}  // namespace sitter
