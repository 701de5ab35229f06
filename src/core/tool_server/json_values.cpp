#include "core/tool_server/json_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace sitter {
namespace {

using Json = nlohmann::json;

bool is_integer(const Json& value) {
  if (value.is_number_integer()) return true;
  return value.is_number_float() && value.get<double>() == std::floor(value.get<double>());
}

}  // namespace

bool has_type(const Json& value, std::string_view type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  if (type == "number") return value.is_number();
  if (type == "integer") return is_integer(value);
  return true;
}

bool is_same(const Json& left, const Json& right) {
  if (left.is_number() && right.is_number()) return left == right;
  if (left.type() != right.type() || left.size() != right.size()) return false;
  if (left.is_array()) return std::equal(left.begin(), left.end(), right.begin(), is_same);
  if (!left.is_object()) return left == right;
  return std::all_of(left.items().begin(), left.items().end(), [&](const auto& item) {
    const auto found = right.find(item.key());
    return found != right.end() && is_same(item.value(), *found);
  });
}

std::string canonical(const Json& value) {
  const bool is_whole = value.is_number_float() && is_integer(value);
  return is_whole ? fmt::format("{:.0f}", value.get<double>())
                  : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool is_multiple(double value, double of) {
  if (of <= 0) return true;
  const double quotient = value / of;
  // 0.0075 is a multiple of 0.0001, which no division of doubles shows.
  return std::isinf(quotient) ||
         std::abs(quotient - std::round(quotient)) < 1e-9 * std::max(1.0, std::abs(quotient));
}

}  // namespace sitter
