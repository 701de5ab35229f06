#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Finds parts of lines that are not valid messages. Every JSON parser stops at the first error, and
// the wanted part may come after it.

namespace sitter {

namespace limits {

/// How many messages one line or body may hold, in either direction. Each may be owed an error that
/// is longer than the message itself, and no known client or server sends more than a few.
inline constexpr std::size_t kBatchCountMax = 10'000;

}  // namespace limits

/// The raw id of a line that cannot be read as a whole. If the line begins as an object, it is the
/// value of a member "id" at the top level, as far as braces and strings can be followed; otherwise
/// the id at the end of the line. Empty if there is none.
std::string_view lenient_id(std::string_view text);

/// The raw id of a line whose middle is missing: that of `head`, otherwise the id at the very end
/// of `tail`, as in `..."id":5}`. Empty if there is none.
std::string_view lenient_id(std::string_view head, std::string_view tail);

/// Whether a line that is not a message was probably meant to be an answer, and not a request or a
/// log line in JSON.
bool looks_like_answer(std::string_view text);

/// Why a line of this size, whose middle is missing, was not kept.
std::string too_long_text(std::uint64_t size);

/// The objects in a line that is not one object: several objects in a row, in an array, or among
/// other text. Braces are matched outside strings. An object that is not closed counts as text, and
/// so do the values in it, and whatever comes after `limits::kBatchCountMax` objects.
std::vector<std::string_view> split_objects(std::string_view text);

/// The texts around these objects of the line, trimmed, without what only separates the elements of
/// an array. Without objects it is the whole line.
std::vector<std::string_view> texts_around(const std::vector<std::string_view>& objects,
                                           std::string_view text);

}  // namespace sitter
