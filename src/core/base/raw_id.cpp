#include "core/base/raw_id.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "core/base/ascii.hpp"
#include "core/base/json_text.hpp"

namespace sitter {

namespace {

/// 2^53: from here on, a double can't hold every integer.
constexpr double kExactEnd = 9007199254740992.0;

/// The number of digits of 2^53.
constexpr std::size_t kExactEndDigits = 16;

/// The digits of the number before its exponent, without the zeros at the end.
std::string digits_of(std::string_view number) {
  std::string digits;
  for (const char c : number.substr(0, number.find('e'))) {
    if (is_ascii_digit(c)) digits += c;
  }
  digits.erase(digits.find_last_not_of('0') + 1);
  return digits;
}

double double_of(std::string_view raw_number) {
  return std::strtod(std::string(raw_number).c_str(), nullptr);
}

}  // namespace

bool is_plain_id(std::string_view raw_id) {
  if (raw_id.empty()) return true;
  if (raw_id.front() == '"') return raw_id.find('\\') == raw_id.npos;
  const std::string_view digits = raw_id.front() == '-' ? raw_id.substr(1) : raw_id;
  return std::all_of(digits.begin(), digits.end(), is_ascii_digit) && raw_id != "-0";
}

std::string id_key(std::string_view raw_id) {
  if (is_plain_id(raw_id)) return std::string(raw_id);
  if (raw_id.front() == '"') {
    const auto text = json_decoded(raw_id);
    return text ? fmt::format("\"{}\"", *text) : std::string(raw_id);
  }
  if (!is_json_number(raw_id)) return std::string(raw_id);
  const double number = double_of(raw_id);
  if (number == std::trunc(number) && std::abs(number) < 1e15) {
    return fmt::format("{}", static_cast<std::int64_t>(number));
  }
  return fmt::format("{:.17g}", number);
}

std::optional<double> rounded_id(std::string_view raw_id) {
  if (!is_json_number(raw_id)) return std::nullopt;
  const double number = double_of(raw_id);
  return std::abs(number) < kExactEnd ? std::nullopt : std::optional(number);
}

std::optional<double> printed_double(std::string_view raw_id) {
  const auto number = rounded_id(raw_id);
  if (!number || raw_id.find_first_of(".eE") != raw_id.npos) return number;
  const bool is_print = fmt::format("{:.0f}", *number) == raw_id ||
                        digits_of(raw_id) == digits_of(fmt::format("{}", *number));
  return is_print ? number : std::nullopt;
}

bool shows_every_digit(std::string_view raw_id) {
  return raw_id.size() >= kExactEndDigits && rounded_id(raw_id) && !printed_double(raw_id);
}

bool fits_64_bits(std::string_view raw_id) {
  const auto number = rounded_id(raw_id);
  return !number || std::abs(*number) < 0x1p64;
}

bool same_id(std::string_view a, std::string_view b) { return a == b || id_key(a) == id_key(b); }

}  // namespace sitter
