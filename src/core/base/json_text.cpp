#include "core/base/json_text.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/ascii.hpp"

namespace sitter {
namespace {

using nlohmann::json;

/// Walks over raw JSON text. The text is taken to be valid; in other text the walk stops early.
class Walker {
 public:
  explicit Walker(std::string_view raw, std::size_t at = 0) : raw_(raw), at_(at) {}

  std::size_t at() const { return at_; }

  /// Skips whitespace, then `expected`, if it is there.
  bool takes(char expected) {
    skip_space();
    if (at_ >= raw_.size() || raw_[at_] != expected) return false;
    ++at_;
    return true;
  }

  /// The next value; empty if there is none, or if the text ends within it.
  std::string_view value() {
    skip_space();
    const std::size_t begin = at_;
    std::size_t depth = 0;
    while (at_ < raw_.size()) {
      const char c = raw_[at_];
      if (c == '"') {
        at_ = behind_json_string(raw_, at_);
        if (at_ == std::string_view::npos) return {};
      } else if (c == '{' || c == '[') {
        ++depth;
        ++at_;
      } else if (depth == 0) {
        return scalar(begin);
      } else {
        if (c == '}' || c == ']') --depth;
        ++at_;
      }
      if (depth == 0) return raw_.substr(begin, at_ - begin);
    }
    return {};
  }

 protected:
  void skip_space() {
    while (at_ < raw_.size() && is_json_space(raw_[at_])) ++at_;
  }

  std::string_view scalar(std::size_t begin) {
    constexpr std::string_view kEnds = ",:]} \t\r\n";
    at_ = std::min(raw_.find_first_of(kEnds, begin), raw_.size());
    return raw_.substr(begin, at_ - begin);
  }

  std::string_view raw_;
  std::size_t at_;
};

/// Reads one value by the grammar.
class Grammar : Walker {
 public:
  using Walker::Walker;

  bool is_value() {
    do {
      if (!reads_value()) return false;
    } while (!ends_.empty());
    skip_space();
    return at_ == raw_.size();
  }

 private:
  /// Reads a scalar, or the beginning of a container, and then the ends of all containers that end
  /// after it.
  bool reads_value() {
    skip_space();
    if (at_ == raw_.size()) return false;
    const char c = raw_[at_];
    if (c == '{' || c == '[') {
      const char end = c == '{' ? '}' : ']';
      ++at_;
      if (!takes(end)) {
        ends_.push_back(end);
        return end == ']' || reads_key();
      }
    } else if (c == '"') {
      at_ = behind_json_string(raw_, at_);
      if (at_ == std::string_view::npos) return false;
    } else if (!is_json_scalar(scalar(at_))) {
      return false;
    }
    return reads_ends();
  }

  bool reads_ends() {
    while (!ends_.empty()) {
      if (takes(',')) return ends_.back() == ']' || reads_key();
      if (!takes(ends_.back())) return false;
      ends_.pop_back();
    }
    return true;
  }

  bool reads_key() {
    skip_space();
    if (at_ == raw_.size() || raw_[at_] != '"') return false;
    at_ = behind_json_string(raw_, at_);
    return at_ != std::string_view::npos && takes(':');
  }

  /// The closing brackets of the containers that are open. Nearly all values fit into a string
  /// without an allocation.
  std::string ends_;
};

/// JSON Schema gives no meaning to the order in these arrays.
void sort_sets_of_names(json& value) {
  const auto is_string = [](const json& element) { return element.is_string(); };
  if (value.is_object()) {
    for (auto& [key, member] : value.items()) {
      const bool may_be_set = (key == "required" || key == "type") && member.is_array();
      if (may_be_set && std::all_of(member.begin(), member.end(), is_string)) {
        std::sort(member.begin(), member.end());
      } else {
        sort_sets_of_names(member);
      }
    }
  } else if (value.is_array()) {
    for (json& element : value) sort_sets_of_names(element);
  }
}

/// Returns a discarded value if `raw` is not valid JSON or is nested too deeply.
json meaning_of(std::string_view raw) {
  if (is_nested_deeper(raw, limits::kNestingMax)) return json(json::value_t::discarded);
  json value = json::parse(raw.begin(), raw.end(), nullptr, false);
  sort_sets_of_names(value);
  return value;
}

}  // namespace

bool has_bad_escape(std::string_view text, std::size_t at) {
  constexpr std::string_view kSimple = "\"\\/bfnrt";
  for (; at != text.npos; at = text.find('\\', at)) {
    const char c = at + 1 < text.size() ? text[at + 1] : '\0';
    if (c == 'u') {
      for (std::size_t digit = at + 2; digit < at + 6; ++digit) {
        if (digit >= text.size() || hex_value(text[digit]) < 0) return true;
      }
      at += 6;
    } else if (kSimple.find(c) != kSimple.npos) {
      at += 2;
    } else {
      return true;
    }
  }
  return false;
}

bool is_json_number(std::string_view token) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t first = at;
    while (at < token.size() && is_ascii_digit(token[at])) ++at;
    return at - first;
  };
  if (at < token.size() && token[at] == '-') ++at;
  const bool leading_zero = at < token.size() && token[at] == '0';
  const std::size_t whole = digits();
  if (whole == 0 || (leading_zero && whole > 1)) return false;
  if (at < token.size() && token[at] == '.') {
    ++at;
    if (digits() == 0) return false;
  }
  if (at < token.size() && (token[at] == 'e' || token[at] == 'E')) {
    ++at;
    if (at < token.size() && (token[at] == '+' || token[at] == '-')) ++at;
    if (digits() == 0) return false;
  }
  return at == token.size();
}

bool is_json_scalar(std::string_view token) {
  return is_json_number(token) || token == "true" || token == "false" || token == "null";
}

std::size_t behind_json_string(std::string_view raw, std::size_t at) {
  const std::size_t begin = at + 1;
  while ((at = raw.find('"', at + 1)) != raw.npos) {
    // An odd number of backslashes before a character escapes it.
    std::size_t unescaped = at;
    while (unescaped > begin && raw[unescaped - 1] == '\\') --unescaped;
    if ((at - unescaped) % 2 == 0) return at + 1;
  }
  return raw.npos;
}

bool has_json_grammar(std::string_view raw) { return Grammar(raw).is_value(); }

std::string as_wire_line(std::string text) {
  // std::string::find is memchr, so the usual text costs next to nothing.
  if (text.find('\n') != text.npos || text.find('\r') != text.npos) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  }
  return text;
}

std::vector<std::string_view> json_elements(std::string_view raw, std::size_t count_max) {
  std::vector<std::string_view> elements;
  Walker walker(raw);
  if (!walker.takes('[')) return elements;
  do {
    const std::string_view element = walker.value();
    if (element.empty()) break;
    elements.push_back(element);
  } while (elements.size() < count_max && walker.takes(','));
  return elements;
}

std::vector<JsonMember> json_members(std::string_view raw) {
  std::vector<JsonMember> members;
  for (RawMembers each(raw); each.next();) {
    auto key = json_decoded(each.key());
    if (!key) break;
    members.push_back({std::move(*key), each.value()});
  }
  return members;
}

bool RawMembers::next() {
  Walker walker(raw_, at_);
  if (!walker.takes(at_ == 0 ? '{' : ',')) return false;
  key_ = walker.value();
  if (!key_.starts_with('"') || !walker.takes(':')) return false;
  value_ = walker.value();
  at_ = walker.at();
  return !value_.empty();
}

bool is_json_string(std::string_view raw, std::string_view text) {
  if (raw.find('\\') != raw.npos) return json_decoded(raw) == text;
  return raw.size() == text.size() + 2 && raw.substr(1, text.size()) == text;
}

std::optional<std::string> json_decoded(std::string_view raw) {
  if (raw.size() < 2 || raw.front() != '"') return std::nullopt;
  const json value = json::parse(raw.begin(), raw.end(), nullptr, false);
  if (!value.is_string()) return std::nullopt;
  return value.get<std::string>();
}

bool is_nested_deeper(std::string_view raw, std::size_t depth_max) {
  std::size_t depth = 0;
  std::size_t at = 0;
  while (at < raw.size()) {
    const char c = raw[at];
    if (c == '"') {
      at = behind_json_string(raw, at);
      continue;
    }
    if (c == '{' || c == '[') {
      if (++depth > depth_max) return true;
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    }
    ++at;
  }
  return false;
}

bool json_same(std::string_view left, std::string_view right) {
  if (left == right) return true;
  const json meaning = meaning_of(left);
  return !meaning.is_discarded() && meaning == meaning_of(right);
}

}  // namespace sitter
