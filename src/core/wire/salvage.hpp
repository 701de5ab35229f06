#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Each JSON parser stops at the first error, and what is wanted here may stand behind it.

namespace sitter {

/// The raw id of a line that cannot be read as a whole: the value of a member "id" at the top
/// level, as far as braces and strings can be followed from the start, else the one at the end.
/// Empty when there is none.
std::string_view lenient_id(std::string_view text);

/// The raw id at the very end of a line whose middle is missing, as in `..."id":5}`. Empty when
/// there is none.
std::string_view lenient_id_at_end(std::string_view tail);

/// Why a line of this size, whose middle is missing, was not kept.
std::string too_long_text(std::uint64_t size);

/// The objects that stand in a line that is not one object: several in a row, in an array, or
/// among other text. Braces are matched outside strings; what is not closed is text, and so are the
/// values in it.
struct SplitLine {
  std::vector<std::string_view> objects;
  /// What stands around them, trimmed, without the brackets and commas of an array.
  std::vector<std::string_view> texts;
};
SplitLine split_objects(std::string_view text);

}  // namespace sitter
