#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

// Characters of names that machines read. Their case and their classes concern ASCII only, and do
// not depend on the locale.

namespace sitter {

constexpr char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

constexpr char ascii_upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; }

inline std::string ascii_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = ascii_lower(c);
  return lower;
}

constexpr bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_ascii_letter(char c) { return ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z'; }

/// The value of a hexadecimal digit, or -1.
constexpr int hex_value(char c) {
  if (is_ascii_digit(c)) return c - '0';
  const char lower = ascii_lower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// A character that is neither a space nor a control character nor beyond ASCII.
constexpr bool is_visible_ascii(char c) { return c > ' ' && c <= '~'; }

/// A character of the name of a header (RFC 9110, 5.6.2).
constexpr bool is_token_character(char c) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return is_ascii_letter(c) || is_ascii_digit(c) || kOthers.find(c) != kOthers.npos;
}

/// A control character of ASCII.
constexpr bool is_control(char c) { return (c >= '\0' && c < ' ') || c == '\x7f'; }

/// The number that decimal digits stand for, or the largest one if it is larger. Nothing if the
/// text is empty or has other characters.
constexpr std::optional<std::uint64_t> decimal_number(std::string_view text) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t number = 0;
  for (const char c : text) {
    if (!is_ascii_digit(c)) return std::nullopt;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    number = number > (kMax - digit) / 10 ? kMax : 10 * number + digit;
  }
  if (text.empty()) return std::nullopt;
  return number;
}

/// Whether a text begins with another one, which is in lower case.
constexpr bool starts_with_ignoring_case(std::string_view text, std::string_view lower) {
  if (text.size() < lower.size()) return false;
  for (std::size_t i = 0; i < lower.size(); ++i) {
    if (ascii_lower(text[i]) != lower[i]) return false;
  }
  return true;
}

/// Whether a text is another one, which is in lower case.
constexpr bool is_ignoring_case(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() && starts_with_ignoring_case(text, lower);
}

/// Where a text contains another one, which is in lower case and not empty; npos if nowhere.
constexpr std::size_t find_ignoring_case(std::string_view text, std::string_view lower) {
  for (std::size_t at = 0; at + lower.size() <= text.size(); ++at) {
    if (starts_with_ignoring_case(text.substr(at), lower)) return at;
  }
  return std::string_view::npos;
}

/// The text without the blanks at both ends: by default those that HTTP allows around a value (RFC
/// 9110, 5.6.3).
constexpr std::string_view without_blanks(std::string_view text, std::string_view blanks = " \t") {
  const auto is_blank = [&](char c) { return blanks.find(c) != blanks.npos; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace sitter
