#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "sitter/time.hpp"

namespace sitter {

/// A date of HTTP has whole seconds, and a year up to 9999, which `WallTime` cannot express.
using HttpDate = std::chrono::sys_seconds;

/// Reads a date in one of its three forms (RFC 9110, 5.6.7). The oldest form has a year of two
/// digits, which is at most 50 years after `now`. The name of the day is not checked.
std::optional<HttpDate> http_date(std::string_view text, WallTime now);

}  // namespace sitter
