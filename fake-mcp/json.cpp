#include "json.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace sitter::fake {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

std::size_t string_end(std::string_view json, std::size_t at) {
  const std::size_t first = at + 1;
  std::size_t quote = json.find('"', first);
  while (quote != std::string_view::npos) {
    std::size_t slashes = 0;
    while (quote - slashes > first && json[quote - slashes - 1] == '\\') ++slashes;
    if (slashes % 2 == 0) return quote + 1;
    quote = json.find('"', quote + 1);
  }
  return std::string_view::npos;
}

void append_utf8(std::string& text, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

/// The value of the four digits behind a `\u` at `at`; 0xFFFD if there are no such digits.
std::uint32_t escaped_unit(std::string_view raw, std::size_t at) {
  std::uint32_t unit = 0xFFFD;
  if (at + 6 <= raw.size() && raw.substr(at, 2) == "\\u") {
    const char* digits = raw.data() + at + 2;
    std::uint32_t value = 0;
    if (std::from_chars(digits, digits + 4, value, 16).ptr == digits + 4) unit = value;
  }
  return unit;
}

bool is_high_surrogate(std::uint32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool is_low_surrogate(std::uint32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

/// Appends the character of the escape at `at`, and returns the length of the escape.
std::size_t append_escape(std::string& text, std::string_view raw, std::size_t at) {
  constexpr std::string_view kLetters = "bfnrt";
  constexpr std::string_view kMeanings = "\b\f\n\r\t";
  const char letter = raw[at + 1];
  if (letter != 'u') {
    const std::size_t known = kLetters.find(letter);
    text += known == std::string_view::npos ? letter : kMeanings[known];
    return 2;
  }
  std::uint32_t unit = escaped_unit(raw, at);
  if (is_high_surrogate(unit)) {
    const std::uint32_t low = escaped_unit(raw, at + 6);
    if (is_low_surrogate(low)) {
      append_utf8(text, 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
      return 12;
    }
    unit = 0xFFFD;
  }
  append_utf8(text, is_low_surrogate(unit) ? 0xFFFD : unit);
  return 6;
}

}  // namespace

std::size_t next_token(std::string_view json, std::size_t at) {
  while (at < json.size() && is_space(json[at])) ++at;
  return at;
}

std::size_t value_end(std::string_view json, std::size_t at) {
  if (at >= json.size()) return std::string_view::npos;
  if (json[at] == '"') return string_end(json, at);
  if (json[at] != '{' && json[at] != '[') {
    while (at < json.size() && !is_space(json[at]) && !std::strchr(",:]}", json[at])) ++at;
    return at;
  }
  std::size_t depth = 0;
  while (at < json.size()) {
    const char c = json[at];
    if (c == '"') {
      at = string_end(json, at);
      if (at == std::string_view::npos) return at;
      continue;
    }
    ++at;
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) return at;
  }
  return std::string_view::npos;
}

bool is_key(std::string_view raw_key, std::string_view name) {
  if (raw_key == name) return true;
  if (raw_key.find('\\') == std::string_view::npos) return false;
  return text_of('"' + std::string(raw_key) + '"') == name;
}

std::string_view member(std::string_view object, std::string_view name) {
  std::string_view found;
  each_item(object, '{', [&](std::string_view key, std::string_view value) {
    if (is_key(key, name)) found = value;
  });
  return found;
}

std::string text_of(std::string_view raw) {
  if (raw.size() < 2 || raw.front() != '"') return {};
  raw = raw.substr(1, raw.size() - 2);
  std::string text;
  std::size_t at = 0;
  while (at < raw.size()) {
    const std::size_t slash = raw.find('\\', at);
    text += raw.substr(at, slash - at);
    if (slash == std::string_view::npos || slash + 1 >= raw.size()) break;
    at = slash + append_escape(text, raw, slash);
  }
  return text;
}

long long integer_of(std::string_view raw, long long fallback) {
  const std::string number(raw);
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  const bool usable = end != number.c_str() && *end == '\0' && value > -9e18 && value < 9e18;
  return usable ? static_cast<long long>(value) : fallback;
}

std::string json_quoted(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string json;
  json.reserve(text.size() + 2);
  json += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (c == '\n') {
      json += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      json += "\\u00";
      json += kHex[static_cast<unsigned char>(c) >> 4];
      json += kHex[static_cast<unsigned char>(c) & 15];
    } else {
      json += c;
    }
  }
  json += '"';
  return json;
}

std::string object_of(
    std::initializer_list<std::pair<std::string_view, std::string_view>> members) {
  std::string json = "{";
  for (const auto& [key, value] : members) {
    if (json.size() > 1) json += ',';
    json += '"';
    json += key;
    json += "\":";
    json += value;
  }
  json += '}';
  return json;
}

std::string array_of(const std::vector<std::string>& values) {
  std::string json = "[";
  for (const std::string& value : values) {
    if (json.size() > 1) json += ',';
    json += value;
  }
  json += ']';
  return json;
}

std::string with_members(std::string object, std::string_view members) {
  object.pop_back();
  if (object.size() > 1) object += ',';
  return object.append(members).append("}");
}

std::string spread_out(std::string_view json) {
  std::string text;
  std::size_t depth = 0;
  const auto new_line = [&] { text.append("\n").append(2 * depth, ' '); };
  std::size_t at = 0;
  while (at < json.size()) {
    const char c = json[at];
    if (c == '"') {
      const std::size_t end = std::min(string_end(json, at), json.size());
      text.append(json, at, end - at);
      at = end;
      continue;
    }
    ++at;
    const bool closes = c == '}' || c == ']';
    if (closes) {
      depth -= std::min<std::size_t>(depth, 1);
      new_line();
    }
    text += c;
    if (c == '{' || c == '[') ++depth;
    if (c == '{' || c == '[' || c == ',') new_line();
  }
  return text;
}

std::string error_object(long long code, std::string_view message, std::string_view data) {
  std::string error =
      object_of({{"code", std::to_string(code)}, {"message", json_quoted(message)}});
  if (!data.empty()) error = with_members(std::move(error), "\"data\":" + std::string(data));
  return error;
}

}  // namespace sitter::fake
