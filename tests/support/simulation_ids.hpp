#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/base/raw_id.hpp"

/// Ids that are so large that a double cannot tell them from their neighbours.
namespace sitter::sim {

/// The first big ids follow this number, which is just below 2^53. Up to 2^53 a double can tell
/// each integer from its neighbours.
inline constexpr std::int64_t kBigIds = 9007199254740990;

inline bool is_big(std::string_view raw_id) {
  return raw_id.find_first_not_of("0123456789.e+") == raw_id.npos &&
         std::strtod(std::string(raw_id).c_str(), nullptr) >= 0x1p53;
}

/// The id as it is written by a server that keeps numbers as doubles.
inline std::string rounded(const std::string& raw_id, bool has_exponent) {
  if (!is_big(raw_id)) return raw_id;
  const double number = std::strtod(raw_id.c_str(), nullptr);
  return has_exponent ? fmt::format("{:.16e}", number) : fmt::format("{:.0f}", number);
}

/// A key that is equal for all ids that such a server cannot tell apart.
inline std::string rounded_key(std::string_view raw_id) {
  const std::string key = id_key(raw_id);
  return rounded(key, false);
}

}  // namespace sitter::sim
