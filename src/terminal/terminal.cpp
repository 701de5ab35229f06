#include "terminal/terminal.hpp"

#include "io/system/environment.hpp"

namespace sitter {

bool wants_color() {
  const char* const no_color = environment_variable("NO_COLOR");
  const char* const terminal = environment_variable("TERM");
  const bool is_dumb = terminal != nullptr && terminal == std::string_view("dumb");
  return is_terminal(stdout) && enable_color() && !is_dumb &&
         (no_color == nullptr || *no_color == '\0');
}

bool print_all(std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
         std::fflush(stdout) == 0;
}

}  // namespace sitter
