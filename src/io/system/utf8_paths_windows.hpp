#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

// Every source for Windows begins with this file (src/CMakeLists.txt). Without it, libstdc++ reads
// the characters of a path in the locale "C", in which each byte is a character of its own,
// although it writes them as UTF-8 (bits/fs_path.h, path::_S_convert).

namespace sitter::windows {

std::wstring wide(std::string_view text);

}  // namespace sitter::windows

template <>
inline auto std::filesystem::path::_S_convert<char>(const char* first, const char* last) {
  return sitter::windows::wide({first, static_cast<std::size_t>(last - first)});
}
