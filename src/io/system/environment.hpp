#pragma once

#include <string>

namespace sitter {

/// The value of a variable of this process in UTF-8, or null if it is not set. Valid until the
/// variable is asked for again.
const char* environment_variable(const char* name);

/// A path that comes from a user or from the environment, in the form that this program uses: with
/// slashes. On POSIX, a backslash is a part of a name.
std::string own_form(std::string path);

}  // namespace sitter
