#pragma once

#include <string>
#include <string_view>
#include <vector>

/// The environment of a server whose client was not started from a shell.
namespace sitter {

/// The names of the variables that the client passes on.
std::vector<std::string_view> passed_on_variables();

/// The entries (NAME=VALUE) that such a client has itself, instead of those of a shell.
std::vector<std::string> given_variables();

/// Whether two names are those of one variable.
bool is_same_variable(std::string_view a, std::string_view b);

}  // namespace sitter
