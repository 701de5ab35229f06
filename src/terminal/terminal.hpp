#pragma once

#include <cstddef>
#include <cstdio>
#include <optional>
#include <string_view>

namespace sitter {

bool is_terminal(std::FILE* stream);

/// What a person presses to end the input: "Ctrl-D".
extern const char* const kEndOfInputKeys;

/// How many columns the terminal at stdout has: 80 if it does not know. Nothing if stdout is no
/// terminal.
std::optional<std::size_t> terminal_columns();

/// Lets the terminal at stdout show colours. False if it cannot.
bool enable_color();

/// Whether stdout is a terminal that shows colours, and the user wants them: NO_COLOR is not set or
/// empty (no-color.org), and TERM is not "dumb".
bool wants_color();

/// Writes the text to stdout. False if not all of it arrived, with the reason in errno.
bool print_all(std::string_view text);

}  // namespace sitter
