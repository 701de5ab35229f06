#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// JSON as text. nlohmann/json decodes and encodes strings. Whole messages are only split, because
// it cannot keep how a value is spelled, refuses a lone surrogate, and writes by recursion.
// Splitting looks at brackets, quotes and separators alone, so any depth and any scalar passes.

namespace sitter::fake {

/// Gets a decoded key and a raw value. In an array, the key is empty.
using VisitItem = std::function<void(std::string_view key, std::string_view value)>;

/// Visits each member of an object (`open` is '{') or each element of an array (`open` is '[').
/// Returns false if the text is not exactly one such value; the items before the fault have been
/// visited then.
bool each_item(std::string_view json, char open, const VisitItem& visit);

/// The raw value of a member; empty if there is none. The last of duplicate keys counts.
std::string_view member(std::string_view object, std::string_view name);

/// The text of a JSON string; empty if `raw` is anything else, or has a lone surrogate.
std::string text_of(std::string_view raw);

/// A number truncated to an integer; `fallback` if `raw` is not a number.
long long integer_of(std::string_view raw, long long fallback);

/// The text as a JSON string. Bytes that are not UTF-8 become U+FFFD.
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
