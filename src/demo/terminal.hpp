#pragma once

#include <cstddef>
#include <optional>

namespace sitter {

/// How many columns the terminal at stdout has: 80 if it does not know. Nothing if stdout is no
/// terminal.
std::optional<std::size_t> terminal_columns();

}  // namespace sitter
