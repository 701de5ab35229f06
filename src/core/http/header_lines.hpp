#pragma once

#include <cassert>
#include <string>
#include <string_view>

namespace sitter {

/// Appends a header as a line of HTTP/1.1 (RFC 9112, 5). Whoever makes up a header keeps out what
/// would end its line; such a header is left out, since the rest of it could be another one.
inline void append_header(std::string& lines, std::string_view name, std::string_view value) {
  const auto breaks_line = [](std::string_view text) {
    for (const char c : text) {
      if (c == '\r' || c == '\n' || c == '\0') return true;
    }
    return false;
  };
  const bool is_sound = !breaks_line(name) && !breaks_line(value);
  assert(is_sound);
  if (is_sound) lines.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace sitter
