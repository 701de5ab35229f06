#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sitter/time.hpp"

namespace sitter {

/// Whether a character is invisible and controls a terminal or the order of text: C0, DEL, C1, the
/// bidi controls of Unicode, and its line and paragraph separators.
bool is_control(char32_t c);

/// Returns the text as valid UTF-8, in which U+FFFD replaces ill-formed bytes. Terminal escapes are
/// removed, and so are all control characters but tab and newline. A carriage return that is not
/// followed by a newline becomes a newline, and so do the separators of Unicode.
std::string readable(std::string_view bytes);

/// `readable` on one line: each line break becomes a space, and blanks at both ends are dropped.
std::string one_line(std::string_view bytes);

/// The length of the longest prefix of `text` that has at most `bytes_max` bytes and does not cut a
/// character.
std::size_t cut_between_characters(std::string_view text, std::size_t bytes_max);

/// At most `bytes_max` bytes of valid UTF-8, cut between characters. If something was cut, a mark
/// follows that says how many bytes are missing. The mark has fewer than 48 bytes, which do not
/// count towards `bytes_max`.
std::string shortened(std::string_view text, std::size_t bytes_max);

/// `one_line` and then `shortened`: for a name or a message from outside that is put into a text of
/// our own.
std::string brief(std::string_view bytes, std::size_t bytes_max);

/// The mark that `shortened` appends: "… [12 bytes cut]".
std::string cut_mark(std::size_t bytes_cut);

/// "1 tool", "2 tools".
std::string counted(std::size_t count, std::string_view noun, std::string_view ending = "s");

/// "0.04s", "2.1s", "45s", "12m", "1.5h".
std::string duration_text(Milliseconds duration);

/// "just now", "12s ago", "2 min ago", "3.5 hours ago", "12.0 days ago". A negative age, which is
/// seen after the clock was set back, is "just now".
std::string age_text(Milliseconds age);

/// ISO 8601 in UTC with seven digits after the point: "2025-11-25T08:30:00.1234567Z".
std::string utc_text(WallTime time);

/// What a tool does for the reader: " (sitter_child_stderr shows more)". Nothing if the tool has no
/// name because it is not offered.
std::string tool_hint(std::string_view tool, std::string_view what = "shows more");

/// What restarts the server: "call sitter_kill" or, if the tool is not offered, whom to ask.
std::string restart_clause(std::string_view tool);

/// A JSON string with its quotes. Printable text is kept as it is, and bytes that are not UTF-8
/// become U+FFFD.
std::string json_string(std::string_view text);

/// Returns a JSON text with the same meaning in which control characters are written as \uXXXX.
/// Newlines between tokens stay.
std::string printable_json(std::string_view json);

/// The lines of a text without their ends. A last line may lack its end; an empty text has no line.
std::vector<std::string_view> text_lines(std::string_view text);

/// Whether a byte of valid UTF-8 is the first of a character.
inline bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

/// The number of characters of valid UTF-8.
inline std::size_t character_count(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

}  // namespace sitter
