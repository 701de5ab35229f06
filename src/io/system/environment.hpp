#pragma once

namespace sitter {

/// The value of a variable of this process in UTF-8, or null if it is not set. Valid until the
/// variable is asked for again.
const char* environment_variable(const char* name);

}  // namespace sitter
