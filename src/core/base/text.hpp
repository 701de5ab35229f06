#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sitter/time.hpp"

namespace sitter {

/// Whether a character shows nothing and steers a terminal or the order in which text is shown: C0,
/// DEL, C1, the bidi controls of Unicode, its line and paragraph separators.
bool is_control(char32_t c);

/// The same text as surely valid UTF-8 (what is ill-formed becomes U+FFFD) without controls but tab
/// and newline, and without terminal escapes. A carriage return that no newline follows becomes a
/// newline, and so do the separators of Unicode.
std::string readable(std::string_view bytes);

/// `readable` on one line: line breaks of every kind become spaces, those at the ends are dropped.
std::string one_line(std::string_view bytes);

/// The end of the longest piece of `text` that has at most `bytes_max` bytes and does not cut a
/// character.
std::size_t cut_between_characters(std::string_view text, std::size_t bytes_max);

/// At most `bytes_max` bytes of valid UTF-8, cut between characters. Where something was cut, a
/// mark that says how many bytes are missing comes on top; it takes less than 48 bytes.
std::string shortened(std::string_view text, std::size_t bytes_max);

/// `one_line` and then `shortened`: a name or a message of somebody else, for a text of ours.
std::string brief(std::string_view bytes, std::size_t bytes_max);

/// The mark that `shortened` appends: "… [12 bytes cut]".
std::string cut_mark(std::size_t bytes_cut);

/// "0.04s", "2.1s", "45s", "12m", "1.5h".
std::string duration_text(Milliseconds duration);

/// "just now", "12s ago", "2 min ago", "3.5 hours ago", "12.0 days ago". An age below zero, which a
/// clock set back makes, is "just now".
std::string age_text(Milliseconds age);

/// ISO 8601 in UTC with seven digits: "2025-11-25T08:30:00.1234567Z".
std::string utc_text(WallTime time);

/// A JSON string with its quotes. Printable text is kept as it is, what is not UTF-8 becomes
/// U+FFFD.
std::string json_string(std::string_view text);

/// A JSON text with the same meaning in which controls stand as \uXXXX. Newlines between its tokens
/// stay.
std::string printable_json(std::string_view json);

}  // namespace sitter
