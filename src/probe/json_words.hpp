#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace sitter {

// Members of JSON from outside, which may have any shape.

/// Null if there is no such member.
nlohmann::ordered_json member(const nlohmann::ordered_json& json, std::string_view key);

/// Empty if there is no such text.
std::string text_in(const nlohmann::ordered_json& json, std::string_view key);

/// 0 if there is no such whole number.
std::int64_t number_in(const nlohmann::ordered_json& json, std::string_view key);

bool is_true(const nlohmann::ordered_json& json, std::string_view key);

}  // namespace sitter
