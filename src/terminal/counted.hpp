#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace sitter {

/// "1 tool", "2 tools".
inline std::string counted(std::size_t count, std::string_view noun,
                           std::string_view ending = "s") {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : ending);
}

}  // namespace sitter
