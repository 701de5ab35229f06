#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// This module handles JSON as text. A value that is only echoed keeps its spelling. No function
// recurses, so the depth and the size of a test's input have no limit. Only brackets and quotes are
// parsed; the content of a scalar is not checked.

namespace sitter::fake {

/// The first position from `at` on that is not white space, or the size of the text.
std::size_t next_token(std::string_view json, std::size_t at);

/// The position behind the value that begins at `at`; npos if the text ends within the value.
std::size_t value_end(std::string_view json, std::size_t at);

/// Whether a raw key, without its quotes, spells `name`. Handles escapes.
bool is_key(std::string_view raw_key, std::string_view name);

/// Calls `visit(key, value)` for each member of an object (`open` is '{') or each element of an
/// array (`open` is '[', the key is empty). Both are raw, the key without its quotes. Returns false
/// if the text is not exactly one such value; the items before the fault have been visited then.
template <class Visit>
bool each_item(std::string_view json, char open, Visit visit) {
  const bool keyed = open == '{';
  const char close = keyed ? '}' : ']';
  std::size_t at = next_token(json, 0);
  if (at == json.size() || json[at] != open) return false;
  at = next_token(json, at + 1);
  if (at < json.size() && json[at] == close) return next_token(json, at + 1) == json.size();
  while (at < json.size()) {
    std::string_view key;
    if (keyed) {
      if (json[at] != '"') return false;
      const std::size_t key_end = value_end(json, at);
      if (key_end == std::string_view::npos) return false;
      key = json.substr(at + 1, key_end - at - 2);
      at = next_token(json, key_end);
      if (at == json.size() || json[at] != ':') return false;
      at = next_token(json, at + 1);
    }
    const std::size_t end = value_end(json, at);
    if (end == std::string_view::npos || end == at) return false;
    visit(key, json.substr(at, end - at));
    at = next_token(json, end);
    if (at == json.size()) return false;
    if (json[at] == close) return next_token(json, at + 1) == json.size();
    if (json[at] != ',') return false;
    at = next_token(json, at + 1);
  }
  return false;
}

/// The raw value of a member; empty if there is none. The last of duplicate keys counts.
std::string_view member(std::string_view object, std::string_view name);

/// The text of a JSON string; empty if `raw` is anything else. A lone surrogate becomes U+FFFD.
std::string text_of(std::string_view raw);

/// A number truncated to an integer; `fallback` if `raw` is not a number.
long long integer_of(std::string_view raw, long long fallback);

/// The text as a JSON string. Bytes from 0x80 on pass unchanged, whether they are valid UTF-8 or
/// not.
std::string json_quoted(std::string_view text);

/// Builds `{"key":value,...}` and `[value,...]` from raw values. Keys must not need escapes.
std::string object_of(std::initializer_list<std::pair<std::string_view, std::string_view>> members);
std::string array_of(const std::vector<std::string>& values);

/// The raw object with more raw members at its end.
std::string with_members(std::string object, std::string_view members);

/// The same value over several lines. Only white space between tokens is added.
std::string spread_out(std::string_view json);

/// The error of a JSON-RPC answer. The data is raw; empty if there is none.
std::string error_object(long long code, std::string_view message, std::string_view data = {});

}  // namespace sitter::fake
