#include "core/schema/schema_format.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "core/base/ascii.hpp"
#include "core/base/line_pattern.hpp"

namespace sitter {
namespace {

/// As `atob` of browsers and Node.js reads it: white space may stand anywhere, and the padding may
/// be missing.
bool is_base64(std::string_view text) {
  std::size_t digits = 0;
  std::size_t pads = 0;
  for (const char c : text) {
    if (c == ' ' || (c >= '\t' && c <= '\r' && c != '\v')) continue;
    if (c == '=') {
      ++pads;
    } else if (pads > 0 || !(is_ascii_letter(c) || is_ascii_digit(c) || c == '+' || c == '/')) {
      return false;
    } else {
      ++digits;
    }
  }
  return digits % 4 != 1 && (pads == 0 || (pads <= 2 && (digits + pads) % 4 == 0));
}

struct Format {
  std::string_view name;
  LinePattern pattern;
};

std::vector<Format> made_formats() {
  const std::string date = R"(^\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|)"
                           R"((?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|[12]\d)))";
  const std::string hour = R"((?:[01]\d|2[0-3]))";
  const std::string time =
      hour + R"(:[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-])" + hour + R"((?::?[0-5]\d)?)$)";
  const std::string label = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?";
  const std::string octet = R"((?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d))";
  const std::string iso_time =
      hour + R"(:[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?:Z|[+-])" + hour + R"(:[0-5]\d)$)";
  std::vector<Format> made;
  const auto add = [&](std::string_view name, const std::string& pattern) {
    made.push_back({name, LinePattern(pattern)});
  };
  add("date", date + "$");
  add("time", "^" + time);
  add("date-time", date + R"([Tt\s])" + time);
  add("iso-date-time", date + "T" + iso_time);
  add("email", R"(^[^\s@]+@)" + label + R"((?:\.)" + label + ")+$");
  add("ipv4", "^(?:" + octet + R"(\.){3})" + octet + "$");
  add("uri", R"(^[A-Za-z][A-Za-z0-9+.-]*:[^\s<>"{}|\\^`]*$)");
  add("uuid", "(?i)^(?:urn:uuid:)?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$");
  return made;
}

}  // namespace

bool has_format(std::string_view text, std::string_view format) {
  if (format == "byte") return is_base64(text);
  static const std::vector<Format> all = made_formats();
  const auto known =
      std::find_if(all.begin(), all.end(), [&](const Format& one) { return one.name == format; });
  return known == all.end() || known->pattern.matches(text);
}

}  // namespace sitter
