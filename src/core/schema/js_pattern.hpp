#pragma once

#include <string>
#include <string_view>

namespace sitter {

/// Why JavaScript cannot read this pattern (ECMA-262, "Patterns", with the flag `u`), as a clause:
/// "has a group that begins with (?P". Empty if it can. The names of Unicode properties, and what
/// newer engines read, are not checked.
std::string js_pattern_defect(std::string_view pattern);

}  // namespace sitter
