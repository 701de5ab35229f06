#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Parts of raw JSON text as they are written. The libraries cannot find them: nlohmann/json does
// not report the position of a value, and refuses lone surrogates and 1e400, which must pass.
// simdjson skips a value on demand without checking its grammar, and needs padding after the text
// and an index that is larger than the text.

namespace sitter {

namespace limits {

/// How deep arrays and objects may be nested in text that is parsed as a whole. Far deeper than any
/// schema, and still cheap for the recursion and the copies at each level.
inline constexpr std::size_t kNestingMax = 100;

}  // namespace limits

/// White space between tokens (RFC 8259, section 2).
constexpr bool is_json_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// The text without the white space at both ends.
constexpr std::string_view json_trimmed(std::string_view text) {
  while (!text.empty() && is_json_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_json_space(text.back())) text.remove_suffix(1);
  return text;
}

bool is_json_number(std::string_view token);

/// A number, true, false or null.
bool is_json_scalar(std::string_view token);

/// Whether the backslash at `at`, or one after it, begins an escape that JSON does not have; `at`
/// may be npos. simdjson checks escapes only in strings that are read.
bool has_bad_escape(std::string_view text, std::size_t at);

/// The position after the string whose opening quote is at `at`, or npos if the string does not
/// end.
std::size_t behind_json_string(std::string_view raw, std::size_t at);

/// Whether `raw` is one JSON value by the grammar of RFC 8259, however deeply it is nested. UTF-8,
/// escapes and control characters in strings are not checked.
bool has_json_grammar(std::string_view raw);

/// JSON text as one line. Line breaks can only stand between tokens, so they become spaces.
std::string as_wire_line(std::string text);

/// One member of an object as it is written: the key decoded, the value raw.
struct JsonMember {
  std::string key;
  std::string_view value;
};

/// The raw texts of the elements of an array, as views into `raw`. If the text ends within the
/// array, the elements before that; no more than `count_max`. Empty if the text is not an array.
/// The depth is not limited.
std::vector<std::string_view> json_elements(std::string_view raw,
                                            std::size_t count_max = std::string_view::npos);

/// The members of an object, under the same conditions. A key that is written twice is returned
/// twice.
std::vector<JsonMember> json_members(std::string_view raw);

/// Goes from member to member of an object, without a copy. A text that is no object has none.
class RawMembers {
 public:
  explicit RawMembers(std::string_view raw) : raw_(raw) {}

  /// Returns false if there is no further member, or if the text ends within it.
  bool next();
  /// A raw string.
  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }

 private:
  std::string_view raw_;
  std::size_t at_ = 0;
  std::string_view key_;
  std::string_view value_;
};

/// Whether a raw string stands for this text, which needs no escapes.
bool is_json_string(std::string_view raw, std::string_view text);

/// The text that a raw JSON string stands for; nothing if `raw` is not a valid string.
std::optional<std::string> json_decoded(std::string_view raw);

/// Whether arrays and objects are nested more than `depth_max` levels deep. Ask this before
/// nlohmann/json reads a text, because that library has no limit, and recurses when it writes.
bool is_nested_deeper(std::string_view raw, std::size_t depth_max);

/// Whether two values mean the same: key order, whitespace, escapes and the spelling of numbers do
/// not count, nor does the order in the arrays `required` and `type` of a schema. Integers of more
/// than 64 bits are compared as doubles. Values that are not valid JSON or nested deeper than
/// `limits::kNestingMax` are compared as they are written.
bool json_same(std::string_view left, std::string_view right);

}  // namespace sitter
