#pragma once

#include <cstddef>
#include <cstdio>
#include <optional>

namespace sitter {

bool is_terminal(std::FILE* stream);

/// How many columns the terminal at stdout has: 80 if it does not know. Nothing if stdout is no
/// terminal.
std::optional<std::size_t> terminal_columns();

/// Whether stdout is a terminal that shows colours, and the user wants them: NO_COLOR is not set or
/// empty (no-color.org), and TERM is not "dumb".
bool wants_color();

}  // namespace sitter
