#pragma once

#include <functional>

namespace sitter {

/// The value of a variable of the environment, or null, as `std::getenv` returns it.
using Environment = std::function<const char*(const char* name)>;

}  // namespace sitter
