#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "sitter/limits.hpp"

namespace sitter {

/// Whether this many bytes can be allocated. The user may have set a limit far below the memory of
/// the machine (setrlimit(2), RLIMIT_AS).
using HasRoom = bool (*)(std::size_t bytes);

/// Tries it.
bool has_room(std::size_t bytes);

/// Whether there is memory to read a line of this size.
inline bool can_read(std::size_t size, HasRoom has_room) {
  return size < limits::kRoomAskedFrom ||
         has_room(limits::kRoomPerByte * size + limits::kRoomBeside);
}

/// Appends to a text that becomes a line, and keeps room for the padding of the line. Returns false
/// and changes nothing if the text would be longer than `max`, or if there is no memory.
inline bool append_within(std::string& text, std::string_view piece, std::size_t max,
                          HasRoom has_room) {
  const std::size_t size = text.size() + piece.size();
  if (size > max) return false;
  if (size + limits::kLinePadding > text.capacity()) {
    const std::size_t capacity =
        std::max(size, std::min(2 * text.size(), max)) + limits::kLinePadding;
    if (capacity >= limits::kRoomAskedFrom && !has_room(capacity)) return false;
    text.reserve(capacity);
  }
  text.append(piece);
  return true;
}

}  // namespace sitter
