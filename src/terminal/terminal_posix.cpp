#include <sys/ioctl.h>
#include <unistd.h>

#include "terminal/terminal.hpp"

namespace sitter {

const char* const kEndOfInputKeys = "Ctrl-D";

bool is_terminal(std::FILE* stream) { return isatty(fileno(stream)) == 1; }

std::optional<std::size_t> terminal_columns() {
  if (!is_terminal(stdout)) return std::nullopt;
  winsize size{};
  const bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? size.ws_col : 80;
}

bool enable_color() { return true; }

}  // namespace sitter
