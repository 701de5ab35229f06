#include "core/wire/room.hpp"

#include <algorithm>
#include <cstdlib>

#include "sitter/line.hpp"

namespace sitter {

bool has_room(std::size_t bytes) {
  // Without `volatile` the compiler removes both calls and assumes success.
  void* volatile const room = std::malloc(bytes);
  std::free(room);
  return room != nullptr;
}

char* take_line_memory(std::size_t size_min, std::size_t /*most*/, std::size_t& size) {
  size = size_min;
  return static_cast<char*>(std::malloc(size_min));
}

void give_back_line_memory(char* bytes, std::size_t /*size*/) { std::free(bytes); }

bool can_read(std::size_t size, HasRoom has_room) {
  return size < limits::kRoomAskedFrom ||
         has_room(limits::kRoomPerByte * size + limits::kRoomBeside);
}

bool append_within(std::string& text, std::string_view piece, std::size_t max, HasRoom has_room) {
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

void TooLong::add(std::string_view text, std::size_t kept) {
  size += text.size();
  const std::size_t missing = std::min(text.size(), kept - head.size());
  head.append(text.substr(0, missing));
  text.remove_prefix(missing);
  if (text.size() > kept) text.remove_prefix(text.size() - kept);
  tail.append(text);
  if (tail.size() > kept) tail.erase(0, tail.size() - kept);
}

}  // namespace sitter
