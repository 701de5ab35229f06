#include "core/http/html_text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/http/ascii.hpp"

namespace sitter {
namespace {

struct NamedEntity {
  std::string_view name;
  std::string_view text;
};

/// The entities that error pages use.
constexpr NamedEntity kEntities[] = {
    {"amp", "&"},    {"lt", "<"},    {"gt", ">"},    {"quot", "\""},  {"apos", "'"},
    {"nbsp", " "},   {"copy", "©"},  {"reg", "®"},   {"mdash", "—"},  {"ndash", "–"},
    {"hellip", "…"}, {"lsquo", "‘"}, {"rsquo", "’"}, {"ldquo", "“"},  {"rdquo", "”"},
    {"laquo", "«"},  {"raquo", "»"}, {"bull", "•"},  {"middot", "·"}, {"rarr", "→"},
};

/// Tags that may stand within a word.
constexpr std::string_view kInline[] = {"a",    "abbr", "b",    "big",  "code", "em",     "font",
                                        "i",    "kbd",  "mark", "samp", "s",    "strong", "small",
                                        "span", "sub",  "sup",  "tt",   "u",    "var"};

/// The longest text between & and ; that is looked at.
constexpr std::size_t kEntityMax = 10;

std::string utf8(std::uint64_t c) {
  const auto byte = [](std::uint64_t value) { return static_cast<char>(value); };
  const auto tail = [&](int shift) { return byte(0x80 | ((c >> shift) & 0x3F)); };
  if (c < 0x80) return {byte(c)};
  if (c < 0x800) return {byte(0xC0 | (c >> 6)), tail(0)};
  if (c < 0x10000) return {byte(0xE0 | (c >> 12)), tail(6), tail(0)};
  return {byte(0xF0 | (c >> 18)), tail(12), tail(6), tail(0)};
}

std::optional<std::uint64_t> hex_number(std::string_view text) {
  std::uint64_t number = 0;
  for (const char c : text) {
    if (hex_value(c) < 0) return std::nullopt;
    number = 16 * number + static_cast<std::uint64_t>(hex_value(c));
  }
  if (text.empty()) return std::nullopt;
  return number;
}

/// What the text between & and ; stands for. Nothing if it is no entity.
std::optional<std::string> decoded(std::string_view entity) {
  if (entity.starts_with('#')) {
    const bool is_hex = starts_with_ignoring_case(entity, "#x");
    const auto c = is_hex ? hex_number(entity.substr(2)) : decimal_number(entity.substr(1));
    const bool is_character = c && *c != 0 && *c <= 0x10FFFF && (*c < 0xD800 || *c > 0xDFFF);
    return is_character ? std::optional(utf8(*c)) : std::nullopt;
  }
  for (const auto& [name, text] : kEntities) {
    if (name == entity) return std::string(text);
  }
  return std::nullopt;
}

class Page {
 public:
  explicit Page(std::string_view html) : html_(html) {}

  HtmlText read() {
    while (!html_.empty()) {
      const std::size_t plain = std::min(html_.find_first_of("<&"), html_.size());
      out().append(html_.substr(0, plain));
      html_.remove_prefix(plain);
      if (html_.starts_with('&')) {
        read_entity();
      } else if (html_.starts_with('<')) {
        read_tag();
      }
    }
    return read_;
  }

 private:
  std::string& out() { return in_title_ ? read_.title : read_.text; }

  void take_as_text(std::size_t count) {
    out().append(html_.substr(0, count));
    html_.remove_prefix(count);
  }

  void read_entity() {
    const std::size_t end = html_.substr(0, kEntityMax + 2).find(';');
    const auto text = end == html_.npos ? std::nullopt : decoded(html_.substr(1, end - 1));
    if (!text) return take_as_text(1);
    out().append(*text);
    html_.remove_prefix(end + 1);
  }

  void read_tag() {
    if (html_.starts_with("<!--")) return skip_behind("-->");
    if (html_.starts_with("<!") || html_.starts_with("<?")) return skip_behind(">");
    const bool is_end = html_.starts_with("</");
    const std::string_view rest = html_.substr(is_end ? 2 : 1);
    if (rest.empty() || !is_ascii_letter(rest.front())) return take_as_text(1);
    const std::string name = ascii_lower(rest.substr(0, rest.find_first_of(" \t\r\n\f/>")));
    skip_tag();
    on_tag(name, is_end);
  }

  void on_tag(const std::string& name, bool is_end) {
    const bool is_inline =
        std::find(std::begin(kInline), std::end(kInline), name) != std::end(kInline);
    if (!is_inline) out() += ' ';
    // Later titles are those of pictures.
    if (name == "title") in_title_ = !is_end && read_.title.empty();
    if (!is_end && (name == "script" || name == "style")) skip_until("</" + name);
  }

  /// Skips a tag to its end, which is not a > in quotes.
  void skip_tag() {
    std::size_t at = html_.find_first_of(">\"'");
    while (at != html_.npos && html_[at] != '>') {
      at = html_.find(html_[at], at + 1);
      if (at != html_.npos) at = html_.find_first_of(">\"'", at + 1);
    }
    html_.remove_prefix(std::min(at, html_.size() - 1) + 1);
  }

  void skip_behind(std::string_view end) {
    const std::size_t at = html_.find(end);
    html_.remove_prefix(at == html_.npos ? html_.size() : at + end.size());
  }

  void skip_until(std::string_view lower) {
    html_.remove_prefix(std::min(find_ignoring_case(html_, lower), html_.size()));
  }

  std::string_view html_;
  bool in_title_ = false;
  HtmlText read_;
};

}  // namespace

HtmlText html_text(std::string_view html) { return Page(html).read(); }

}  // namespace sitter
