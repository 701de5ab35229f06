#pragma once

namespace sitter {

bool stdin_is_terminal();
bool stdout_is_terminal();

}  // namespace sitter
