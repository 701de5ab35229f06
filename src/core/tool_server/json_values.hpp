#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace sitter {

// Values as JSON Schema compares them.

/// Whether the value is of a type, as in "integer", which 1.0 is too. True for unknown types.
bool has_type(const nlohmann::json& value, std::string_view type);

/// JSON equality: the order of members and the spelling of numbers do not count.
bool is_same(const nlohmann::json& left, const nlohmann::json& right);

/// A text that is the same for all values that are the same, but for numbers within them.
std::string canonical(const nlohmann::json& value);

/// True if `of` is not positive.
bool is_multiple(double value, double of);

}  // namespace sitter
