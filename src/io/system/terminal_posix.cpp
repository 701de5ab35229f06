#include <unistd.h>

#include "io/system/terminal.hpp"

namespace sitter {

bool stdin_is_terminal() { return isatty(STDIN_FILENO) == 1; }
bool stdout_is_terminal() { return isatty(STDOUT_FILENO) == 1; }

}  // namespace sitter
