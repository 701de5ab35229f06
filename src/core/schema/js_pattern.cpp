#include "core/schema/js_pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/base/ascii.hpp"

namespace sitter {
namespace {

constexpr std::string_view kSyntaxCharacters = "^$\\.*+?()[]{}|";
constexpr std::string_view kClassEscapes = "dDsSwW";

bool is_one_of(char c, std::string_view set) { return set.find(c) != set.npos; }

/// Reads a pattern from left to right. The groups are only counted: no recursion is needed.
class PatternReader {
 public:
  explicit PatternReader(std::string_view pattern) : rest_(pattern) {}

  std::string defect() {
    while (defect_.empty() && !rest_.empty()) term();
    if (defect_.empty() && !groups_.empty()) fail("has a group that does not end");
    if (defect_.empty() && highest_reference_ > group_count_) {
      fail(fmt::format("refers to group {}, which it does not have", highest_reference_));
    }
    for (const std::string_view name : named_references_) {
      // With escapes, a name may be spelled in several ways.
      if (has_escaped_names_ || name.find('\\') != name.npos) break;
      if (std::find(names_.begin(), names_.end(), name) == names_.end()) {
        fail(fmt::format("refers to a group {}, which it does not have", name));
      }
    }
    return std::move(defect_);
  }

 private:
  enum class Group { other, lookahead };

  void fail(std::string what) {
    if (defect_.empty()) defect_ = std::move(what);
  }

  bool take(std::string_view token) {
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  /// What stands before `end`; takes both.
  std::string_view take_until(char end) {
    const std::size_t size = rest_.find(end);
    if (size == rest_.npos) return {};
    const std::string_view found = rest_.substr(0, size);
    rest_.remove_prefix(size + 1);
    return found;
  }

  void term() {
    if (take("|") || take("^") || take("$") || take("\\b") || take("\\B")) return;
    if (rest_.front() == '(') return begin_group();
    if (take(")")) {
      if (groups_.empty()) return fail("has a ) too many");
      const Group group = groups_.back();
      groups_.pop_back();
      // Nothing may be repeated of what has no width.
      if (group == Group::other) quantifier();
      return;
    }
    if (take("[")) {
      character_class();
    } else if (take("\\")) {
      escape(false);
    } else if (is_one_of(rest_.front(), "*+?{")) {
      return fail(fmt::format("has a {} without anything before it", rest_.front()));
    } else if (is_one_of(rest_.front(), "]}")) {
      return fail(fmt::format("has a {0} that must be written as \\{0}", rest_.front()));
    } else {
      rest_.remove_prefix(1);
      // The other bytes of a character.
      while (!rest_.empty() && (static_cast<unsigned char>(rest_.front()) & 0xC0) == 0x80) {
        rest_.remove_prefix(1);
      }
    }
    quantifier();
  }

  void begin_group() {
    if (take("(?=") || take("(?!") || take("(?<=") || take("(?<!")) {
      groups_.push_back(Group::lookahead);
      return;
    }
    groups_.push_back(Group::other);
    if (take("(?:")) return;
    if (take("(?<")) {
      const std::string_view name = take_until('>');
      const bool is_name = !name.empty() && !is_ascii_digit(name.front()) &&
                           std::none_of(name.begin(), name.end(), [](char c) {
                             return static_cast<unsigned char>(c) < 0x80 && !is_ascii_letter(c) &&
                                    !is_ascii_digit(c) && c != '_' && c != '$' && c != '\\';
                           });
      if (!is_name) return fail("has a group without a valid name");
      if (std::find(names_.begin(), names_.end(), name) != names_.end()) {
        return fail(fmt::format("has two groups with the name {}", name));
      }
      has_escaped_names_ = has_escaped_names_ || name.find('\\') != name.npos;
      names_.push_back(name);
      ++group_count_;
      return;
    }
    if (take("(?")) {
      // (?i:...) is known to newer engines.
      const std::size_t end = rest_.find_first_not_of("ims-");
      if (end != rest_.npos && end > 0 && rest_[end] == ':') return rest_.remove_prefix(end + 1);
      return fail(fmt::format("has a group that begins with (?{}, which JavaScript does not know",
                              rest_.substr(0, 1)));
    }
    take("(");
    ++group_count_;
  }

  void quantifier() {
    if (rest_.empty()) return;
    if (take("{")) {
      const std::string_view range = take_until('}');
      const std::size_t comma = range.find(',');
      const auto least = number(range.substr(0, comma));
      const std::string_view upper = comma == range.npos ? "" : range.substr(comma + 1);
      const auto most = upper.empty() ? least : number(upper);
      if (least < 0 || most < 0) return fail("has a { that begins no {n,m}");
      if (most < least) return fail(fmt::format("repeats {{{}}}, which is out of order", range));
    } else if (!take("*") && !take("+") && !take("?")) {
      return;
    }
    take("?");
  }

  /// -1 if the text is no number. A number that is too large counts as the largest.
  static std::int64_t number(std::string_view text) {
    if (text.empty() || !std::all_of(text.begin(), text.end(), is_ascii_digit)) return -1;
    std::int64_t value = std::numeric_limits<std::int64_t>::max();
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }

  struct Escaped {
    /// It stands for several characters.
    bool is_set = false;
    std::uint32_t character = 0;
  };

  /// Behind a backslash.
  Escaped escape(bool is_in_class) {
    if (rest_.empty()) {
      fail("ends with a backslash");
      return {};
    }
    const char c = rest_.front();
    rest_.remove_prefix(1);
    if (is_one_of(c, kClassEscapes)) return {true, 0};
    if (c == 'p' || c == 'P') {
      if (!take("{") || take_until('}').empty()) fail(fmt::format("has a \\{} without {{}}", c));
      return {true, 0};
    }
    constexpr std::string_view kControls = "tnvfr";
    if (is_one_of(c, kControls)) return {false, static_cast<std::uint32_t>(9 + kControls.find(c))};
    if (c == 'c' && !rest_.empty() && is_ascii_letter(rest_.front())) {
      const auto character = static_cast<std::uint32_t>(rest_.front()) % 32;
      rest_.remove_prefix(1);
      return {false, character};
    }
    if (c == '0' && (rest_.empty() || !is_ascii_digit(rest_.front()))) return {};
    if (c == 'x') return hex(2, c);
    if (c == 'u' && take("{")) return code_point(take_until('}'), c);
    if (c == 'u') return hex(4, c);
    if (is_in_class && c == 'b') return {false, 8};
    if (is_one_of(c, kSyntaxCharacters) || c == '/' || (is_in_class && c == '-')) {
      return {false, static_cast<std::uint32_t>(c)};
    }
    if (!is_in_class && c >= '1' && c <= '9') {
      std::string digits(1, c);
      while (!rest_.empty() && is_ascii_digit(rest_.front())) {
        digits += rest_.front();
        rest_.remove_prefix(1);
      }
      highest_reference_ = std::max(highest_reference_, number(digits));
      return {};
    }
    if (!is_in_class && c == 'k' && take("<")) {
      named_references_.push_back(take_until('>'));
      return {};
    }
    fail(fmt::format("has the escape \\{}, which JavaScript does not know", c));
    return {};
  }

  Escaped hex(std::size_t digits, char kind) {
    const std::string_view text = rest_.substr(0, digits);
    rest_.remove_prefix(text.size());
    if (text.size() == digits) return with_low_surrogate(code_point(text, kind));
    fail(fmt::format("has a \\{} without a number", kind));
    return {};
  }

  /// Two escapes of one character beyond 16 bits count as that character.
  Escaped with_low_surrogate(Escaped high) {
    if (high.character < 0xD800 || high.character > 0xDBFF || !rest_.starts_with("\\u"))
      return high;
    std::uint32_t low = 0;
    const std::string_view text = rest_.substr(2, 4);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), low, 16);
    const bool is_number = error == std::errc() && text.size() == 4 && end == text.data() + 4;
    if (!is_number || low < 0xDC00 || low > 0xDFFF) return high;
    rest_.remove_prefix(6);
    return {false, 0x10000 + ((high.character - 0xD800) << 10) + (low - 0xDC00)};
  }

  Escaped code_point(std::string_view text, char kind) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    const bool is_whole = !text.empty() && end == text.data() + text.size();
    if (!is_whole || error != std::errc() || value > 0x10FFFF) {
      fail(fmt::format("has a \\{} without a number", kind));
    }
    return {false, value};
  }

  Escaped class_atom() {
    if (take("\\")) return escape(true);
    const auto lead = static_cast<unsigned char>(rest_.front());
    const std::size_t size = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    std::uint32_t character = size == 1 ? lead : lead & (0xFFU >> (size + 1));
    for (const char c : rest_.substr(1, size - 1)) {
      character = character << 6 | (static_cast<unsigned char>(c) & 0x3FU);
    }
    rest_.remove_prefix(std::min(size, rest_.size()));
    return {false, character};
  }

  void character_class() {
    take("^");
    while (defect_.empty() && !take("]")) {
      if (rest_.empty()) return fail("has a [ that does not end");
      const Escaped first = class_atom();
      if (rest_.size() < 2 || rest_.front() != '-' || rest_[1] == ']') continue;
      rest_.remove_prefix(1);
      const Escaped last = class_atom();
      if (first.is_set || last.is_set) {
        fail("has a range in [] that begins or ends with a class like \\w");
      } else if (first.character > last.character) {
        fail("has a range in [] that is out of order");
      }
    }
  }

  std::string_view rest_;
  std::string defect_;
  std::vector<Group> groups_;
  std::vector<std::string_view> names_;
  std::vector<std::string_view> named_references_;
  bool has_escaped_names_ = false;
  std::int64_t group_count_ = 0;
  std::int64_t highest_reference_ = 0;
};

}  // namespace

std::string js_pattern_defect(std::string_view pattern) { return PatternReader(pattern).defect(); }

}  // namespace sitter
