#pragma once

#include <string>

#include "sitter/core/action.hpp"
#include "sitter/core/input.hpp"

namespace sitter {

/// One line for the log, texts shortened.
std::string to_text(const Input& input);
std::string to_text(const Action& action);

}  // namespace sitter
