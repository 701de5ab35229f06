#include "core/base/html_character.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <system_error>

#include "core/base/ascii.hpp"
#include "core/base/json_text.hpp"

namespace sitter {
namespace {

struct Name {
  std::string_view lower;
  char character;
};
constexpr Name kNames[] = {{"&amp;", '&'},  {"&lt;", '<'},    {"&gt;", '>'},
                           {"&quot;", '"'}, {"&apos;", '\''}, {"&nbsp;", ' '}};

/// The longest reference by number: `&#x00ffff;`.
constexpr std::size_t kNumberSizeMax = 10;

}  // namespace

std::optional<HtmlCharacter> html_character(std::string_view html) {
  if (!html.starts_with('&')) return std::nullopt;
  for (const Name& name : kNames) {
    if (starts_with_ignoring_case(html, name.lower)) {
      return HtmlCharacter{std::string(1, name.character), name.lower.size()};
    }
  }
  const std::size_t end = html.substr(0, kNumberSizeMax).find(';');
  if (end == html.npos || !html.starts_with("&#")) return std::nullopt;
  std::string_view digits = html.substr(2, end - 2);
  const bool is_hex = digits.starts_with('x') || digits.starts_with('X');
  if (is_hex) digits.remove_prefix(1);
  std::uint16_t code = 0;
  const char* const last = digits.data() + digits.size();
  const auto [read, error] = std::from_chars(digits.data(), last, code, is_hex ? 16 : 10);
  if (error != std::errc() || read != last) return std::nullopt;
  auto text = json_decoded(fmt::format("\"\\u{:04x}\"", code));
  if (!text) return std::nullopt;
  return HtmlCharacter{*std::move(text), end + 1};
}

}  // namespace sitter
