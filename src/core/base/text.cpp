#include "core/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <ratio>

namespace sitter {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr unsigned char kEscape = 0x1B;
constexpr unsigned char kBell = 0x07;

unsigned char byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

bool is_plain(unsigned char byte) {
  return (byte >= 0x20 && byte < 0x7F) || byte == '\t' || byte == '\n';
}

bool is_between(std::string_view bytes, std::size_t at, unsigned char low, unsigned char high) {
  return at < bytes.size() && byte_at(bytes, at) >= low && byte_at(bytes, at) <= high;
}

struct Sequence {
  std::size_t length;
  bool is_valid;
};

/// The character that begins at `at`. If the character is not valid, the sequence is the part of it
/// that one U+FFFD replaces.
Sequence sequence_at(std::string_view bytes, std::size_t at) {
  const unsigned char lead = byte_at(bytes, at);
  if (lead < 0x80) return {1, true};
  if (lead < 0xC2 || lead > 0xF4) return {1, false};
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  // The range of the second byte excludes overlong forms, surrogates and values above U+10FFFF.
  const unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (!is_between(bytes, at + 1, low, high)) return {1, false};
  for (std::size_t i = 2; i < length; ++i) {
    if (!is_between(bytes, at + i, 0x80, 0xBF)) return {i, false};
  }
  return {length, true};
}

/// `sequence` is one valid sequence.
char32_t code_point(std::string_view sequence) {
  const auto lead = static_cast<unsigned char>(sequence.front());
  if (sequence.size() == 1) return lead;
  // The lead byte of a sequence of two, three or four bytes begins with as many one bits and a zero
  // bit.
  char32_t c = lead & (0xFFU >> (sequence.size() + 1));
  for (const char byte : sequence.substr(1)) {
    c = (c << 6) | (static_cast<unsigned char>(byte) & 0x3FU);
  }
  return c;
}

bool is_separator(char32_t c) { return c == 0x2028 || c == 0x2029; }

bool is_c1(std::string_view bytes, std::size_t at) {
  return byte_at(bytes, at) == 0xC2 && is_between(bytes, at + 1, 0x80, 0x9F);
}

/// The end of the parameters and the final byte of a control sequence. The introducer of the
/// sequence ends at `at`.
std::size_t end_of_csi(std::string_view bytes, std::size_t at) {
  while (is_between(bytes, at, 0x30, 0x3F)) ++at;
  while (is_between(bytes, at, 0x20, 0x2F)) ++at;
  return is_between(bytes, at, 0x40, 0x7E) ? at + 1 : at;
}

/// The end of a control string, such as a window title. The introducer of the string ends at `at`.
/// If the string is not terminated, the result is `at`, because text that was meant to be read
/// would otherwise be lost.
std::size_t end_of_control_string(std::string_view bytes, std::size_t at) {
  for (std::size_t i = at; i < bytes.size(); ++i) {
    const unsigned char byte = byte_at(bytes, i);
    if (byte == kBell) return i + 1;
    if (byte == kEscape && i + 1 < bytes.size() && bytes[i + 1] == '\\') return i + 2;
    if (is_c1(bytes, i)) return byte_at(bytes, i + 1) == 0x9C ? i + 2 : at;
    if (byte < 0x20 && byte != '\t') break;
  }
  return at;
}

bool introduces_string(unsigned char final) {
  return final == ']' || final == 'P' || final == 'X' || final == '^' || final == '_';
}

std::size_t end_of_escape(std::string_view bytes, std::size_t at) {
  std::size_t end = at + 1;
  if (end == bytes.size()) return end;
  const unsigned char first = byte_at(bytes, end);
  if (first == '[') return end_of_csi(bytes, end + 1);
  if (introduces_string(first)) return end_of_control_string(bytes, end + 1);
  while (is_between(bytes, end, 0x20, 0x2F)) ++end;
  return is_between(bytes, end, 0x30, 0x7E) ? end + 1 : end;
}

/// Handles the character at `at`, which is not plain, and returns where the next character begins.
std::size_t append_special(std::string_view bytes, std::size_t at, std::string& out) {
  const unsigned char byte = byte_at(bytes, at);
  if (byte == kEscape) return end_of_escape(bytes, at);
  if (byte == '\r') {
    if (!is_between(bytes, at + 1, '\n', '\n')) out += '\n';
    return at + 1;
  }
  if (byte < 0x80) return at + 1;
  if (is_c1(bytes, at)) {
    // A C1 character means the same as ESC and one other character: 0x9B is ESC [, 0x9D is ESC ].
    const auto final = static_cast<unsigned char>(byte_at(bytes, at + 1) - 0x40);
    if (final == '[') return end_of_csi(bytes, at + 2);
    return introduces_string(final) ? end_of_control_string(bytes, at + 2) : at + 2;
  }
  const auto [length, is_valid] = sequence_at(bytes, at);
  const std::string_view sequence = bytes.substr(at, length);
  if (!is_valid) {
    out += kReplacement;
  } else if (const char32_t c = code_point(sequence); is_separator(c)) {
    out += '\n';
  } else if (!is_control(c)) {
    out += sequence;
  }
  return at + length;
}

/// Prints at most one digit after the point, and no digit where it would be a zero.
std::string with_tenth(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

/// Rounds towards zero: 59.99 s must not be shown as 60.0 s, because minutes begin at 60 s.
double tenths(double value) {
  return static_cast<double>(static_cast<std::int64_t>(value * 10)) / 10;
}

}  // namespace

bool is_control(char32_t c) {
  if (c < 0x20 || (c >= 0x7F && c <= 0x9F)) return true;
  // The characters with the property Bidi_Control: marks, embeddings and overrides, isolates.
  const bool steers_order = c == 0x61C || c == 0x200E || c == 0x200F ||
                            (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
  return steers_order || is_separator(c);
}

std::string readable(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::size_t begin = at;
    while (at < bytes.size() && is_plain(byte_at(bytes, at))) ++at;
    out.append(bytes, begin, at - begin);
    if (at < bytes.size()) at = append_special(bytes, at, out);
  }
  return out;
}

std::string one_line(std::string_view bytes) {
  std::string line = readable(bytes);
  std::replace(line.begin(), line.end(), '\n', ' ');
  const auto first = line.find_first_not_of(" \t");
  if (first == std::string::npos) return {};
  const auto last = line.find_last_not_of(" \t");
  return line.substr(first, last - first + 1);
}

std::size_t cut_between_characters(std::string_view text, std::size_t bytes_max) {
  std::size_t end = std::min(bytes_max, text.size());
  while (end > 0 && is_between(text, end, 0x80, 0xBF)) --end;
  return end;
}

std::string shortened(std::string_view text, std::size_t bytes_max) {
  const std::size_t end = cut_between_characters(text, bytes_max);
  if (end == text.size()) return std::string(text);
  return std::string(text.substr(0, end)) + cut_mark(text.size() - end);
}

std::string brief(std::string_view bytes, std::size_t bytes_max) {
  return shortened(one_line(bytes), bytes_max);
}

std::string cut_mark(std::size_t bytes_cut) {
  return fmt::format("… [{} cut]", counted(bytes_cut, "byte"));
}

std::string counted(std::size_t count, std::string_view noun, std::string_view ending) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : ending);
}

std::string duration_text(Milliseconds duration) {
  const double seconds = std::max(0.0, std::chrono::duration<double>(duration).count());
  // Otherwise a child that starts in milliseconds would seem to take no time.
  if (seconds < 0.1) return fmt::format("{:g}s", seconds);
  if (seconds < 60) return with_tenth(tenths(seconds)) + "s";
  if (seconds < 3600) return fmt::format("{}m", static_cast<std::int64_t>(seconds / 60));
  return with_tenth(tenths(seconds / 3600)) + "h";
}

std::string age_text(Milliseconds age) {
  const double seconds = std::chrono::duration<double>(age).count();
  if (seconds < 1) return "just now";
  if (seconds < 60) return fmt::format("{}s ago", static_cast<std::int64_t>(seconds));
  if (seconds < 3600) return fmt::format("{} min ago", static_cast<std::int64_t>(seconds / 60));
  if (seconds < 86400) return fmt::format("{:.1f} hours ago", tenths(seconds / 3600));
  return fmt::format("{:.1f} days ago", tenths(seconds / 86400));
}

std::string utc_text(WallTime time) {
  using Ticks = std::chrono::duration<std::int64_t, std::ratio<1, 10'000'000>>;
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<Ticks>(time - day));
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:07}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

std::string tool_hint(std::string_view tool, std::string_view what) {
  return tool.empty() ? "" : fmt::format(" ({} {})", tool, what);
}

std::string restart_clause(std::string_view tool) {
  return tool.empty() ? "ask the user to restart the server (mcp-sitter ctl kill)"
                      : fmt::format("call {}", tool);
}

std::string json_string(std::string_view text) {
  using nlohmann::json;
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string printable_json(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (std::size_t at = 0; at < json.size();) {
    const auto [length, is_valid] = sequence_at(json, at);
    const std::string_view sequence = json.substr(at, length);
    at += length;
    if (!is_valid) {
      out += kReplacement;
    } else if (const char32_t c = code_point(sequence); is_control(c) && c != '\n') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += sequence;
    }
  }
  return out;
}

std::vector<std::string_view> text_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace sitter
