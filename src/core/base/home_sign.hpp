#pragma once

#include <string_view>

namespace sitter {

/// Whether a shell would write the path of a home directory in the place of a ~ in this argument:
/// at its start, behind a = as in `--config=~/x`, and behind the quotes of code for another shell,
/// which keep that shell from it. `is_code`: the argument is code for a shell, which expands
/// others.
bool has_home_sign(std::string_view argument, bool is_code = false);

}  // namespace sitter
