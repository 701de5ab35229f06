#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sitter/bytes.hpp"

namespace sitter {

namespace limits {

/// The protocol has no size limit. The official TypeScript clients end their connection at 10 MiB,
/// so this is far above anything that works with them. A developer's machine still has memory for
/// six times this size.
inline constexpr std::size_t kLineMax = 256 * kMiB;

/// Before the bridge parses a line of this size or more, this much memory must be free: for each
/// byte of the line, simdjson's index (four bytes) and some copies, and a fixed reserve. Otherwise
/// the line counts as too long. Smaller lines are not checked, because the check would take longer
/// than reading them. If there is no memory for a smaller line, the program ends.
inline constexpr std::size_t kRoomAskedFrom = kMiB;
inline constexpr std::size_t kRoomPerByte = 8;
inline constexpr std::size_t kRoomBeside = 16 * kMiB;

/// How much is kept of each end of a line that is too long: the id is at one of the ends.
inline constexpr std::size_t kLineEndKept = 4 * kKiB;

}  // namespace limits

/// Whether this many bytes can be allocated. The user may have set a limit far below the memory of
/// the machine (setrlimit(2), RLIMIT_AS).
using HasRoom = bool (*)(std::size_t bytes);

/// Tries it.
bool has_room(std::size_t bytes);

/// Takes no more than the minimum.
char* take_line_memory(std::size_t size_min, std::size_t most, std::size_t& size);
void give_back_line_memory(char* bytes, std::size_t size);

/// Where the memory of long lines comes from.
struct LineMemory {
  HasRoom has_room = sitter::has_room;
  /// Returns null if there is no memory. May take up to `most` bytes, if those that are not used
  /// cost nothing; sets `size` to what it took.
  char* (*take)(std::size_t size_min, std::size_t most, std::size_t& size) = take_line_memory;
  void (*give_back)(char* bytes, std::size_t size) = give_back_line_memory;
};

/// Whether there is memory to read a line of this size.
bool can_read(std::size_t size, HasRoom has_room);

/// Appends to a text that becomes a line, and keeps room for the padding of the line. Returns false
/// and changes nothing if the text would be longer than `max`, or if there is no memory.
bool append_within(std::string& text, std::string_view piece, std::size_t max, HasRoom has_room);

/// A text that is not kept, because it is too long, except for its two ends. Its size is 0 while
/// there is none.
struct TooLong {
  /// The next bytes. `kept` is the size of each end.
  void add(std::string_view text, std::size_t kept);

  std::uint64_t size = 0;
  bool is_told = false;
  std::string head;
  std::string tail;
};

}  // namespace sitter
