#include "core/wire/salvage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>

#include "core/base/json_text.hpp"
#include "core/wire/room.hpp"
#include "sitter/bytes.hpp"

namespace sitter {
namespace {

/// How many opening braces without an end are tried as the beginning of an object in a broken line.
/// Each try walks through the rest of the line. A log line before a message has only one or two
/// such braces, so in a long line no more than these are tried: the walks take 3 ns for a byte.
constexpr int kUnclosedBracesMax = 16;
constexpr int kUnclosedBracesUsual = 2;
constexpr std::size_t kUnclosedBytesMax = 16 * limits::kMiB;

/// What an array has between its elements, and around them.
constexpr std::string_view kArrayMarks = "[], \t\r\n";

/// The value of the token that begins `text`: a string or a number, as an id may be.
std::string_view id_token(std::string_view text) {
  text = json_trimmed(text);
  if (text.empty()) return {};
  if (text.front() == '"') {
    const std::size_t end = behind_json_string(text, 0);
    return end == text.npos ? std::string_view() : text.substr(0, end);
  }
  const std::string_view number = text.substr(0, text.find_first_of(",}] \t\r\n"));
  return is_json_number(number) ? number : std::string_view();
}

/// Whether the text at `at` is a value of an object or array around it.
bool is_value(std::string_view text, std::size_t at) {
  const std::string_view before = json_trimmed(text.substr(0, at));
  return before.ends_with(':') || before.ends_with(',') || before.ends_with('[');
}

/// The position after the brace that closes the brace at `at`, or npos.
std::size_t behind_object(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = behind_json_string(text, at);
      if (at == std::string_view::npos) return at;
      continue;
    }
    if (c == '{') ++depth;
    if (c == '}' && --depth == 0) return at + 1;
    ++at;
  }
  return std::string_view::npos;
}

/// As `text.find(word)`, which takes twice as long in a text of many quotes.
std::size_t word_at(std::string_view text, std::string_view word) {
  const std::boyer_moore_horspool_searcher searcher(word.begin(), word.end());
  const auto at = std::search(text.begin(), text.end(), searcher);
  return at == text.end() ? text.npos : static_cast<std::size_t>(at - text.begin());
}

/// The id at the top level, as far as braces and strings can be followed.
std::string_view id_from_start(std::string_view text) {
  std::size_t at = text.find('{');
  int depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      const std::size_t end = behind_json_string(text, at);
      if (end == text.npos) return {};
      const bool is_id = depth == 1 && text.substr(at, end - at) == "\"id\"";
      at = end;
      while (at < text.size() && is_json_space(text[at])) ++at;
      if (is_id && at < text.size() && text[at] == ':') return id_token(text.substr(at + 1));
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    ++at;
  }
  return {};
}

/// The raw id at the very end of a line, or nothing.
std::string_view id_at_end(std::string_view tail) {
  const std::size_t key = tail.rfind("\"id\"");
  if (key == tail.npos || key == 0) return {};
  const std::string_view before = json_trimmed(tail.substr(0, key));
  if (before.empty() || (before.back() != ',' && before.back() != '{')) return {};
  std::string_view rest = json_trimmed(tail.substr(key + 4));
  if (rest.empty() || rest.front() != ':') return {};
  rest.remove_prefix(1);
  const std::string_view id = id_token(rest);
  if (id.empty()) return {};
  const std::size_t end = static_cast<std::size_t>(id.data() + id.size() - rest.data());
  return json_trimmed(rest.substr(end)) == "}" ? id : std::string_view();
}

}  // namespace

std::string_view lenient_id(std::string_view text) {
  // Behind other text, the beginning of an answer is only quoted.
  const std::size_t begin = text.find_first_not_of(kArrayMarks);
  const bool begins_as_object = begin != text.npos && text[begin] == '{';
  return lenient_id(begins_as_object ? text : std::string_view(), text);
}

std::string_view lenient_id(std::string_view head, std::string_view tail) {
  const std::string_view id = id_from_start(head);
  return id.empty() ? id_at_end(tail) : id;
}

bool looks_like_answer(std::string_view text) {
  const std::size_t outcome = std::min(word_at(text, "\"result\""), word_at(text, "\"error\""));
  if (word_at(text, "\"method\"") < outcome) return false;
  return outcome != text.npos || word_at(text, "\"jsonrpc\"") != text.npos;
}

std::string too_long_text(std::uint64_t size) {
  if (size > limits::kLineMax) {
    return fmt::format("the line has {} bytes, and at most {} are accepted", size,
                       limits::kLineMax);
  }
  return fmt::format("there is no memory for a line of {} bytes", size);
}

std::vector<std::string_view> split_objects(std::string_view text) {
  std::vector<std::string_view> objects;
  std::size_t at = 0;
  int unclosed = 0;
  std::size_t walked = 0;
  while (objects.size() < limits::kBatchCountMax && (at = text.find('{', at)) != text.npos) {
    const std::size_t end = behind_object(text, at);
    if (end == text.npos) {
      walked += text.size() - at;
      const bool is_usual = ++unclosed <= kUnclosedBracesUsual;
      if (unclosed == kUnclosedBracesMax || (!is_usual && walked > kUnclosedBytesMax)) break;
      ++at;
      continue;
    }
    if (unclosed == 0 || !is_value(text, at)) objects.push_back(text.substr(at, end - at));
    at = end;
  }
  return objects;
}

std::vector<std::string_view> texts_around(const std::vector<std::string_view>& objects,
                                           std::string_view text) {
  if (objects.empty()) return {json_trimmed(text)};
  std::vector<std::string_view> texts;
  const auto add = [&](std::string_view piece) {
    if (piece.find_first_not_of(kArrayMarks) != piece.npos) texts.push_back(json_trimmed(piece));
  };
  const char* begin = text.data();
  for (const std::string_view object : objects) {
    add({begin, static_cast<std::size_t>(object.data() - begin)});
    begin = object.data() + object.size();
  }
  add({begin, static_cast<std::size_t>(text.data() + text.size() - begin)});
  return texts;
}

}  // namespace sitter
