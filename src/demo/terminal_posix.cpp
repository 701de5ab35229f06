#include <sys/ioctl.h>
#include <unistd.h>

#include "demo/terminal.hpp"

namespace sitter {

std::optional<std::size_t> terminal_columns() {
  if (isatty(STDOUT_FILENO) == 0) return std::nullopt;
  winsize size{};
  const bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? size.ws_col : 80;
}

}  // namespace sitter
