#include "core/base/home_sign.hpp"

#include <cstddef>

namespace sitter {

bool has_home_sign(std::string_view argument, bool is_code) {
  constexpr std::string_view kOfNames =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
  for (std::size_t at = argument.find('~'); at != argument.npos; at = argument.find('~', at + 1)) {
    const std::size_t end = argument.find_first_not_of(kOfNames, at + 1);
    if (end == argument.npos || argument[end] != '/') continue;
    const char before = at == 0 ? '=' : argument[at - 1];
    if (before == '"' || before == '\'' || (before == '=' && !is_code)) return true;
  }
  return false;
}

}  // namespace sitter
