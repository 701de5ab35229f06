#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sitter {

/// Whether this many bytes can be allocated. The user may have set a limit far below the memory of
/// the machine (setrlimit(2), RLIMIT_AS).
using HasRoom = bool (*)(std::size_t bytes);

/// Tries it.
bool has_room(std::size_t bytes);

/// Whether there is memory to read a line of this size.
bool can_read(std::size_t size, HasRoom has_room);

/// Appends to a text that becomes a line, and keeps room for the padding of the line. Returns false
/// and changes nothing if the text would be longer than `max`, or if there is no memory.
bool append_within(std::string& text, std::string_view piece, std::size_t max, HasRoom has_room);

}  // namespace sitter
