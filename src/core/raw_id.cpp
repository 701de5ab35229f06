#include "sitter/core/raw_id.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "sitter/core/json_text.hpp"

namespace sitter {

namespace {

/// From here on a double can't tell all integers apart: 2^53.
constexpr double kExactEnd = 9007199254740992.0;

double double_of(std::string_view raw_number) {
  return std::strtod(std::string(raw_number).c_str(), nullptr);
}

}  // namespace

bool is_plain_id(std::string_view raw_id) {
  if (raw_id.empty()) return true;
  if (raw_id.front() == '"') return raw_id.find('\\') == raw_id.npos;
  const std::string_view digits = raw_id.front() == '-' ? raw_id.substr(1) : raw_id;
  return std::all_of(digits.begin(), digits.end(), is_json_digit) && raw_id != "-0";
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

bool same_id(std::string_view a, std::string_view b) { return a == b || id_key(a) == id_key(b); }

}  // namespace sitter
