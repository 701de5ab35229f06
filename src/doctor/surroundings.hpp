#pragma once

#include <string>
#include <vector>

namespace sitter {

/// The environment of this program: NAME=VALUE entries.
std::vector<std::string> own_environment();

/// A part of `own_environment` that is as short as that of a client which was not started from a
/// shell, with the PATH of such a client.
std::vector<std::string> short_environment();

}  // namespace sitter
